// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListClient

/// Compatibility tests for implementations of the client's protocols.
public enum ProtocolCompatibility {
    /// Checks a store.
    ///
    /// - Parameter make: Opens the store: the same one each time, empty at first.
    /// - Throws: ``IncompatibilityError``, or what the store throws.
    public static func check(_ make: () -> any StateStore) throws {
        let files: [StateFile] = [.root(2), .root(3), .pins, .state, .installationID, .reports, .pinsNamingLogs]
        let store = make()
        for file in files {
            try IncompatibilityError.unless(store.read(file, maximumBytes: 100) == .absent, "\(file) exists at first")
        }
        for (index, file) in files.enumerated() { try store.write([UInt8(index), 0, 255], to: file) }
        for (index, file) in files.enumerated() {
            let again = make().read(file, maximumBytes: 3)
            try IncompatibilityError.unless(again == .bytes([UInt8(index), 0, 255]), "\(file) is not what was written")
        }
        guard case .damaged = store.read(.pins, maximumBytes: 2) else {
            throw IncompatibilityError("a file over the limit is read")
        }
        try store.write([], to: .pins)
        try IncompatibilityError.unless(
            make().read(.pins, maximumBytes: 0) == .bytes([]), "an empty file counts as missing")
        try store.write([UInt8](repeating: 7, count: 1_000_000), to: .pins)
        try store.write([1], to: .pins)
        try IncompatibilityError.unless(
            make().read(.pins, maximumBytes: 10) == .bytes([1]), "a file is not replaced whole")
        try self.checkLogs(of: make)
        try self.checkLock(of: store)
    }

    private static func checkLogs(of make: () -> any StateStore) throws {
        let digests = ["0", "a"].map { String(repeating: $0, count: 64) }
        for digest in digests { try make().write([1], to: .logs(digest)) }
        try IncompatibilityError.unless(
            make().logDigests().sorted() == digests, "the log lists are not those that were written")
        try make().remove(.logs(digests[0]))
        try make().remove(.logs(digests[0]))
        try IncompatibilityError.unless(
            make().logDigests() == [digests[1]] && make().read(.logs(digests[0]), maximumBytes: 1) == .absent,
            "a removed file still exists, or another one is missing")
        try make().remove(.logs(digests[1]))
    }

    private static func checkLock(of store: any StateStore) throws {
        var runs = 0
        for _ in 0..<2 {
            try store.withLock { () throws(StateStoreError) in
                runs += 1
                try store.write([UInt8(clamping: runs)], to: .state)
            }
        }
        try IncompatibilityError.unless(runs == 2, "the lock does not run its closure exactly once")
        let failure = StateStoreError("from within")
        do {
            try store.withLock { () throws(StateStoreError) in throw failure }
            throw IncompatibilityError("an error under the lock is not thrown")
        } catch let error as StateStoreError {
            try IncompatibilityError.unless(error == failure, "under the lock another error is thrown: \(error)")
        }
        try store.withLock { () throws(StateStoreError) in runs += 1 }
        try IncompatibilityError.unless(runs == 3, "after a failure the lock is still held")
    }

    /// Checks a clock, for as long as it takes to sleep a millisecond.
    ///
    /// - Throws: ``IncompatibilityError``, or what the clock throws.
    public static func check(_ clock: some PinningClock) async throws {
        try await clock.sleep(seconds: 0)
        try await clock.sleep(seconds: 0.001)
        try await clock.sleep(seconds: -1)
        let sleeper = Task { try await clock.sleep(seconds: 86_400) }
        sleeper.cancel()
        if case .success = await sleeper.result {
            throw IncompatibilityError("a cancelled sleep ends as if it were over")
        }
    }

    /// Checks a source of random numbers: the numbers differ, in both halves of their bits.
    ///
    /// - Throws: ``IncompatibilityError``.
    public static func check(_ randomness: some PinningRandomness) throws(IncompatibilityError) {
        let numbers = (0..<64).map { _ in randomness.bits() }
        let changed = numbers.dropFirst().reduce(0) { $0 | ($1 ^ numbers[0]) }
        try IncompatibilityError.unless(changed == .max, "some bits are always the same")
    }

    /// Checks a fetcher against a server that answers
    ///
    /// * `/list` with 200 and the body `list`, and with 304 to `If-None-Match: "held"`;
    /// * `/missing` with 404, `/busy` with 503 and `Retry-After: 17`;
    /// * `/endless` with 200 and a body without end;
    /// * `/redirect/N` with 302 to `/redirect/N-1`, and `/redirect/0` with 302 to `/list`;
    /// * `/elsewhere` with 302 to `http` at a host that is not loopback.
    ///
    /// - Parameters:
    ///   - fetcher: The fetcher.
    ///   - base: The server's address, without a slash at its end.
    /// - Throws: ``IncompatibilityError``, or what the fetcher throws.
    public static func check(_ fetcher: some ListFetcher, against base: String) async throws {
        func answer(_ path: String, _ ifNoneMatch: String? = nil) async throws -> FetchResponse {
            try await fetcher.fetch(
                FetchRequest(address: "\(base)/\(path)", maximumBytes: 1_000, ifNoneMatch: ifNoneMatch))
        }
        let list = FetchResponse(status: 200, body: Array("list".utf8))
        try IncompatibilityError.unless(try await answer("list") == list, "a body is changed on the way")
        try IncompatibilityError.unless(try await answer("list", "\"held\"").status == 304, "If-None-Match is not sent")
        try IncompatibilityError.unless(try await answer("missing").status == 404, "404 is not returned as a response")
        let busy = try await answer("busy")
        try IncompatibilityError.unless(busy.status == 503 && busy.retryAfter == 17, "Retry-After is lost")
        try IncompatibilityError.unless(
            try await answer("redirect/2").body == list.body, "three redirects are not followed")
        for (path, code) in [
            ("endless", FetchError.Code.tooLarge), ("redirect/3", .redirect), ("elsewhere", .redirect),
        ] {
            do {
                let got = try await answer(path)
                throw IncompatibilityError("/\(path) is answered with \(got.status)")
            } catch let failure as FetchError {
                try IncompatibilityError.unless(
                    failure.code == code, "/\(path) fails as \(failure.code), not as \(code)")
            }
        }
    }
}

/// A violation of a protocol by an implementation, or a defect of an embedded file.
public struct IncompatibilityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The violation, in one sentence.
    public let description: String

    init(_ description: String) { self.description = description }

    /// Throws when a condition is not met.
    static func unless(_ holds: Bool, _ description: String) throws(IncompatibilityError) {
        guard holds else { throw IncompatibilityError(description) }
    }
}

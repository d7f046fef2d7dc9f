// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinFailureReports
internal import PinListMetadata

/// The stored state of refreshes: `state.json`. It holds nothing that is trusted.
struct RefreshState: Hashable, Sendable {
    /// The schema that this version writes.
    static let schema: Int64 = 1
    /// The maximum length of the file in bytes: it has some hundred, and is read before anything is trusted.
    static let maximumBytes = 65_536

    /// The time of the last successful refresh.
    var lastRefresh: Timestamp?
    /// The number of failures in a row since then.
    var backoff = Backoff()
    /// The pause after the newest failure, or before a current list is asked for again.
    var pause: Pause?
    /// The version of the first root after the one that was shipped then: earlier ones were never stored.
    var firstRoot: Int64?
    /// The version of the newest stored root, so that its deletion is noticed. It bounds nothing (formats.md, section 6).
    var storedRoot: Int64?
    /// The same of the stored list.
    var storedList: Int64?

    /// A pause between refreshes. It is stored with its beginning: a pause that begins later than now is from a
    /// clock that was ahead, and counts as absent (formats.md, section 6).
    struct Pause: Hashable, Sendable {
        /// The beginning.
        let from: Timestamp
        /// The length in seconds.
        let seconds: Int64

        /// The rest of the pause in seconds; 0 when it is over.
        func secondsLeft(at now: Timestamp) -> Int64 {
            guard self.from <= now else { return 0 }
            let (passed, isOver) = now.secondsSince1970.subtractingReportingOverflow(self.from.secondsSince1970)
            return isOver || passed >= self.seconds ? 0 : self.seconds - passed
        }
    }

    /// The reason why a file is not read.
    enum ParsingError: Error, Hashable {
        /// A newer version of this library wrote it.
        case newer
        /// The file does not have the expected form.
        case damaged
    }

    init() {}

    /// Reads the file.
    init(_ bytes: [UInt8]) throws(ParsingError) {
        // First, because nothing else is known of what a newer version writes.
        guard !Self.isNewer(bytes) else { throw .newer }
        guard let value = try? JSONValue(strict: bytes), case .object(let members) = value else { throw .damaged }
        var failedAt: Timestamp?
        var pause: Int64?
        for member in members {
            switch (member.name, member.value) {
            case ("schema", .integer(Self.schema)): continue
            case ("lastRefresh", .string(let text)):
                guard let time = try? Timestamp(text) else { throw .damaged }
                self.lastRefresh = time
            case ("failedAt", .string(let text)):
                guard let time = try? Timestamp(text) else { throw .damaged }
                failedAt = time
            case ("pause", .integer(let seconds)):
                guard (0...RetryAfter.maximum).contains(seconds) else { throw .damaged }
                pause = seconds
            case ("failures", .integer(let count)):
                guard (0...1_000_000).contains(count) else { throw .damaged }
                self.backoff.failures = Int(count)
            case ("firstRoot", .integer(let version)): self.firstRoot = version
            case ("root", .integer(let version)): self.storedRoot = version
            case ("list", .integer(let version)): self.storedList = version
            default: throw .damaged
            }
        }
        guard members.contains(where: { $0.name == "schema" }) else { throw .damaged }
        if let failedAt, let pause { self.pause = Pause(from: failedAt, seconds: pause) }
    }

    /// Whether a newer version of this library wrote a file, whatever else it has.
    static func isNewer(_ bytes: [UInt8]) -> Bool { ReportQueue.hasSchema(above: Self.schema, bytes) }

    /// The file.
    var bytes: [UInt8] {
        var members = [JSONValue.Member("schema", .integer(Self.schema))]
        if let lastRefresh { members.append(.init("lastRefresh", .string(lastRefresh.description))) }
        if self.backoff.failures > 0 { members.append(.init("failures", .integer(Int64(self.backoff.failures)))) }
        if let pause {
            members.append(.init("failedAt", .string(pause.from.description)))
            members.append(.init("pause", .integer(pause.seconds)))
        }
        if let firstRoot { members.append(.init("firstRoot", .integer(firstRoot))) }
        if let storedRoot { members.append(.init("root", .integer(storedRoot))) }
        if let storedList { members.append(.init("list", .integer(storedList))) }
        return JSONValue.object(members).bytes
    }

    /// The time until the next refresh in seconds; 0 when one is due. A clock that went back makes one due, and so does a
    /// superseded list: the refresh after which it was in force did not end.
    func wait(refreshInterval: Int64, isSuperseded: Bool = false, at now: Timestamp) -> Int64 {
        if let pause = self.pause { return pause.secondsLeft(at: now) }
        guard let lastRefresh = self.lastRefresh, !isSuperseded else { return 0 }
        return Pause(from: lastRefresh, seconds: refreshInterval).secondsLeft(at: now)
    }
}

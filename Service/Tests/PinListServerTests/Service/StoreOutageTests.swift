// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("A database that goes away is said once")
struct StoreOutageTests {
    /// Keeps what is logged.
    private struct Lines: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            self.lines.withLockedValue { $0.append("\(event.level): \(event.message)") }
        }
    }

    @Test("once when it goes, however many ask, and once when it is back; other failures are theirs to say")
    func onceWhenItGoesHoweverManyAskAndOnceWhenItIsBack() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in Lines(lines: lines) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let wrapped = WrappedStore(try SQLiteStore(path: folder.appendingPathComponent("service.sqlite").path))
        let store = StoreOutage(of: wrapped, logger: logger)
        func write() async -> Bool {
            do {
                try await store.write { _ in }
                return true
            } catch {
                logger.storeFailed("it could not be stored", error)
                return false
            }
        }
        for _ in 0..<2 {
            lines.withLockedValue { $0 = [] }
            wrapped.failure = StoreError(.unavailable, "the server is gone")
            for _ in 0..<5 { #expect(await !write()) }
            #expect(lines.withLockedValue { $0.count } == 1)
            #expect(lines.withLockedValue { $0[0].hasPrefix("error: the database is away: the server is gone") })
            wrapped.failure = nil
            for _ in 0..<5 { #expect(await write()) }
            #expect(lines.withLockedValue { $0.dropFirst() } == ["notice: the database is back"])
        }
        lines.withLockedValue { $0 = [] }
        wrapped.failure = StoreError(.full, "no room")
        #expect(await !write())
        #expect(lines.withLockedValue { $0 } == ["warning: it could not be stored: full: no room"])
        // A statement that takes too long is no database that is away.
        lines.withLockedValue { $0 = [] }
        wrapped.failure = StoreError(.timedOut, "slow")
        #expect(await !write())
        #expect(lines.withLockedValue { $0 } == ["warning: it could not be stored: timed-out: slow"])
    }

    @Test("an address that is in use, not ours, or not permitted: a sentence, and what to do")
    func addressThatIsInUseNotOursOrNotPermitted() throws {
        let address = ListenAddress.loopback
        for (code, words) in [
            (EADDRINUSE, "is in use"), (EADDRNOTAVAIL, "is not an address of this machine"), (EACCES, "may not listen"),
        ] {
            let error = try #require(ListenError(IOError(errnoCode: code, reason: "bind"), at: address))
            #expect(error.reason.contains("127.0.0.1:8480") && error.reason.contains(words))
            #expect(!error.hint.isEmpty)
        }
        #expect(ListenError(IOError(errnoCode: EIO, reason: "bind"), at: address) == nil)
        #expect(ListenError(CancellationError(), at: address) == nil)
    }
}

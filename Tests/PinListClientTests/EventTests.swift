// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Logging
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("Events")
struct EventTests {
    @Test("several observers each see everything; one that does not look delays no other")
    func severalObserversEachSeeEverythingOneThatDoesNotLookDelaysNoOther() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let first = pinning.events()
        let idle = pinning.events()
        let second = pinning.events()
        let count = 10
        for _ in 0..<count {
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        }
        for events in [first, second] {
            var seen = 0
            for await event in events where event.kind == .validationFailed {
                seen += 1
                if seen == count { break }
            }
            #expect(seen == count)
        }
        withExtendedLifetime(idle) {}
    }

    @Test("ten thousand events with an observer that does not look: it keeps the newest, bounded")
    func tenThousandEventsWithAnObserverThatDoesNotLookItKeepsTheNewestBounded() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let slow = pinning.events()
        for number in 0..<10_000 {
            pinning.send(PinningEvent(PinningEvent.Kind(code: "test"), at: TestClient.start, "\(number)"))
        }
        var details: [String] = []
        for await event in slow {
            details.append(event.detail)
            if event.detail == "9999" { break }
        }
        #expect(details.count == 128)
        #expect(details.first == "9872")
    }

    @Test("ten thousand refused connections hide no event of another kind from an observer that comes later")
    func tenThousandRefusedConnectionsHideNoEventOfAnotherKindFromAnObserverThatComesLater() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let damaged = PinningEvent(.stateDamaged, at: TestClient.start, "a stored file is damaged")
        pinning.send(damaged)
        for _ in 0..<10_000 { _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host) }
        #expect(await pinning.kinds().filter { $0 == .stateDamaged }.count == 1)
        #expect(await pinning.kinds().filter { $0 == .validationFailed }.count > 32)
    }

    /// A log in memory.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Log: LogHandler, @unchecked Sendable {
        private let lock = NSLock()
        private var written: [String] = []
        var lines: [String] { self.lock.withLock { self.written } }
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { nil }
            set {}
        }
        func log(event: LogEvent) {
            let kind = event.metadata?["event"].map { "\($0)" } ?? ""
            self.lock.withLock { self.written.append("\(event.level) \(kind)") }
        }
    }

    @Test("events go to the log that an app chose, and to none by default")
    func eventsGoToTheLogThatAnAppChoseAndToNoneByDefault() async throws {
        let log = Log()
        var client = try TestClient()
        #expect(client.configuration.logger == nil)
        client.configuration.logger = Logger(label: "test") { _ in log }
        let pinning = try client.launch()
        _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        try client.publish()
        _ = await pinning.refresh()
        #expect(log.lines == ["warning validation-failed", "info list-accepted"])
    }
}

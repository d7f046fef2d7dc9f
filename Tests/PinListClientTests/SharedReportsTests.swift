// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("Reports of an app and its extension, which share a folder")
struct SharedReportsTests {
    /// A client whose list names a collector, after its first refresh.
    private static func client(
        store: any StateStore, collector: SimulatedCollector, fraction: Double = 0
    ) async throws -> TestClient {
        var client = try TestClient(store: store, fraction: fraction)
        client.configuration.reportSender = collector
        try client.publish { $0.reportTo = ["https://reports.example.com/v1/reports"] }
        #expect(await (try client.launch()).refresh().isSuccess)
        return client
    }

    /// Has a client refuse a connection to a port.
    private static func fail(_ pinning: Pinning, port: Int) {
        _ = pinning.decision(
            for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(port: port))
    }

    /// Whether a stored queue has the report of a port.
    private static func has(_ bytes: [UInt8], port: Int) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains(#"\"port\":\#(port),"#)
    }

    private static func ports(_ collector: SimulatedCollector) throws -> [JSONValue?] {
        try collector.arrivals.map { arrival in
            guard case .object(let members) = try JSONValue(strict: arrival.body) else { return nil }
            return members.first { $0.name == "port" }?.value
        }
    }

    @Test("those of both are kept, whichever stores last")
    func thoseOfBothAreKeptWhicheverStoresLast() async throws {
        let store = WatchedStore()
        let collector = SimulatedCollector()
        let client = try await Self.client(store: store, collector: collector)
        collector.answer = FetchResponse(status: 503)
        let app = try client.launch(refreshing: false)
        let appExtension = try client.launch(refreshing: false)
        try await running(app) {
            try await running(appExtension) {
                Self.fail(app, port: 1_001)
                await store.untilWritten(.reports) { Self.has($0, port: 1_001) }
                Self.fail(appExtension, port: 1_002)
                await store.untilWritten(.reports) { Self.has($0, port: 1_002) }
            }
            Self.fail(app, port: 1_003)
            await store.untilWritten(.reports) { Self.has($0, port: 1_003) }
        }
        guard case .bytes(let bytes) = store.read(.reports, maximumBytes: ReportLimits.stateBytes) else {
            Issue.record("no report is stored")
            return
        }
        #expect([1_001, 1_002, 1_003].allSatisfy { Self.has(bytes, port: $0) })
        #expect(try ReportQueue(bytes).count == 3)
    }

    @Test("an attempt is held for at least as long as the transports try")
    func attemptIsHeldForAtLeastAsLongAsTheTransportsTry() {
        #expect(Double(ReportLimits.attempt) >= FetchRequest.totalSeconds)
    }

    @Test("what the app has sent its extension does not send again, though it read it while it waited")
    func whatTheAppHasSentItsExtensionDoesNotSendAgain() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(store: MemoryStore(), collector: collector, fraction: 0.5)
        let app = try client.launch(refreshing: false)
        var appExtension: Pinning?
        try await running(app) {
            Self.fail(app, port: 443)
            // The report is stored, and waits.
            while client.clock.waits != [30] { await Task.yield() }
            appExtension = try client.launch(refreshing: false)
            await collector.untilArrived(count: 1, turning: client.clock, by: 30)
        }
        let second = try #require(appExtension)
        try await running(second) {
            Self.fail(second, port: 8_443)
            while client.clock.waits != [30] { await Task.yield() }
            await collector.untilArrived(count: 2, turning: client.clock, by: 30)
        }
        #expect(try Self.ports(collector) == [.integer(443), .integer(8_443)])
    }

    @Test("an extension that has the same failure as the app does not report it again")
    func extensionThatHasTheSameFailureAsTheAppDoesNotReportItAgain() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(store: MemoryStore(), collector: collector)
        let app = try client.launch(refreshing: false)
        let appExtension = try client.launch(refreshing: false)
        try await running(app) {
            Self.fail(app, port: 443)
            await collector.untilArrived(count: 1)
        }
        try await running(appExtension) {
            Self.fail(appExtension, port: 443)
            Self.fail(appExtension, port: 8_443)
            await collector.untilArrived(count: 2)
        }
        #expect(try Self.ports(collector) == [.integer(443), .integer(8_443)])
    }

    @Test("a queue that cannot be read is not replaced: what is in it is there when it can be read again")
    func queueThatCannotBeReadIsNotReplaced() async throws {
        let disk = WatchedStore()
        let store = FaultyStore(disk)
        let collector = SimulatedCollector()
        let client = try await Self.client(store: store, collector: collector)
        collector.answer = FetchResponse(status: 503)
        let before = try client.launch(refreshing: false)
        // Begun before there was a report.
        let after = try client.launch(refreshing: false)
        try await running(before) {
            Self.fail(before, port: 1_001)
            await disk.untilWritten(.reports) { Self.has($0, port: 1_001) }
        }
        store.faults = [.reading]
        try await running(after) {
            let events = after.events()
            Self.fail(after, port: 1_002)
            for await event in events where event.kind == .storeFailed { break }
            store.faults = []
            Self.fail(after, port: 1_003)
            await disk.untilWritten(.reports) { bytes in
                [1_001, 1_002, 1_003].allSatisfy { Self.has(bytes, port: $0) }
            }
        }
    }
}

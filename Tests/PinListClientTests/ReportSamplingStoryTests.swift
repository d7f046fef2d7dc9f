// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("Installations report less, and later")
struct ReportSamplingStoryTests {
    private static let address = "https://reports.example.com/v1/reports"

    /// A client whose list lets some installations report, after its first refresh.
    private static func client(
        perMillion: Int64, store: MemoryStore = MemoryStore(), collector: SimulatedCollector, fraction: Double = 0,
        _ edit: (inout PinList) -> Void = { _ in }
    ) async throws -> TestClient {
        var client = try TestClient(store: store, fraction: fraction)
        client.configuration.reportSender = collector
        try client.publish { list in
            list.reportTo = [Self.address]
            list.reportPerMillion = perMillion
            edit(&list)
        }
        #expect(await (try client.launch()).refresh().isSuccess)
        return client
    }

    /// The frame of a certificate, with nothing in it but a key.
    private static let certificate: [UInt8] = {
        func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
            let bytes = contents.flatMap { $0 }
            return [tag, UInt8(bytes.count)] + bytes
        }
        let key = element(0x30, element(0x30), element(0x03, [0, 7]))
        let body = element(
            0x30, element(0x02, [1]), element(0x30), element(0x30), element(0x30), element(0x30), key)
        return element(0x30, body, element(0x30), element(0x03, [0]))
    }()

    private static func reason(_ body: [UInt8]) throws -> String? {
        guard case .object(let members) = try JSONValue(strict: body),
            case .object(let ours)? = members.first(where: { $0.name == "tumbler" })?.value,
            case .string(let reason)? = ours.first(where: { $0.name == "reason" })?.value
        else { return nil }
        return reason
    }

    @Test(
        "an installation that is not among those of today reports no mismatch, and every denied key and list incident")
    func installationThatIsNotAmongThoseOfTodayReportsNoMismatch() async throws {
        let collector = SimulatedCollector()
        let path = ValidatedPath(uncheckedValidatedPath: [Self.certificate])
        let key = try #require(path.publicKeyPins[0])
        let client = try await Self.client(perMillion: 1, collector: collector) { list in
            list.unlisted = .report
            list.denied = [DeniedKey(key)]
        }
        let pinning = try client.launch()
        try await running(pinning) {
            #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).verdict == .block)
            _ = pinning.decision(for: TestClient.strangePath, host: "elsewhere.example.org")
            #expect(pinning.decision(for: path, host: TestClient.host).reason == .deniedKey)
            await collector.untilArrived(count: 1)
            // The first refresh of `run()` is over: another one would get its answer.
            await client.clock.untilSleeping()
            try client.publish { $0.version = 2 }
            #expect(await pinning.refresh().refused.map(\.code) == [.equivocation])
            await collector.untilArrived(count: 2)
        }
        #expect(try collector.arrivals.map { try Self.reason($0.body) } == ["denied-key", "equivocation"])
    }

    @Test("the day of a failure by the app's clock decides: an installation is asked on some days and not on others")
    func dayOfAFailureByTheAppsClockDecides() async throws {
        let collector = SimulatedCollector()
        let store = MemoryStore()
        let client = try await Self.client(perMillion: 300_000, store: store, collector: collector)
        guard case .bytes(let bytes) = store.read(.installationID, maximumBytes: 16) else {
            Issue.record("there is no installation id")
            return
        }
        let id = try #require(InstallationID(bytes))
        var list = try RepositorySimulator(at: TestClient.start, domains: [try TestClient.entry(1)]).list
        list.reportPerMillion = 300_000
        let sampling = ReportSampling(list, for: id)
        let pinning = try client.launch(refreshing: false)
        var expected = 0
        try await running(pinning) {
            for day in 0..<20 as Range<Int64> {
                client.clock.now = TestClient.start.advanced(by: day * 86_400 + 7)
                if sampling.includes(try HostName(TestClient.host), at: client.clock.now) { expected += 1 }
                _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
                await collector.untilArrived(count: expected)
                // Until it is settled: it goes out again a day after that.
                while try Self.waiting(in: store) > 0 { await Task.yield() }
            }
        }
        #expect((1..<20).contains(expected))
        #expect(collector.arrivals.count == expected)
    }

    @Test("an app killed before its wait is over sends at its next opening")
    func appKilledBeforeItsWaitIsOverSendsAtItsNextOpening() async throws {
        let store = MemoryStore()
        let collector = SimulatedCollector()
        let client = try await Self.client(
            perMillion: 1_000_000, store: store, collector: collector, fraction: 0.5)
        let first = try client.launch(refreshing: false)
        try await running(first) {
            _ = first.decision(for: TestClient.strangePath, host: TestClient.host)
            // The timer is set anew when a second look finds the same report.
            while client.clock.waits != [30] { await Task.yield() }
        }
        #expect(collector.arrivals.isEmpty)
        client.clock.advance(by: 3_600)
        try await running(try client.launch(refreshing: false)) { await collector.untilArrived(count: 1) }
        #expect(collector.arrivals.count == 1)
    }

    private static func waiting(in store: MemoryStore) throws -> Int {
        guard case .bytes(let bytes) = store.read(.reports, maximumBytes: ReportLimits.stateBytes) else { return 0 }
        return try ReportQueue(bytes).count
    }
}

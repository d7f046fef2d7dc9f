// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
import PinFailureReports
import PinListMetadata
import PinningIntegrity
import PinningTesting
import Testing

@_spi(Adapters) @_spi(Tools) @testable import PinListClient
@testable import PinningNIO

@Suite("A client beside a canary")
struct CanaryTests {
    @Test("a client knows nothing of it: no event, count, report, path or file")
    func clientKnowsNothingOfItNoEventCountReportPathOrFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pki = try TestPKI(["api.example.com"])
        let collector = SimulatedCollector()
        let now = Timestamp(secondsSince1970: TestPKI.now)
        let entry = try PinnedScene.entry("api.example.com", [pki.leaf.pin])
        var repository = try RepositorySimulator(at: now, domains: [PinList.Domain(entry)])
        try repository.publishList { $0.reportTo = ["https://reports.example.com/v1/reports"] }
        var configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: collector, clock: ManualClock(now),
            randomness: FixedRandomness(fraction: 0))
        let monitor = IntegrityMonitor(DetectorSet([]), on: LinuxMachine(), canary: .pinning())
        configuration.watch(monitor)
        let pinning = try Pinning(
            root: .bytes(repository.roots[0]), list: .bytes(repository.lists[1]), refreshFrom: nil,
            state: .folder(folder.path), configuration: configuration)
        let http = try PinnedHTTPClient(by: pinning)
        let path = ValidatedPath(uncheckedValidatedPath: pki.path.map(\.der))
        _ = pinning.decision(for: path, host: "api.example.com")
        let before = (pinning.decisionCounts, pinning.recentEvents.count, http.pathCounts, try Self.files(folder))
        for _ in 0..<10 { await monitor.look() }
        #expect(monitor.sightings.isEmpty)
        #expect(before.0 == pinning.decisionCounts && before.0 == [.pinMatch: 1])
        #expect(before.1 == pinning.recentEvents.count)
        #expect(before.2 == http.pathCounts)
        #expect(before.3 == (try Self.files(folder)))
        #expect(pinning.allowedPaths.all.isEmpty)
        #expect(pinning.inbox.take().count == 0 && collector.arrivals.isEmpty)
        // What is looked at does change when a decision is the client's own.
        _ = pinning.decision(for: ValidatedPath(uncheckedValidatedPath: [[0x30]]), host: "api.example.com")
        #expect(before.0 != pinning.decisionCounts && before.1 < pinning.recentEvents.count)
        #expect(pinning.inbox.take().count == 1)
        try await http.shutdown()
    }

    private static func files(_ folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            files[name] = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path) ?? Data()
        }
        return files
    }
}
#endif

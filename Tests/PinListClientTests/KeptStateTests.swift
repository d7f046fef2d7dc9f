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

/// Folders that a client of an earlier day wrote are in `Tests/Fixtures`, with what its app shipped. They are never
/// made again: an app that is updated has to go on with what is there.
@Suite("What earlier clients kept")
struct KeptStateTests {
    /// The day on which its reports are sent: two hours after it was closed.
    private static let later = Timestamp(secondsSince1970: TestClient.start.secondsSince1970 + 7_200)

    @Test(
        "root, list, mark and reports of a client of that day are there for the client of today",
        arguments: KeptFolders.all)
    func rootListMarkAndReportsOfAClientOfThatDayAreThereForTheClientOfToday(name: String) async throws {
        try await KeptFolders.withCopy(of: KeptFolders.folder(name, "client"), self.expectOpens)
    }

    private func expectOpens(_ folder: URL) async throws {
        let collector = SimulatedCollector()
        let clock = ManualClock(Self.later)
        let configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: collector, clock: clock, randomness: FixedRandomness(fraction: 0))
        let state = folder.appendingPathComponent("state")
        let installation = try KeptFolders.bytes(state, "installation-id")
        let pinning = try Pinning(
            root: .bytes(try KeptFolders.bytes(folder, "tumbler-root.json")),
            list: .bytes(try KeptFolders.bytes(folder, "tumbler-pins.json")),
            refreshFrom: URL(string: SimulatedServer.address), state: .folder(state.path), configuration: configuration)
        let status = await pinning.status
        #expect(status.rootVersion == 2)
        #expect(status.list?.version == 2)
        #expect(status.list?.status == .current)
        #expect(status.list?.source == .stored)
        let decision = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        #expect(decision.reason == .noMatchingPin)
        #expect(decision.list?.version == 2)
        try await running(pinning) { await collector.untilArrived(count: 2) }
        let arrivals = try collector.arrivals.map { try JSONValue(strict: $0.body).texts }
        // The two that waited; the failure of today is identical with the first, which went out within a day.
        #expect(Set(arrivals.compactMap { $0["hostname"] }) == [TestClient.host, "other.example"])
        #expect(arrivals.allSatisfy { $0["app-version"] == "1.2" })
        let kinds = await pinning.kinds()
        #expect(!kinds.contains(.stateDamaged) && !kinds.contains(.stateUnreadable))
        #expect(try KeptFolders.bytes(state, "installation-id") == installation)
        let kept = try JSONDecoder().decode(Mark.self, from: Data(try KeptFolders.bytes(folder, "mark.json")))
        #expect(kept.name == status.list?.name && kept.version == 2 && kept.keyids.count == 1)
    }

    @Test("what the client of today keeps has the form of the newest of them")
    func whatTheClientOfTodayKeepsHasTheFormOfTheNewestOfThem() async throws {
        try await KeptFolders.withCopy { folder in
            try await Self.make(in: folder)
            if try !KeptFolders.handOver(folder) {
                let kept = KeptFolders.folder(try #require(KeptFolders.released.last), "client")
                #expect(try KeptFolders.form(of: folder) == KeptFolders.form(of: kept))
            }
            // An app of today begins with it, too.
            try await self.expectOpens(folder)
        }
    }

    /// The mark as `KeychainVersionMark` writes it.
    private struct Mark: Codable {
        let name: String
        let version: Int64
        let keyids: [String]
    }

    private final class KeptMark: VersionMarkStore, Sendable {
        let file: URL

        init(_ file: URL) { self.file = file }

        func load(name: String) -> VersionMark? { nil }

        func save(_ mark: VersionMark) {
            let mark = Mark(name: mark.name, version: mark.version, keyids: mark.keyIDs)
            try? JSONEncoder().encode(mark).write(to: self.file)
        }
    }

    /// A client that followed a root, took a list, and closed while two failures waited to be reported.
    private static func make(in folder: URL) async throws {
        var client = try TestClient(store: StateFolder(path: folder.appendingPathComponent("state").path))
        let collector = SimulatedCollector()
        collector.answer = FetchResponse(status: 503)
        client.configuration.reportSender = collector
        client.configuration.versionMark = KeptMark(folder.appendingPathComponent("mark.json"))
        client.configuration.app = ReportedApp(
            bundleID: "com.example.app", version: "1.2", platform: "LINUX", platformVersion: "6.1")
        try Data(client.root).write(to: folder.appendingPathComponent("tumbler-root.json"))
        try Data(client.list).write(to: folder.appendingPathComponent("tumbler-pins.json"))
        _ = try client.server.publish { try $0.publishRoot() }
        try client.publish { list in
            list.reportTo = ["https://reports.example.com/v1/reports"]
            list.unlisted = .report
        }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        try await running(pinning) {
            for host in [TestClient.host, "other.example"] {
                _ = pinning.decision(for: TestClient.strangePath, host: host)
            }
            // The address is left alone after its first answer, so that the other one waits untried.
            await collector.untilArrived(count: 1)
            await client.clock.untilSleeping(count: 2)
        }
    }
}

extension JSONValue {
    /// The members of an object that are texts.
    fileprivate var texts: [String: String] {
        guard case .object(let members) = self else { return [:] }
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) }).compactMapValues { value in
            if case .string(let text) = value { return text }
            return nil
        }
    }
}

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
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// The folders there are, the newest last: what was kept before there was a release, and those of releases.
    static let kept: [String] = {
        let released = Self.fixtures.appendingPathComponent("released")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: released.path)) ?? []
        return ["before-0.1-2026-11"]
            + versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.map { "released/\($0)" }
    }()

    /// The day on which its reports are sent: two hours after it was closed.
    private static let later = Timestamp(secondsSince1970: TestClient.start.secondsSince1970 + 7_200)

    /// Runs something with a folder that has a copy of a client's.
    private func withCopy(of name: String?, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if let name {
            let kept = Self.fixtures.appendingPathComponent("\(name)/client")
            try FileManager.default.copyItem(at: kept, to: folder)
        } else {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try await body(folder)
    }

    private static func bytes(_ folder: URL, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    @Test(
        "root, list, mark and reports of a client of that day are there for the client of today",
        arguments: Self.kept)
    func rootListMarkAndReportsOfAClientOfThatDayAreThereForTheClientOfToday(name: String) async throws {
        try await self.withCopy(of: name, self.expectOpens)
    }

    private func expectOpens(_ folder: URL) async throws {
        let collector = SimulatedCollector()
        let clock = ManualClock(Self.later)
        let configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: collector, clock: clock, randomness: FixedRandomness(fraction: 0))
        let state = folder.appendingPathComponent("state")
        let installation = try Self.bytes(state, "installation-id")
        let pinning = try Pinning(
            root: .bytes(try Self.bytes(folder, "tumbler-root.json")),
            list: .bytes(try Self.bytes(folder, "tumbler-pins.json")),
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
        #expect(try Self.bytes(state, "installation-id") == installation)
        let kept = try JSONDecoder().decode(Mark.self, from: Data(try Self.bytes(folder, "mark.json")))
        #expect(kept.name == status.list?.name && kept.version == 2 && kept.keyids.count == 1)
    }

    @Test("what the client of today keeps has the form of the newest of them")
    func whatTheClientOfTodayKeepsHasTheFormOfTheNewestOfThem() async throws {
        try await self.withCopy(of: nil) { folder in
            try await Self.make(in: folder)
            // An app of today begins with it, too.
            if let target = ProcessInfo.processInfo.environment["TUMBLER_FIXTURE"] {
                try FileManager.default.copyItem(at: folder, to: URL(fileURLWithPath: target))
            }
            let newest = try #require(Self.kept.last)
            let kept = Self.fixtures.appendingPathComponent("\(newest)/client")
            #expect(try Self.form(of: folder) == Self.form(of: kept))
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

    /// The files of a folder, and the members of those that are JSON, but for the names of members that are digests.
    private static func form(of folder: URL) throws -> [String: [String]] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        let files = names.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(
                atPath: folder.appendingPathComponent(name).path, isDirectory: &isFolder)
            return !isFolder.boolValue
        }
        return Dictionary(
            uniqueKeysWithValues: files.map { name in
                let value = try? JSONValue(strict: try self.bytes(folder, name))
                return (name, Set(value?.memberNames ?? []).filter { $0.utf8.count < 64 }.sorted())
            })
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

    /// The names of all members, those of others within included.
    fileprivate var memberNames: [String] {
        switch self {
        case .object(let members): members.flatMap { [$0.name] + $0.value.memberNames }
        case .array(let values): values.flatMap(\.memberNames)
        default: []
        }
    }
}

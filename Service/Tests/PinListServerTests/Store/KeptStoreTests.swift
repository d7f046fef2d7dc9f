// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinRotation
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// Databases that a service of an earlier day filled are in `Tests/Fixtures`. They are never made again: a service that
/// is updated has to go on with what is there.
@Suite("Databases that earlier services filled", .runsPostgreSQL)
struct KeptStoreTests {
    private static let name = "com.example.app"
    private static let start = Timestamp(secondsSince1970: 1_795_446_000)  // 2026-11-23T15:00:00Z

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Tests/Fixtures")

    /// The folders there are, the newest last: what was kept before there was a release, and those of releases.
    static let kept: [String] = {
        let released = Self.fixtures.appendingPathComponent("released")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: released.path)) ?? []
        return ["before-0.1-2026-11"]
            + versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.map { "released/\($0)" }
    }()

    private static func folder(_ fixture: String) -> URL {
        Self.fixtures.appendingPathComponent("\(fixture)/service")
    }

    /// Calls with what opens a copy of the database.
    private func withKept(
        _ fixture: String, on tested: TestedStore,
        _ body: (_ open: @escaping @Sendable () throws -> any ServiceStore) async throws -> Void
    ) async throws {
        switch tested {
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let copy = folder.appendingPathComponent("service.sqlite")
            try FileManager.default.copyItem(
                at: Self.folder(fixture).appendingPathComponent("service.sqlite"), to: copy)
            try await body { try SQLiteStore(path: copy.path) }
        case .postgreSQL:
            let server = try #require(TestPostgreSQL.current)
            let database = try server.makeDatabase()
            let dump = try Data(contentsOf: Self.folder(fixture).appendingPathComponent("service.sql"))
            try server.administer(String(decoding: dump, as: UTF8.self), in: database)
            try await body { try server.open(database) }
        }
    }

    /// Rows as text, a column beside the other.
    private static func rows(_ store: any ServiceStore, _ sql: String) async throws -> [String] {
        try await store.read { store in
            try store.connection.rows(sql, []).map { row in
                row.values.map { value in
                    switch value {
                    case .text(let text): text
                    case .integer(let number): "\(number)"
                    default: "\(value)"
                    }
                }.joined(separator: " ")
            }
        }
    }

    @Test(
        "lists, audit log, reports, probes, plans and tokens are there, and what comes is added to them",
        arguments: Self.kept, TestedStore.all)
    func listsAuditLogReportsProbesPlansAndTokensAreThereAndWhatComesIsAddedToThem(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await self.withKept(fixture, on: tested) { open in
            let store = try open()
            let (roots, list, publications, log, rotations) = try await store.read { store in
                (
                    try store.roots(of: Self.name), try store.list(of: Self.name),
                    try store.publications(of: Self.name, limit: 10), try store.auditEntries(from: 1, limit: 100),
                    try store.rotations(of: Self.name)
                )
            }
            // The served list verifies as for a client.
            var state = try TrustState(bundledRoot: try #require(roots.first), bundledList: nil)
            for root in roots.dropFirst() { try state.load(root: root) }
            try state.load(list: try #require(list))
            #expect(state.chain.newest.version == 2)
            #expect(state.inForce?.held.list.version == 2)
            #expect(state.inForce?.held.status == .current)
            #expect(publications.map(\.version) == [2])

            var chain = AuditChain()
            for entry in log { try chain.append(entry) }
            // A release has more than this one name, and what was done with that is between these.
            var done = log.map(\.action)[...]
            for action in [
                "token-create", "token-create", "publish", "publish", "publish", "gate", "rotation", "alarm-silenced",
                "login-link",
            ] {
                let place = try #require(done.firstIndex(of: action), "\(action) in \(log.map(\.action))")
                done = done[(place + 1)...]
            }
            #expect(rotations.map(\.host) == ["localhost"])
            let text = String(decoding: rotations.first?.bytes ?? [], as: UTF8.self)
            #expect(text.contains(#""state":"planned""#) || text.contains(#""state": "planned""#))
            #expect(
                try await Self.rows(store, "SELECT host, reason FROM report_group ORDER BY host, reason") == [
                    " rollback", "api.example.com chain-invalid", "localhost no-matching-pin",
                    "other.example unlisted-reported",
                ])
            #expect(try await Self.rows(store, "SELECT COUNT(*) FROM report") == ["5"])
            #expect(
                try await Self.rows(
                    store, "SELECT label, owner, scope FROM token WHERE owner IN ('ann', 'bob') ORDER BY label") == [
                        "ci ann publish", "pager bob operate",
                    ])
            #expect(
                try await Self.rows(store, "SELECT host FROM probe ORDER BY host") == ["api.example.com", "localhost"])
            #expect(try await Self.rows(store, "SELECT what FROM alarm_silence") == ["silence"])
            let asked = try await store.read { try $0.inquiryTotals(of: Self.name, since: 0) }
            #expect(asked.values.reduce(0, +) >= 24)

            try await store.append {
                try $0.add([try StoreMoveTests.report("localhost", at: Self.start)], countedBy: "a")
            }
            #expect(try await Self.rows(try open(), "SELECT COUNT(*) FROM report") == ["6"])
        }
    }

    @Test(
        "a log list, sightings and a list of a hybrid demand are there",
        arguments: Self.kept.filter { $0.hasPrefix("released/") }, TestedStore.all)
    func logListSightingsAndAListOfAHybridDemandAreThere(fixture: String, on tested: TestedStore) async throws {
        try await self.withKept(fixture, on: tested) { open in
            let store = try open()
            let name = "com.example.hybrid"
            let (roots, list) = try await store.read { (try $0.roots(of: name), try $0.list(of: name)) }
            var state = try TrustState(bundledRoot: try #require(roots.first), bundledList: nil)
            for root in roots.dropFirst() { try state.load(root: root) }
            try state.load(list: try #require(list))
            #expect(state.chain.newest.version == 2)
            #expect(state.inForce?.held.list.version == 2)
            #expect(state.inForce?.held.list.logs != nil)
            #expect(try await Self.rows(store, "SELECT COUNT(*) FROM log_file") == ["1"])
            #expect(try await Self.rows(store, "SELECT COUNT(*) FROM sighting") == ["2"])
        }
    }
}

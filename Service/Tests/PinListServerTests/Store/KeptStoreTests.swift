// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Databases that earlier services filled", .runsPostgreSQL)
struct KeptStoreTests {
    private static let name = "com.example.app"
    private static let start = Timestamp(secondsSince1970: 1_795_446_000)  // 2026-11-23T15:00:00Z

    /// A migration that moves what is in a column to another place names it here, and a test of its own reads it there.
    @Test(
        "no row and no value of that day is lost or changed when the database is brought up to date",
        arguments: KeptDatabase.all, TestedStore.all)
    func noRowAndNoValueOfThatDayIsLostOrChangedWhenTheDatabaseIsBroughtUpToDate(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            #expect(kept.before["report"]?.rows.isEmpty == false)
            for (name, table) in kept.before.sorted(by: { $0.key < $1.key }) {
                let rows = try await store.read { try KeptDatabase.rows(of: name, table.columns, $0.connection) }
                #expect(rows == table.rows, "\(name)")
            }
        }
    }

    @Test("a released service left a row in each of its tables", arguments: KeptDatabase.released, TestedStore.all)
    func releasedServiceLeftARowInEachOfItsTables(fixture: String, on tested: TestedStore) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            #expect(kept.before.filter { $0.value.rows.isEmpty }.keys.sorted() == [])
            #expect(
                Set(["alarm", "evidence", "attested_key", "audit_seal", "rotation"]).isSubset(of: kept.before.keys))
        }
    }

    @Test(
        "lists, audit log, reports, probes, plans and tokens are there, and what comes is added to them",
        arguments: KeptDatabase.all, TestedStore.all)
    func listsAuditLogReportsProbesPlansAndTokensAreThereAndWhatComesIsAddedToThem(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            let (roots, list, publications, rotations) = try await store.read { store in
                (
                    try store.roots(of: Self.name), try store.list(of: Self.name),
                    try store.publications(of: Self.name, limit: 10), try store.rotations(of: Self.name)
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

            let (seals, log) = try await store.read {
                (try $0.auditSeals(), try $0.auditEntries(from: 1, limit: 1_000))
            }
            var chain = AuditChain(seals: seals)
            for entry in log { try chain.append(entry) }
            try chain.finish()
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
            // A release has reports that are signed as well, and the one that brought evidence.
            let unsigned = "reason <> 'equivocation' AND attestation = 'not asked'"
            #expect(
                try await store.lines(
                    "SELECT host, reason FROM report_group WHERE \(unsigned) ORDER BY host, reason") == [
                        " rollback", "api.example.com chain-invalid", "localhost no-matching-pin",
                        "other.example unlisted-reported",
                    ])
            let counted = """
                SELECT COUNT(*) FROM report JOIN report_group ON report_group.number = report.group_number
                WHERE reason <> 'equivocation' AND report.attestation = 'not asked'
                """
            #expect(try await store.lines(counted) == ["5"])
            #expect(
                try await store.lines(
                    "SELECT label, owner, scope FROM token WHERE label IN ('ci', 'pager') ORDER BY label") == [
                        "ci ann publish", "pager bob operate",
                    ])
            #expect(
                try await store.lines("SELECT host FROM probe ORDER BY host") == ["api.example.com", "localhost"])
            #expect(try await store.lines("SELECT what FROM alarm_silence") == ["silence"])
            let asked = try await store.read { try $0.inquiryTotals(of: Self.name, since: 0) }
            #expect(asked.values.reduce(0, +) >= 24)

            try await store.append {
                try $0.add([try StoreMoveTests.report("localhost", at: Self.start)], countedBy: "a")
            }
            #expect(try await kept.open().lines(counted) == ["6"])
        }
    }

    @Test(
        "a log list, and a list of a hybrid demand with a rate of reports, are there",
        arguments: KeptDatabase.released, TestedStore.all)
    func logListAndAListOfAHybridDemandWithARateOfReportsAreThere(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { kept in
            let store = try kept.open()
            let name = "com.example.hybrid"
            let (roots, list, files) = try await store.read {
                (try $0.roots(of: name), try $0.list(of: name), try $0.logs(of: name))
            }
            var state = try TrustState(bundledRoot: try #require(roots.first), bundledList: nil)
            for root in roots.dropFirst() { try state.load(root: root) }
            try state.load(list: try #require(list))
            #expect(state.chain.newest.version == 2)
            let held = try #require(state.inForce?.held.list)
            #expect(held.version == 2)
            let logs = try #require(held.logs)
            #expect(files.map(\.digest) == [logs.digest])
            #expect(try await store.read { try $0.hasLogs(logs, of: name) })
            #expect(
                try await store.lines("SELECT host, name, per_million FROM report_rate") == [
                    "cdn.example.com com.example.hybrid 250000"
                ])
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The query plans of the database")
struct QueryPlanTests {
    private static let now = Timestamp(secondsSince1970: 1_795_219_200)

    /// Tables that grow with each report and each client that asks.
    private static let large = [
        "report", "report_hour", "counted_host", "group_hour", "group_network", "group_leaf", "inquiry", "audit",
        "publication", "sighting", "attested_key", "sighted_network",
    ]

    /// A connection that writes down how the database means to answer each query.
    private final class Recorder: SQLConnection {
        let next: any SQLConnection
        private(set) var plans: [(sql: String, steps: [String])] = []

        init(_ next: any SQLConnection) { self.next = next }

        func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
            try self.explain(sql, values)
            return try self.next.rows(sql, values)
        }

        func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
            try self.explain(sql, values)
            return try self.next.execute(sql, values)
        }

        func lock(_ lock: StoreLock) throws { try self.next.lock(lock) }

        var rowLocks: SQLRowLocks { self.next.rowLocks }

        var rowPlace: String? { self.next.rowPlace }

        var hasReportDays: Bool { self.next.hasReportDays }

        func continueNumbers() throws { try self.next.continueNumbers() }

        /// The steps that walk through a table or an index of it from one end to the other. A walk in the order of an
        /// index that ends at a limit is none.
        func scans(of tables: [String]) -> [String] {
            self.plans.flatMap { plan -> [String] in
                let isSorted = plan.steps.contains { $0.hasPrefix("USE TEMP B-TREE") }
                if plan.sql.contains(" LIMIT "), !plan.sql.contains(" WHERE "), !isSorted { return [] }
                // To count rows is to go through them. Sightings have a limit, for which they are counted.
                let counted = tables.filter { $0 != "sighting" }
                if let table = counted.first(where: { plan.sql.hasPrefix("SELECT COUNT(*) FROM \($0) ") }) {
                    return ["COUNT \(table): \(plan.sql)"]
                }
                return plan.steps.filter { step in
                    tables.contains { step == "SCAN \($0)" || step.hasPrefix("SCAN \($0) ") }
                }
                .map { "\($0): \(plan.sql)" }
            }
        }

        private func explain(_ sql: String, _ values: [SQLValue]) throws {
            let steps = try self.next.rows("EXPLAIN QUERY PLAN " + sql, values).map { try $0.text(3) }
            self.plans.append((sql, steps))
        }
    }

    /// A report of one of our clients.
    private static func report(_ host: String, at time: Timestamp) throws -> AcceptedReport {
        let text = """
            {"date-time": "\(time)", "hostname": "\(host)", "port": 443, "noted-hostname": "\(host)",
             "validation-result": 1, "tumbler": {"list-name": "com.example.app", "list-version": 1,
             "reason": "no-matching-pin", "signals": []}}
            """
        let report = try #require(try CollectedReport.read(Array(text.utf8), at: time).reports.first)
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time, networks: nil, isSample: false,
            isListed: true,
            body: report.document)
    }

    private func withRecorder(_ body: @escaping @Sendable (StoreTransaction) throws -> Void) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(path: folder.appendingPathComponent("service.sqlite").path)
        return try await store.write { transaction in
            let recorder = Recorder(transaction.connection)
            try body(StoreTransaction(connection: recorder))
            #expect(!recorder.plans.isEmpty)
            return recorder.scans(of: Self.large)
        }
    }

    @Test("no page walks through what grows without end")
    func noPageWalksThroughWhatGrowsWithoutEnd() async throws {
        let (now, repository) = (Self.now, try RepositorySimulator(at: Self.now))
        let name = repository.root.name
        let published = try PublishedName(
            anchor: repository.roots[0], roots: [repository.roots[0]], list: repository.lists[0])
        var list = repository.list
        (list.domains, list.reportPerMillion) = ([try .pinned("a.example.com")], 10_000)
        let quiet = list
        let scans = try await self.withRecorder { store in
            try store.add([Self.report("a.example.com", at: now)], countedBy: "one")
            try store.noteReportRates(of: quiet, at: now.before(7_200))
            _ = try Overview(
                store, [name: .init(published: published, versions: [:])], RotationPlans(), asking: [name], broken: [:],
                at: now)
            for publication in try store.publications(of: name, limit: 10) {
                _ = try store.publicationNumbers(of: name, after: publication.number, limit: 10)
                _ = try store.publisher(of: publication.digest, at: publication.publishedAt)
            }
            _ = try store.publicationTimes(of: name, limit: 50)
            _ = try store.listRequests(of: name, windows: 56, of: 12, until: now.hour)
            for filter in [GroupFilter(), GroupFilter(host: "a.example.com"), GroupFilter(reason: "no-matching-pin")] {
                let groups = try store.groups(filter, newest: [:])
                #expect(groups.map(\.host) == ["a.example.com"])
                let group = try #require(groups.first)
                for span in FailureFilter.Span.allCases {
                    let grid = HourGrid(span, until: now.hour)
                    #expect(try store.groupCounts([group.number], in: grid)[group.number]?.values.reduce(0, +) == 1)
                    _ = try store.kindCounts(in: grid)
                    #expect(try store.unreported(in: grid).factors.contains(100))
                }
                _ = try store.group(id: group.id, newest: [:])
                _ = try store.details(of: group.number, in: HourGrid(.week, until: now.hour))
            }
            #expect(try store.leadingCauses(of: ["a.example.com"], attested: [], newest: [:], at: now).count == 1)
            _ = try store.groupChoices(limit: 10)
            for host in [nil, "a.example.com"] { _ = try store.sightings(of: name, host: host, limit: 10) }
            _ = try store.sightings(of: name, key: "k")
            _ = try store.sightingCountsByHost(of: name)
            _ = try store.reportingNetworks(of: "k")
            _ = try store.hasAttestedReport(of: "k")
            _ = try store.sightedBytes(of: name, after: "", limit: 10)
            _ = try store.hasSightingsToEvaluate(of: name, by: "d")
            _ = try store.auditEntries(from: 1, limit: 10)
            _ = try store.auditEntries(of: ["publish"], since: Timestamp(secondsSince1970: 0))
        }
        #expect(scans == [])
    }

    @Test("neither does what accepts reports, nor what forgets them")
    func neitherDoesWhatAcceptsReportsNorWhatForgetsThem() async throws {
        let (now, repository) = (Self.now, try RepositorySimulator(at: Self.now))
        let scans = try await self.withRecorder { store in
            try store.add(
                [Self.report("a.example.com", at: now), Self.report("b.example.com", at: now)], countedBy: "one")
            let share = GroupQuota.Share(of: try Self.report("a.example.com", at: now).group, isListed: true)
            #expect(try store.leavingGroups(of: share, in: .share, at: now, limit: 10).count == 1)
            #expect(try store.leavingGroups(of: share, in: .part, at: now, limit: 10).count == 2)
            try store.add([ListRequestKey(name: "a", hour: now.hour, source: .installation, digest: ""): 1])
            #expect(try store.removeReports(before: now, limit: 10) == 0)
            try store.log("publish", "list 1", by: "cli", at: now)
            _ = try store.evaluateSightings(of: "a", by: SightingRules(repository.list), of: "d", at: now, limit: 10)
            _ = try store.add([], of: "a", by: SightingRules(repository.list), of: "d", at: now)
            try store.noteServed(["a": ["k"]], at: now)
            try store.keep(sightingIssuers: ["k": [1]], of: "a", at: now)
            _ = try store.removeSightings(endedBefore: now, toldBefore: now, limit: 10)
            #expect(try store.countReports(after: 0, limit: 10)?.count == 2)
            #expect(try store.reportBytes(in: StoreRoom(sizes: ["report": 10_000], limit: 0)) > 0)
            // A batch that is full, and one that is not, have statements of their own.
            for limit in [0, 10] {
                for table in CountTable.allCases { _ = try store.remove(table, before: now.hour + 24, limit: limit) }
            }
            _ = try store.removeAttestedKeys(unusedSince: now, limit: 10)
            #expect(try store.removeGroups(before: now.before(-1), limit: 10) == 4)
        }
        #expect(scans == [])
    }

    @Test("a scan of a whole table is seen")
    func scanOfAWholeTableIsSeen() async throws {
        let scans = try await self.withRecorder {
            _ = try $0.connection.rows("SELECT COUNT(*) FROM report WHERE port = 1", [])
        }
        #expect(scans.count == 1)
    }
}

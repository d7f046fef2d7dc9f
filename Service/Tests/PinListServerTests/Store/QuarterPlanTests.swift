// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The query plans of ninety days of reports", .runsPostgreSQL)
struct QuarterPlanTests {
    /// The tables that may be walked through although they have thousands of rows: there are at most
    /// `ReportGroup.maximumGroups` groups.
    private static let mayBeWalked: Set<String> = ["report_group", "group_count"]
    /// Tables with fewer rows are walked through faster than an index is read.
    private static let fewRows: Int64 = 2_500

    /// Every page, with each way to ask for it that has statements of its own.
    ///
    /// SQLite plans without the values: there a day of reports is exported, and not a month.
    private static func paths(_ quarter: QuarterOfReports, _ tested: TestedStore) -> [String] {
        let name = quarter.name
        let exported: Int64 = (tested == .sqlite ? 1 : 25) * 86_400
        let since = Timestamp(secondsSince1970: quarter.now - exported)
        let until = Timestamp(secondsSince1970: quarter.now - QuarterOfReports.days * 86_400 + exported)
        let failures = FailureFilter.Span.allCases.map { "/failures?span=\($0.rawValue)" }
        return DashboardSection.allCases.map(\.path) + failures + [
            "/failures?span=all&order=networks", "/failures?host=h1.example.com", "/failures?reason=no-matching-pin",
            "/failures/\(QuarterOfReports.id(5))", "/audit?from=100", "/v1/status", "/metrics", "/readyz",
            "/v1/reports?since=\(since)", "/v1/reports?format=csv&until=\(until)",
            "/v1/lists/\(name)/adoption", "/v1/lists/\(name)/rotations", "/v1/lists/\(name)/sightings",
            "/v1/lists/\(name)/sightings?after=\(QuarterOfReports.id(100))",
        ]
    }

    /// The target that is warned here takes everything.
    private struct Taker: WebhookSender {
        func post(_ body: [UInt8], to address: String) async throws -> Int { 204 }
    }

    /// A database with all of it, brought up to date.
    private func withQuarter(
        on tested: TestedStore, _ body: (any ServiceStore, PlanRecord, QuarterOfReports) async throws -> Void
    ) async throws {
        let now = SystemServiceClock().now.secondsSince1970
        let repository = try RepositorySimulator(at: Timestamp(secondsSince1970: now))
        let quarter = QuarterOfReports(now: now, name: repository.root.name)
        try await tested.withDatabase { open in
            try await open().write { try quarter.lay(in: $0.connection, tested) }
            let store = try open()
            try await store.write { try quarter.layLater(in: $0.connection, tested) }
            if tested == .postgreSQL { try await store.write { _ = try $0.connection.execute("ANALYZE", []) } }
            try await body(store, PlanRecord(tested), quarter)
        }
    }

    /// The tables with more than a few rows.
    private static func large(_ store: any ServiceStore, _ tested: TestedStore) async throws -> Set<String> {
        let query =
            tested == .sqlite
            ? "SELECT name FROM sqlite_master WHERE type = 'table'"
            : "SELECT CAST(relname AS TEXT) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        return try await store.read { store in
            let names = try store.connection.rows(query, []).map { try $0.text(0) }
            return Set(
                try names.filter { name in
                    let count = try store.connection.rows("SELECT COUNT(*) FROM \(name)", []).first?.integer(0) ?? 0
                    return count > Self.fewRows
                })
        }
    }

    @Test("no page, no alarm, no export and no metric walks through what grows", arguments: TestedStore.all)
    func noPageNoAlarmNoExportAndNoMetricWalksThroughWhatGrows(on tested: TestedStore) async throws {
        try await self.withQuarter(on: tested) { store, record, quarter in
            // No token of the quarter's has this id.
            let random = (0..<AccessToken.randomBytes).map { UInt8(0xff - $0) }
            let time = Timestamp(secondsSince1970: quarter.now)
            let reader = try #require(AccessToken.make(.read, names: [], random: random, at: time))
            try await store.write { try $0.add(reader.token) }
            try await PublishedService.with(store: PlanRecord.Store(next: store, record: record)) { service in
                for path in Self.paths(quarter, tested) {
                    let answer = try await service.ask("GET", path, "Authorization: Bearer \(reader.secret)\r\n")
                    #expect(answer.statuses == [200], "\(path)")
                }
            }
            // What the pages show of names that ask for assertions.
            try await PlanRecord.Store(next: store, record: record).read { store in
                let rates = try store.attestationRates(of: [quarter.name], at: time)
                #expect(rates[quarter.name] != nil)
                _ = try store.attestedHosts(at: time)
            }
            let large = try await Self.large(store, tested)
            #expect(
                large.isSuperset(of: [
                    "report_hour", "inquiry", "group_hour", "audit", "sighting", "attestation_hour", "counted_host",
                    "evidence",
                ]))
            #expect(record.count > 30)
            // A chart of all days adds up the hours of ninety days. Here no others are kept: PostgreSQL reads the table then,
            // which has fewer pages than it and the index. One of a week does not.
            let walks = record.walks(through: large.subtracting(Self.mayBeWalked)) { sql, values in
                guard tested == .postgreSQL, sql.hasSuffix("FROM report_hour WHERE hour >= ? GROUP BY 1, 2"),
                    case .integer(let first) = values.last
                else { return false }
                return first < time.hour - 80 * 24
            }
            #expect(walks == [])
        }
    }

    @Test("neither does what takes reports, looks for alarms, counts requests or forgets", arguments: TestedStore.all)
    func neitherDoesWhatTakesReportsLooksForAlarmsCountsRequestsOrForgets(on tested: TestedStore) async throws {
        try await self.withQuarter(on: tested) { store, record, quarter in
            let recorded = PlanRecord.Store(next: store, record: record)
            let clock = SystemServiceClock()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let reports = try ["h1.example.com", "new.example.com"].map { host in
                let text = #"{"hostname": "\#(host)", "noted-hostname": "\#(host)", "validation-result": 1}"#
                let report = try #require(try CollectedReport.read(Array(text.utf8), at: clock.now).reports.first)
                return AcceptedReport(
                    report: report, group: ReportGroup(report), receivedAt: clock.now, networks: nil, isSample: false,
                    isListed: host == "h1.example.com", body: report.document)
            }
            try await ReportIntake(store: recorded, instance: "one").store(reports)
            try await recorded.write { store in
                // What a new group asks where there is no room.
                for scope in [GroupQuota.Scope.share, .part] {
                    let share = GroupQuota.Share(of: reports[0].group, isListed: true)
                    _ = try store.leavingGroups(of: share, in: scope, at: clock.now, limit: 100)
                }
                try store.add(
                    [ListRequestKey(name: quarter.name, hour: clock.now.hour, source: .installation, digest: ""): 1])
                try store.log("publish", "list 1", by: "cli", at: clock.now)
            }
            let parts = ServiceParts(
                ServiceConfiguration(), store: recorded, clock: clock, instance: "one", logger: logger)
            let watch = AlarmWatch(parts: parts, sender: Taker())
            await watch.look()
            await watch.send()
            // By age; then by size, where reports are the larger part (on SQLite); then there are more counts than may be.
            let megabytes = try await StoreRoom(sizes: store.sizes(), limit: 0).forgotten / 1_000_000
            var limits = ServiceConfiguration.Retention()
            for (days, megabytes) in [(89, 1_000_000), (90, megabytes - 1), (90, 1)] as [(Int64, Int64)] {
                (limits.days, limits.megabytes) = (days, megabytes)
                await Retention(store: recorded, limits: limits, clock: clock, logger: logger).look()
            }
            // What a day that is not over asks on PostgreSQL.
            try await recorded.write { store in
                _ = try store.reportCapacity(in: StoreRoom(sizes: [:], limit: 0))
                #expect(try store.countReports(after: 0, limit: 10)?.count == 10)
                _ = try store.removeOldestReports(limit: 10)
            }
            let left = try await store.read {
                try $0.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0)
            }
            #expect(left ?? 0 < QuarterOfReports.reports)
            // The earlier size of a table: retention has made some of them small.
            let large: Set<String> = [
                "report", "report_hour", "group_hour", "group_network", "group_leaf", "inquiry", "audit", "sighting",
                "attestation_hour",
            ]
            #expect(record.count > 10)
            // For the oldest 5,000 reports PostgreSQL reads the table while that costs less than 5,000 looks into it.
            // Of attestation there is a month of hours, whose key begins with the name.
            let walks = record.walks(through: large).filter {
                $0 != "attestation_hour: DELETE FROM attestation_hour WHERE hour < ?"
                    && (tested == .sqlite || !$0.hasPrefix("report: DELETE FROM report WHERE"))
            }
            #expect(walks == [])
        }
    }

    @Test("a walk is seen, through a table and through an index", arguments: TestedStore.all)
    func walkIsSeenThroughATableAndThroughAnIndex(on tested: TestedStore) async throws {
        let queries = [
            "SELECT COUNT(*) FROM report WHERE port = 1", "SELECT hour, SUM(count) FROM report_hour GROUP BY hour",
            "SELECT COUNT(*) FROM group_hour AS counted WHERE count = 1",
            "SELECT count FROM inquiry WHERE name = 'name1' AND hour = 1",
        ]
        @Sendable func look(_ store: any ServiceStore, _ record: PlanRecord) async throws {
            try await PlanRecord.Store(next: store, record: record).read { store in
                for query in queries { _ = try store.connection.rows(query, []) }
            }
            let walks = record.walks(through: ["report", "report_hour", "group_hour", "inquiry"])
            #expect(walks.map { $0.prefix { $0 != ":" } } == ["group_hour", "report", "report_hour"])
        }
        // SQLite plans without a look at the rows: none are needed.
        guard tested == .postgreSQL else {
            return try await tested.withDatabase { open in try await look(try open(), PlanRecord(tested)) }
        }
        try await self.withQuarter(on: tested) { store, record, _ in try await look(store, record) }
    }
}

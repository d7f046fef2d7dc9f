// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer

@Suite("From one database to another", .runsPostgreSQL)
struct StoreMoveTests {
    /// One pair of stores.
    struct Pair: Sendable, CustomTestStringConvertible {
        let from: TestedStore
        let to: TestedStore

        static var all: [Self] { TestedStore.all.flatMap { from in TestedStore.all.map { Self(from: from, to: $0) } } }

        var testDescription: String { "\(self.from.rawValue) to \(self.to.rawValue)" }
    }

    static func dump(_ store: any ServiceStore) async throws -> [String: [SQLRow.Text]] {
        try await store.read { store in
            var rows: [String: [SQLRow.Text]] = [:]
            for (table, columns, key) in StoreMove.tables {
                rows[table] = try store.connection.rows(
                    "SELECT \(columns.joined(separator: ", ")) FROM \(table)", []
                ).map { $0.values.map { "\($0)" } }.sorted { $0.joined() < $1.joined() }
                #expect(Set(key).isSubset(of: columns))
            }
            return rows
        }
    }

    static func report(
        _ host: String, isListed: Bool = true, at time: Timestamp = TurnedClock.start
    ) throws -> AcceptedReport {
        let report = try ReportText.report(ReportText.body([("noted-hostname", .string(host))]))
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time,
            networks: NetworkCounter.Count(day: 1, networks: BoundedCount(1, isMore: false)), isSample: false,
            isListed: isListed,
            body: report.document)
    }

    /// Something in every table, and in one of them more than two pages.
    static func fill(_ store: any ServiceStore, _ repository: RepositorySimulator) async throws {
        let publisher = Publisher(store: store, anchors: repository.anchors)
        _ = try await publisher.publish(
            [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
        let random = (0..<40).map { UInt8($0) }
        let token = try #require(AccessToken.make(.read, names: [], random: random, at: TurnedClock.start)).token
        let code = try #require(LoginCode.make(owner: "b", random: Array(random.prefix(32)), at: TurnedClock.start))
            .code
        let reports = try (0..<3).map { try Self.report("h\($0).example") }
        let many = Array(repeating: reports[0], count: 2 * StoreMove.page + 1)
        var quiet = repository.list
        (quiet.domains, quiet.reportPerMillion) = ([try .pinned("quiet.example")], 10)
        let list = quiet
        try await store.write { store in
            try store.noteReportRates(of: list, at: TurnedClock.start)
            try store.add(token)
            try store.add(code, by: "cli", at: TurnedClock.start)
            try store.add(many + reports, countedBy: "a")
            try store.add([try Self.report("stranger.example", isListed: false)], countedBy: "b")
            try store.add([InquiryKey(name: "a", hour: 1, source: .log, digest: "d"): 2])
            try store.add([StoredProbe(name: "a", host: "b", at: TurnedClock.start, isOK: true, result: [0, 255])])
            _ = try AlarmEvaluation(targets: []).apply(
                [Alarm(.silence, .notice, "a", "b")], in: store, auditHead: "", at: TurnedClock.start)
            try store.put(
                StoredSilence(
                    what: "a", severity: .notice, endsAt: TurnedClock.start, madeAt: TurnedClock.start, madeBy: "b",
                    reason: "c"))
            try store.keepTargets(["a"], of: "b", at: TurnedClock.start)
            try store.notify("a", [0, 1], at: TurnedClock.start)
            try store.putDelivery(to: "a", at: TurnedClock.start, trouble: "b")
            try store.addEvidence("d", of: "a", [7], at: TurnedClock.start)
            try store.add(
                AuditSeal(
                    period: AuditPeriod(TurnedClock.start), first: 1, last: 2, head: "a", previous: "b", entry: 3))
            let plan = StoredRotation(name: "a", host: "b", storedAt: TurnedClock.start, bytes: [0, 255])
            #expect(try store.put(plan, if: .absent) == .stored(isNew: true))
        }
    }

    @Test("all is there, and what comes after it goes on", arguments: Pair.all)
    func moved(pair: Pair) async throws {
        var simulator = try RepositorySimulator.story()
        let second = try simulator.publishList { _ in }
        let repository = simulator
        try await pair.from.withDatabase { openSource in
            try await pair.to.withDatabase { openTarget in
                let (source, target) = (try openSource(), try openTarget())
                try await Self.fill(source, repository)
                try await StoreMove(from: source, to: target).run { _, _ in }
                let copied = try await Self.dump(target)
                #expect(copied == (try await Self.dump(source)))
                #expect(copied.values.allSatisfy { !$0.isEmpty })
                _ = try await Publisher(store: target, anchors: repository.anchors).publish(
                    [second], name: "com.example.app", by: "cli", at: TurnedClock.start)
                try await target.write { store in
                    try store.add([try Self.report("later.example")], countedBy: "a")
                    try store.notify("a", [2], at: TurnedClock.start)
                }
                var chain = AuditChain()
                for entry in try await target.read({ try $0.auditEntries(from: 1, limit: 100) }) {
                    try chain.append(entry)
                }
                #expect(chain.count == 4)
                #expect(try await target.read { try $0.list(of: "com.example.app") } == second)
                let highest = try await target.read { store in
                    try store.connection.rows("SELECT MAX(number), COUNT(*) FROM report", [])
                        .map { [try $0.integer(0), try $0.integer(1)] }
                }
                #expect(highest == [[Int64(2 * StoreMove.page + 6), Int64(2 * StoreMove.page + 6)]])
            }
        }
    }

    @Test("a target that has anything is left as it is")
    func full() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { openSource in
            let source = try openSource()
            try await Self.fill(source, repository)
            try await TestedStore.sqlite.withDatabase { openTarget in
                let target = try openTarget()
                // A report alone, before anything was published or logged.
                try await target.write { try $0.add([try Self.report("a.example")], countedBy: "a") }
                let before = try await Self.dump(target)
                let error = await #expect(throws: StoreError.self) {
                    try await StoreMove(from: source, to: target).run { _, _ in }
                }
                #expect(error?.code == .unsupported)
                #expect(try await Self.dump(target) == before)
            }
        }
    }
}

extension SQLRow {
    /// A row as texts, to be compared.
    typealias Text = [String]
}

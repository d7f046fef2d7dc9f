// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

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
        _ host: String, isListed: Bool = true, at time: Timestamp = TurnedClock.start,
        attestation: ReportAttestation = .notAsked
    ) throws -> AcceptedReport {
        let report = try ReportText.report(ReportText.body([("noted-hostname", .string(host))]))
        return AcceptedReport(
            report: report, group: ReportGroup(report, attestation.state), receivedAt: time,
            networks: NetworkCounter.Count(day: 1, networks: BoundedCount(1, isMore: false)), isSample: false,
            isListed: isListed, attestation: attestation,
            body: report.document)
    }

    /// Writes a row into every table, and into one of them more than two pages.
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
            try store.add([ListRequestKey(name: "a", hour: 1, source: .log, digest: "d"): 2])
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
            _ = try store.register(
                StoredAttestedKey(
                    keyID: [1], name: "a", publicKey: [2], environment: "production", appID: "c", digest: [3]),
                at: TurnedClock.start)
            _ = try store.attestationSecret(of: 1, orNew: [0, 255])
            let attested = ReportAttestation(
                .attested, of: "a", use: AssertionUse(keyID: [1], counter: 1, network: [5]))
            try store.add([try Self.report("a.example", attestation: attested)], countedBy: "a")
            let plan = StoredRotation(name: "a", host: "b", storedAt: TurnedClock.start, bytes: [0, 255])
            #expect(try store.put(plan, if: .absent) == .stored(isNew: true))
            #expect(try store.add(StoredLogs(name: "a", storedAt: TurnedClock.start, bytes: [0, 255])))
            let columns = StoredSighting.columns
            try store.connection.execute(
                "INSERT INTO sighting (\(columns.joined(separator: ", "))) VALUES "
                    + "(\(columns.map { _ in "?" }.joined(separator: ", ")))",
                [
                    .text("a"), .text("d"), .text("unknown"), .text("h"), .integer(1), .text("l"), .text("k"), .null,
                    .integer(1), .integer(2), .integer(0), .text(""), .null, .integer(3), .text("t"), .null, .null,
                    .null, .text("01"), .text("i"), .text(""), .text("h"), .blob([0, 255]),
                ])
            try store.keep(sightingIssuers: ["k": [0, 255]], of: "a", at: TurnedClock.start)
            try store.connection.execute(
                "INSERT INTO unlisted_sighting (name, count, last_at) VALUES ('a', 7, 1)", [])
            try store.connection.execute(
                "INSERT INTO sighted_network (key, day, instance, networks) VALUES ('k', 1, 'a', 10)", [])
        }
    }

    @Test("all is there, and what comes after it goes on", arguments: Pair.all)
    func allIsThereAndWhatComesAfterItGoesOn(pair: Pair) async throws {
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
                #expect(highest == [[Int64(2 * StoreMove.page + 7), Int64(2 * StoreMove.page + 7)]])
            }
        }
    }

    /// Values at the ends of what columns hold, in the tables that the third migration made or changed.
    static func fillOddly(_ store: any ServiceStore) async throws {
        let odd = "\u{1F512} ' \" \\ \n é e\u{301} \u{202E}"
        try await store.write { store in
            for (table, columns, values) in [
                (
                    "publication", "number, name, version, digest, published_at, issued_at, expires_at, changes",
                    [.integer(90), .text(odd), .integer(.max), .text(""), .integer(-1), .null, .integer(.min), .null]
                ),
                (
                    "publication", "number, name, version, digest, published_at, issued_at, expires_at, changes",
                    [.integer(91), .text(odd), .integer(.min), .text("d"), .integer(0), .integer(1), .null, .blob([])]
                ),
                (
                    "alarm_message", "key, kind, severity, begun_at, next_at",
                    [.text(odd), .text("later-kind"), .text("later"), .integer(.min), .integer(.max)]
                ),
                (
                    "alarm", "key, kind, severity, detail, since, message, told, acknowledged_at, acknowledged_by",
                    [
                        .text(odd), .text("x"), .text("later"), .text(odd), .integer(0), .integer(1), .text("warning"),
                        .integer(5), .text(odd),
                    ]
                ),
                (
                    "alarm_silence", "what, severity, ends_at, made_at, made_by, reason",
                    [.text(odd), .text("later"), .integer(.max), .integer(.min), .text(odd), .text("")]
                ),
                ("alert_target", "name, instance, seen_at", [.text(odd), .text(""), .integer(.max)]),
                (
                    "report_rate", "host, name, since, per_million",
                    [.text(odd), .text(""), .integer(.min), .integer(1)]
                ),
                (
                    "audit_seal", "period, first_number, last_number, head, previous, entry",
                    [.text("0001-01"), .integer(1), .integer(.max), .text(odd), .text(""), .integer(.max)]
                ),
                ("login_code", "hash, owner, ends_at", [.blob([0, 255, 0]), .text(odd), .integer(.max)]),
                (
                    "probe", "name, host, at, ok, result, missed_at, missed",
                    [.text(odd), .text(""), .integer(.min), .integer(0), .blob([]), .integer(.max), .text("")]
                ),
                ("delivery", "target, at, trouble, lost", [.text(odd), .integer(0), .null, .integer(.max)]),
                (
                    "token", "id, scope, names, hash, made_at, revoked_at, label, owner, ends_at",
                    [
                        .text(odd), .text("read"), .text(""), .blob([0]), .integer(0), .null, .text(odd), .text(odd),
                        .integer(.max),
                    ]
                ),
            ] as [(String, String, [SQLValue])] {
                let marks = values.map { _ in "?" }.joined(separator: ", ")
                try store.connection.execute("INSERT INTO \(table) (\(columns)) VALUES (\(marks))", values)
            }
        }
    }

    /// The columns of each table of the service, whose turn it is and which migrations there were left out.
    private static func columns(_ store: any ServiceStore, _ tested: TestedStore) async throws -> [String: Set<String>]
    {
        let sql =
            tested == .sqlite
            ? """
            SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%'
            """
            : """
            SELECT table_name, column_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name NOT LIKE 'report\\_day\\_%'
            """
        var columns: [String: Set<String>] = [:]
        for row in try await store.read({ try $0.connection.rows(sql, []) }) {
            columns[try row.text(0), default: []].insert(try row.text(1))
        }
        for left in ["migration", "turn"] { columns[left] = nil }
        return columns
    }

    @Test("every column of every table is moved", arguments: TestedStore.all)
    func everyColumnOfEveryTableIsMoved(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let moved = Dictionary(uniqueKeysWithValues: StoreMove.tables.map { ($0.name, Set($0.columns)) })
            let found = try await Self.columns(try open(), tested)
            #expect(found == moved)
        }
    }

    @Test("there and back again nothing has changed, row by row, at the ends of what columns hold", arguments: Pair.all)
    func thereAndBackAgainNothingHasChangedRowByRowAtTheEndsOfWhatColumnsHold(pair: Pair) async throws {
        let repository = try RepositorySimulator.story()
        try await pair.from.withDatabase { openSource in
            try await pair.to.withDatabase { openMiddle in
                try await pair.from.withDatabase { openEnd in
                    let (source, middle, end) = (try openSource(), try openMiddle(), try openEnd())
                    try await Self.fill(source, repository)
                    try await Self.fillOddly(source)
                    let before = try await Self.dump(source)
                    try await StoreMove(from: source, to: middle).run { _, _ in }
                    try await StoreMove(from: middle, to: end).run { _, _ in }
                    #expect(try await Self.dump(middle) == before)
                    #expect(try await Self.dump(end) == before)
                    #expect(try await Self.dump(source) == before)
                }
            }
        }
    }

    @Test("a target that has anything is left as it is")
    func targetThatHasAnythingIsLeftAsItIs() async throws {
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

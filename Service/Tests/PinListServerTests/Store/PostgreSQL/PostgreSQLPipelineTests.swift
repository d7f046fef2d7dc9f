// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Statements that nothing waits for, sent at once", .needsPostgreSQL, .runsPostgreSQL)
struct PostgreSQLPipelineTests {
    /// A session, and each connection that it made.
    private final class Watched {
        private(set) var connections: [PostgreSQLConnection] = []
        private let connect: () throws -> PostgreSQLConnection
        lazy var session = PostgreSQLSession { [unowned self] in
            let connection = try self.connect()
            self.connections.append(connection)
            return connection
        }

        init(_ connect: @escaping () throws -> PostgreSQLConnection) { self.connect = connect }

        /// How often the server was waited for, over all connections.
        var roundTrips: Int { self.connections.reduce(0) { $0 + $1.roundTrips } }
    }

    private static let evidence = SQLInsertion(into: "evidence", ["digest", "name", "at", "envelope"])

    private let server: TestPostgreSQL

    init() throws { self.server = try #require(TestPostgreSQL.current) }

    /// A session on a database with all tables.
    private func session(_ name: String, pipelined: Bool = true) throws -> Watched {
        var limits = PostgreSQLLimits()
        limits.isPipelined = pipelined
        let (address, chosen) = (try self.server.address(name), limits)
        return Watched { try PostgreSQLConnection(address, chosen) }
    }

    private func database() throws -> String {
        let name = try self.server.makeDatabase()
        _ = try self.server.open(name)
        return name
    }

    private static func row(_ digest: String, at time: Int64? = 1) -> [SQLValue] {
        [.text(digest), .text("n"), .optional(time), .blob([1])]
    }

    private static func count(_ table: String, in store: StoreTransaction) throws -> Int64? {
        try store.connection.rows("SELECT COUNT(*) FROM \(table)", []).first?.integer(0)
    }

    private static func reports(_ count: Int, chain: Bool, isListed: Bool) throws -> [AcceptedReport] {
        try (0..<count).map { number in
            let report = try ReportText.report(
                chain: chain ? SketchedChain.chain(leafKey: number % 3) : [],
                [("noted-hostname", .string("h\(number % 5).example"))])
            let networks = NetworkCounter.Count(
                day: TurnedClock.start.hour / 24, networks: BoundedCount(number + 1, isMore: false))
            return AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: networks,
                isSample: false, isListed: isListed, body: report.document)
        }
    }

    @Test(
        "a batch of reports waits for the server twice, and four times where leaves and strangers' hosts are looked up",
        arguments: [
            (true, 60, false, true, 2), (true, 60, true, false, 4), (true, 3, false, true, 2),
            (true, 300, false, true, 4),
            (false, 60, false, true, 8), (false, 60, true, false, 10),
        ])
    func batchOfReportsWaitsForTheServerTwice(
        _ pipelined: Bool, _ count: Int, _ chain: Bool, _ isListed: Bool, _ expected: Int
    ) throws {
        let name = try self.database()
        let watched = try self.session(name, pipelined: pipelined)
        let reports = try Self.reports(count, chain: chain, isListed: isListed)
        // Groups, the day and prepared statements are there from the third on: the first ones have bodies.
        var (before, batches) = (0, 20)
        for _ in 0..<batches {
            before = watched.roundTrips
            try watched.session.write(as: nil) { try $0.add(reports, countedBy: "a") }
        }
        #expect(watched.roundTrips - before == expected)
        #expect(watched.connections.count == 1)
        batches *= count
        let stored = try watched.session.read { store in
            try [Self.count("report", in: store)]
                + ["group_count", "group_hour", "report_hour"].map { table in
                    try store.connection.rows("SELECT CAST(SUM(count) AS BIGINT) FROM \(table)", []).first?.integer(0)
                }
        }
        #expect(stored == Array(repeating: Int64(batches), count: 4))
    }

    @Test(
        "an error in the first, a middle or the last statement takes all of it back, and the connection goes on",
        arguments: [0, 1, 2], [true, false])
    func errorInTheFirstAMiddleOrTheLastStatementTakesAllOfItBack(_ bad: Int, _ pipelined: Bool) throws {
        let watched = try self.session(try self.database(), pipelined: pipelined)
        for isAsked in [false, true] {
            let error = #expect(throws: StoreError.self) {
                try watched.session.write(as: nil) { store in
                    for number in 0..<3 {
                        try store.connection.insert(
                            [Self.row("d\(number)"), Self.row("e\(number)", at: number == bad ? nil : 1)],
                            Self.evidence)
                    }
                    // Either a question or the commit is what they go with.
                    if isAsked { _ = try Self.count("evidence", in: store) }
                }
            }
            #expect(error?.detail.contains("23502") == true)
            #expect(try watched.session.read { try Self.count("evidence", in: $0) } == 0)
        }
        try watched.session.write(as: nil) { try $0.connection.insert([Self.row("d")], Self.evidence) }
        #expect(try watched.session.read { try Self.count("evidence", in: $0) } == 1)
        #expect(watched.connections.count == 1)
    }

    @Test("a caller that goes on after an error among them has changed nothing, and gets an error")
    func callerThatGoesOnAfterAnErrorAmongThemHasChangedNothingAndGetsAnError() throws {
        let watched = try self.session(try self.database())
        let error = #expect(throws: StoreError.self) {
            try watched.session.write(as: nil) { store in
                try store.connection.insert([Self.row("a", at: nil)], Self.evidence)
                _ = try? Self.count("evidence", in: store)
                try store.connection.insert([Self.row("b")], Self.evidence)
            }
        }
        #expect(error?.detail.contains("25P02") == true)
        #expect(try watched.session.read { try Self.count("evidence", in: $0) } == 0)
        #expect(watched.connections.count == 1)
    }

    @Test("what a body inserted before it threw is never sent")
    func whatABodyInsertedBeforeItThrewIsNeverSent() throws {
        struct Stop: Error {}
        let watched = try self.session(try self.database())
        #expect(throws: Stop.self) {
            try watched.session.write(as: nil) { store in
                try store.connection.insert([Self.row("a")], Self.evidence)
                throw Stop()
            }
        }
        try watched.session.write(as: nil) { try $0.connection.insert([Self.row("b")], Self.evidence) }
        let digests = try watched.session.read {
            try $0.connection.rows("SELECT digest FROM evidence", []).map { try $0.text(0) }
        }
        #expect(digests == ["b"])
    }

    @Test("within what only reads an insertion is refused, not left out")
    func withinWhatOnlyReadsAnInsertionIsRefusedNotLeftOut() throws {
        let watched = try self.session(try self.database())
        let error = #expect(throws: StoreError.self) {
            try watched.session.read { try $0.connection.insert([Self.row("a")], Self.evidence) }
        }
        #expect(error?.detail.contains("25006") == true)
    }

    @Test(
        "a connection that is cut in the middle of them leaves nothing, and another one is made",
        arguments: [false, true])
    func connectionThatIsCutInTheMiddleOfThemLeavesNothingAndAnotherOneIsMade(_ isAsked: Bool) throws {
        let name = try self.database()
        try self.server.administer(
            """
            CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NULL; END $$;
            CREATE TRIGGER ends AFTER INSERT ON root FOR EACH ROW EXECUTE FUNCTION ends()
            """, in: name)
        let watched = try self.session(name)
        let root = SQLInsertion(into: "root", ["name", "version", "envelope"])
        let error = #expect(throws: StoreError.self) {
            try watched.session.write(as: nil) { store in
                try store.connection.insert([Self.row("a")], Self.evidence)
                try store.connection.insert([[.text("a"), .integer(1), .blob([1])]], root)
                try store.connection.insert([Self.row("b")], Self.evidence)
                if isAsked { _ = try Self.count("evidence", in: store) }
            }
        }
        // With the commit behind them all of it may have been done.
        #expect(error?.code == (isAsked ? .unavailable : .unknownOutcome))
        #expect(try watched.session.read { try Self.count("evidence", in: $0) } == 0)
        try watched.session.write(as: nil) { try $0.connection.insert([Self.row("c")], Self.evidence) }
        #expect(try watched.session.read { try Self.count("evidence", in: $0) } == 1)
        #expect(watched.connections.count == 2)
    }

    @Test("more than a megabyte is sent before anything is asked, and more than fits into a socket arrives")
    func moreThanAMegabyteIsSentBeforeAnythingIsAskedAndMoreThanFitsIntoASocketArrives() throws {
        let watched = try self.session(try self.database())
        let envelope = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        try watched.session.write(as: nil) { store in
            for number in 0..<7 {
                let row: [SQLValue] = [.text("d\(number)"), .text("n"), .integer(1), .blob(envelope)]
                try store.connection.insert([row], Self.evidence)
            }
            // Of seven six were sent, three and three.
        }
        let lengths = try watched.session.read {
            try $0.connection.rows("SELECT length(envelope) FROM evidence", []).map { try $0.integer(0) }
        }
        #expect(lengths == Array(repeating: 400_000, count: 7))
    }

    @Test("rows with any pattern of nulls are one statement, and come back as they were")
    func rowsWithAnyPatternOfNullsAreOneStatementAndComeBackAsTheyWere() throws {
        let watched = try self.session(try self.server.makeDatabase())
        _ = try watched.session.write(as: nil) { try $0.connection.execute(TestedStore.postgreSQL.trialTable, []) }
        let insertion = SQLInsertion(into: "trial", ["number", "part", "words", "bytes"])
        let rows = (0..<64).map { number -> [SQLValue] in
            let words = number & 4 == 0 ? "" : "a,{}\"\\NULL\u{0}é\(number)"
            let bytes: [UInt8] = number & 16 == 0 ? [] : [0, 255, 92]
            let part: SQLValue = number & 1 == 0 ? .null : .real(0.5)
            let text: SQLValue = number & 2 == 0 ? .null : .text(words)
            return [.integer(Int64(number) - 5), part, text, number & 8 == 0 ? .null : .blob(bytes)]
        }
        let stored = rows.map { $0.map(Self.stored) }
        for part in [rows[...], rows[0..<1], rows[2..<3]] {
            let before = watched.roundTrips
            try watched.session.write(as: nil) { try $0.connection.insert(Array(part), insertion) }
            // BEGIN, the statement that is prepared, and both it and COMMIT.
            #expect(watched.roundTrips - before <= 3)
            let found = try watched.session.write(as: nil) { store in
                let found = try store.connection.rows(
                    "SELECT number, part, words, bytes FROM trial ORDER BY number", [])
                try store.connection.execute("DELETE FROM trial", [])
                return found.map(\.values)
            }
            #expect(found == Array(stored[part.indices]))
        }
        let mixed = #expect(throws: StoreError.self) {
            try watched.session.write(as: nil) {
                try $0.connection.insert([rows[1], [.text("x"), .null, .null, .null]], insertion)
            }
        }
        #expect(mixed?.code == .damaged)
    }

    private static func stored(_ value: SQLValue) -> SQLValue {
        if case .text(let text) = value { return .text(PostgreSQLParameters.stored(text)) }
        return value
    }
}

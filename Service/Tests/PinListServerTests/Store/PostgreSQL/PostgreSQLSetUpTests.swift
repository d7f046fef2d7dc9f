// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Logging
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The setup of a PostgreSQL database", .needsPostgreSQL, .runsPostgreSQL)
struct PostgreSQLSetUpTests {
    private let server: TestPostgreSQL

    init() throws { self.server = try #require(TestPostgreSQL.current) }

    private func open(_ address: PostgreSQLAddress, clock: any ServiceClock = HastyClock()) throws -> PostgreSQLStore {
        try PostgreSQLStore(address: address, clock: clock, limits: PostgreSQLLimits())
    }

    @Test("a database without tables is not filled by a command that looks for some")
    func databaseWithoutTablesIsNotFilledByACommandThatLooksForSome() throws {
        let address = try self.server.address(try self.server.makeDatabase())
        func open(_ purpose: StoreLocation.Purpose) throws {
            _ = try PostgreSQLStore(address: address, clock: HastyClock(), limits: PostgreSQLLimits(), for: purpose)
        }
        for _ in 0..<2 {
            let failure = #expect(throws: StoreError.self) { try open(.adding) }
            #expect(failure?.code == .absent)
        }
        try open(.serving)
        try open(.adding)
    }

    @Test("tables of an older version are left by what reads or adds; what reads changes nothing of today's")
    func tablesOfAnOlderVersionAreLeftByWhatReadsOrAdds() async throws {
        let name = try self.server.makeDatabase()
        let address = try self.server.address(name)
        func open(_ purpose: StoreLocation.Purpose) throws -> PostgreSQLStore {
            try PostgreSQLStore(address: address, clock: HastyClock(), limits: PostgreSQLLimits(), for: purpose)
        }
        _ = try open(.serving)
        let reader = try open(.reading)
        #expect(try await reader.read { try $0.newestAuditEntry() } == nil)
        let note: @Sendable (StoreTransaction) throws -> Void = {
            try $0.log("note", "x", by: "test", at: Timestamp(secondsSince1970: 0))
        }
        let written = await #expect(throws: StoreError.self) { try await reader.write(note) }
        let appended = await #expect(throws: StoreError.self) { try await reader.append(note) }
        #expect([written, appended] == [.openedForReading, .openedForReading])
        try self.server.administer("DELETE FROM migration WHERE number > 2", in: name)
        for purpose in [StoreLocation.Purpose.reading, .adding] {
            let error = #expect(throws: StoreError.self) { try open(purpose) }
            #expect(error?.code == .outdated)
        }
    }

    @Test("eight instances that start at once make the tables once")
    func eightInstancesThatStartAtOnceMakeTheTablesOnce() async throws {
        let name = try self.server.makeDatabase()
        let server = self.server
        let stores = try await withThrowingTaskGroup(of: PostgreSQLStore.self) { group in
            for _ in 0..<8 { group.addTask { try server.open(name) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for store in stores { try await store.note("x") }
        #expect(try await stores.last?.notes().count == 8)
        let migrations = try await stores[0].read { try $0.connection.rows("SELECT number FROM migration", []).count }
        #expect(migrations == StoreSchema.migrations(StoreSchema.postgreSQL).count)
    }

    @Test("a password comes from a file; a wrong one is refused by the server, and shown nowhere")
    func passwordComesFromAFileAWrongOneIsRefusedByTheServerAndShownNowhere() async throws {
        let name = try self.server.makeDatabase()
        try self.server.administer("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        try self.server.administer("GRANT ALL ON SCHEMA public TO guarded", in: name)
        for (file, password) in [("wrong", "wr0ng"), ("right", "right")] {
            let path = self.server.folder.appendingPathComponent(file)
            try Data("*:*:*:guarded:\(password)\n".utf8).write(to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
        }
        let folder = self.server.folder.path
        let error = #expect(throws: StoreError.self) {
            try self.open(try self.server.address(name, user: "guarded", "&passfile=\(folder)/wrong"))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.detail.contains("password authentication failed") == true)
        #expect(error?.detail.contains("wr0ng") == false)
        let store = try self.open(try self.server.address(name, user: "guarded", "&passfile=\(folder)/right"))
        try await store.note("in")
        #expect(try await store.notes() == ["in"])
    }

    @Test("a database that there is not is not made")
    func databaseThatThereIsNotIsNotMade() throws {
        let error = #expect(throws: StoreError.self) { try self.open(try self.server.address("nowhere")) }
        #expect(error?.code == .unavailable)
        #expect(error?.detail.contains("\"nowhere\" does not exist") == true)
    }

    @Test("a server that there is not is asked again only after a pause, which grows")
    func serverThatThereIsNotIsAskedAgainOnlyAfterAPauseWhichGrows() throws {
        let clock = SetClock()
        let address = try PostgreSQLAddress("postgres:///x?host=\(self.server.folder.path)/nothing")
        let reconnection = PostgreSQLReconnection(address, PostgreSQLLimits(), clock)
        func detail() -> String? {
            do {
                _ = try reconnection.connect()
                return nil
            } catch { return (error as? StoreError)?.detail }
        }
        let pausing = "there was no connection a moment ago"
        #expect(detail()?.hasPrefix(pausing) == false)
        #expect(detail()?.hasPrefix(pausing) == true)
        clock.uptime = 0.25
        #expect(detail()?.hasPrefix(pausing) == false)
        clock.uptime = 0.7
        #expect(detail()?.hasPrefix(pausing) == true)
        clock.uptime = 0.75
        #expect(detail()?.hasPrefix(pausing) == false)
    }

    @Test("texts in another encoding are refused, with what to do")
    func textsInAnotherEncodingAreRefusedWithWhatToDo() throws {
        let name = try self.server.makeDatabase("ENCODING 'SQL_ASCII'")
        let error = #expect(throws: StoreError.self) { try self.server.open(name) }
        #expect(error?.code == .unsupported)
        #expect(error?.detail.contains("TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'") == true)
    }

    @Test("an accepted report is on the disk, under any setting of the database")
    func acceptedReportIsOnTheDiskUnderAnySettingOfTheDatabase() async throws {
        let name = try self.server.makeDatabase()
        try self.server.administer("ALTER DATABASE \(name) SET synchronous_commit = off")
        let setting = try await self.server.open(name).write { store in
            try store.connection.rows("SELECT current_setting('synchronous_commit')", []).first?.text(0)
        }
        #expect(setting == "on")
    }

    @Test("a database that takes no changes: it is read, and says why it takes none")
    func databaseThatTakesNoChangesItIsReadAndSaysWhyItTakesNone() async throws {
        let name = try self.server.makeDatabase()
        try await self.server.open(name).note("before")
        try self.server.administer("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        let store = try self.server.open(name)
        #expect(try await store.notes() == ["before"])
        let error = await #expect(throws: StoreError.self) { try await store.note("refused") }
        #expect(error?.code == .unavailable)
        #expect(error?.detail.contains("read-only") == true)
    }

    @Test("a service that does not own the tables works, and cannot take the log's guard away")
    func serviceThatDoesNotOwnTheTablesWorksAndCannotTakeTheLogsGuardAway() async throws {
        let name = try self.server.makeDatabase()
        _ = try self.server.open(name)
        try self.server.administer(
            """
            CREATE ROLE runner LOGIN;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO runner;
            REVOKE UPDATE ON audit FROM runner;
            REVOKE UPDATE, DELETE ON audit_seal FROM runner;
            REVOKE INSERT, UPDATE, DELETE ON migration FROM runner
            """, in: name)
        let store = try self.open(try self.server.address(name, user: "runner"))
        let time = Timestamp(secondsSince1970: 1_795_219_200)
        let simulator = try RepositorySimulator(at: time)
        let publisher = Publisher(store: store, anchors: [simulator.root.name: simulator.roots[0]])
        let changes = try await publisher.publish(
            [simulator.roots[0], simulator.lists[0]], name: simulator.root.name, by: "cli", at: time)
        #expect(changes == [.root(1), .list(1)])
        // Days of reports are tables, which it makes and drops all the same.
        let reports = try [0, 5].map { try StoreMoveTests.report("a.example", at: time.before($0 * 86_400)) }
        try await store.append { try $0.add(reports, countedBy: "a") }
        #expect(try await store.write { try $0.removeReports(before: time, limit: 10) } == 1)
        let refused = [
            "DROP TRIGGER audit_is_appended_to ON audit", "ALTER TABLE audit DISABLE TRIGGER ALL", "TRUNCATE audit",
            "UPDATE audit SET detail = 'x'", "DROP TABLE audit", "DROP TABLE report",
            "UPDATE migration SET number = 99",
            "DELETE FROM audit_seal", "UPDATE audit_seal SET last_number = 9", "DROP TRIGGER audit_is_sealed ON audit",
        ]
        for sql in refused {
            let error = await #expect(throws: StoreError.self, "\(sql)") {
                try await store.write { _ = try $0.connection.execute(sql, []) }
            }
            #expect(error?.detail.contains("42501") == true)
        }
        let error = await #expect(throws: StoreError.self) {
            try await store.write { _ = try $0.connection.execute("DELETE FROM audit", []) }
        }
        #expect(error?.detail.contains("the audit log is only appended to") == true)
        #expect(try await store.notes().count == 2)
        // Two years later it has the right to remove what is sealed.
        let later = TurnedClock(Timestamp(secondsSince1970: time.secondsSince1970 + 2 * 366 * 86_400))
        await Retention(
            store: store, limits: .init(), clock: later, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).look()
        #expect(try await store.read { try $0.auditEntries(from: 1, limit: 9) }.map(\.action) == ["seal"])
    }

    @Test("a role that only reads can neither make days of reports nor drop them")
    func roleThatOnlyReadsCanNeitherMakeDaysOfReportsNorDropThem() async throws {
        let name = try self.server.makeDatabase()
        let store = try self.server.open(name)
        try await store.append { try $0.add([try StoreMoveTests.report("a.example")], countedBy: "a") }
        try self.server.administer(
            """
            CREATE ROLE viewer LOGIN;
            GRANT USAGE ON SCHEMA public TO viewer;
            GRANT SELECT ON ALL TABLES IN SCHEMA public TO viewer
            """, in: name)
        let viewer = try PostgreSQLConnection(try self.server.address(name, user: "viewer"), PostgreSQLLimits())
        #expect(try viewer.query("SELECT COUNT(*) FROM report").firstText == "1")
        for sql in ["SELECT report_days_end(99999, 0)", "SELECT report_day_make(99999)"] {
            let error = #expect(throws: StoreError.self) { _ = try viewer.query(sql) }
            #expect(error?.detail.contains("42501") == true)
        }
        #expect(try viewer.query("SELECT COUNT(*) FROM report").firstText == "1")
        #expect(try viewer.query("SELECT COUNT(*) FROM report_day_parts()").firstText == "1")
        // Each function asks for the right to do what it does.
        try self.server.administer("GRANT INSERT ON report TO viewer", in: name)
        #expect(try viewer.query("SELECT report_day_make(99999)").firstText == "t")
        #expect(throws: StoreError.self) { _ = try viewer.query("SELECT report_days_end(99999, 0)") }
    }

    @Test("the owner cannot empty the log by mistake either")
    func ownerCannotEmptyTheLogByMistakeEither() async throws {
        let store = try self.server.open()
        try await store.note("kept")
        await #expect(throws: StoreError.self) {
            try await store.write { _ = try $0.connection.execute("TRUNCATE audit", []) }
        }
        #expect(try await store.notes() == ["kept"])
    }

    @Test("a text with U+0000 is kept, with U+FFFD in its place, and the log's chain holds over it")
    func textWithU0000IsKeptWithUFFFDInItsPlaceAndTheLogsChainHoldsOverIt() async throws {
        let store = try self.server.open()
        try await store.note("a\0b")
        try await store.note("c")
        #expect(try await store.notes() == ["a\u{FFFD}b", "c"])
        var chain = AuditChain()
        for entry in try await store.read({ try $0.auditEntries(from: 1, limit: 10) }) { try chain.append(entry) }
        #expect(chain.count == 2)
    }

    @Test("the size is that of what is there: what was deleted does not count")
    func sizeIsThatOfWhatIsThereWhatWasDeletedDoesNotCount() async throws {
        let name = try self.server.makeDatabase()
        let store = try self.server.open(name)
        let body = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
        try await store.write { store in
            for number: Int64 in 0..<100 {
                try store.connection.execute(
                    "INSERT INTO evidence (digest, name, at, envelope) VALUES (?, ?, ?, ?)",
                    [.text("\(number)"), .text("a"), .integer(1), .blob(body)])
            }
        }
        // Counts of rows come a little later otherwise.
        try self.server.administer("ANALYZE", in: name)
        let full = try await store.size()
        #expect((1_000_000..<1_200_000).contains(full))
        try await store.write {
            _ = try $0.connection.execute("DELETE FROM evidence WHERE at > ?", [.integer(0)])
        }
        try self.server.administer("ANALYZE", in: name)
        let empty = try await store.size()
        #expect(empty < 10_000)
    }

    @Test("a copy is made by PostgreSQL's own tool, and the error names it")
    func copyIsMadeByPostgreSQLsOwnToolAndTheErrorNamesIt() async throws {
        let store = try self.server.open()
        let error = await #expect(throws: StoreError.self) { try await store.backUp(to: "/tmp/never") }
        #expect(error?.code == .unsupported)
        #expect(error?.detail.contains("pg_dump") == true)
    }
}

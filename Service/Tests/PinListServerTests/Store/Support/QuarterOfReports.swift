// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import PinListServer
@testable import PinListStore

/// Ninety days of reports and requests in the tables as the second migration left them: 100 hosts, 3,000 groups, 300,000
/// reports, 216,000 hours of hosts, 180,000 of groups, 129,600 counts of requests, 20,000 entries of the audit log.
///
/// The second migration never changes, so this needs no change when a later one moves columns: that one moves the rows. What
/// later ones made is filled in a second step.
struct QuarterOfReports {
    /// The number of groups.
    static let groups: Int64 = 3_000
    /// The number of reports.
    static let reports: Int64 = 300_000
    /// The days.
    static let days: Int64 = 90

    /// The time of the newest report, in seconds since 1970.
    let now: Int64
    /// The name whose requests are counted, beside four others.
    let name: String

    /// The id of a group: its number in 64 digits.
    static func id(_ number: Int64) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Makes the tables anew, as the second migration left them, and fills them.
    func lay(in connection: some SQLConnection, _ tested: TestedStore) throws {
        let dialect = tested.dialect
        if tested == .sqlite {
            let tables = try connection.rows(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'", [])
            for table in tables { try connection.execute("DROP TABLE \(try table.text(0))", []) }
        } else {
            for statement in ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"] {
                try connection.execute(statement, [])
            }
        }
        try connection.execute("CREATE TABLE migration (number \(dialect.integer) PRIMARY KEY)", [])
        for (index, statements) in StoreSchema.migrations(dialect).prefix(2).enumerated() {
            for statement in statements { try connection.execute(statement, []) }
            try connection.execute("INSERT INTO migration (number) VALUES (?)", [.integer(Int64(index + 1))])
        }
        try self.fill(self.tables(dialect), in: connection)
        if tested != .sqlite { try self.continueNumbers(of: self.tables(dialect).map(\.table), in: connection) }
    }

    /// Fills tables that later migrations made: 10,000 certificates of logs and 36,000 hours of attestation
    /// of fifty names, 300 rates, 3,000 counted hosts and 3,000 proofs of fifty names. Of fewer names PostgreSQL would read all,
    /// and be right.
    func layLater(in connection: some SQLConnection, _ tested: TestedStore) throws {
        try self.fill(self.laterTables(tested.dialect), in: connection)
    }

    private func fill(_ tables: [Table], in connection: some SQLConnection) throws {
        for (table, rows, columns) in tables {
            let count =
                "WITH RECURSIVE n (i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows - 1))"
            let names = columns.map(\.name).joined(separator: ", ")
            let values = columns.map(\.value).joined(separator: ", ")
            try connection.execute("INSERT INTO \(table) (\(names)) \(count) SELECT \(values) FROM n", [])
        }
    }

    /// The connection's own function knows the tables of today alone.
    private func continueNumbers(of tables: [String], in connection: some SQLConnection) throws {
        for table in tables {
            let numbers = try connection.rows(
                "SELECT pg_get_serial_sequence('\(table)', column_name) FROM information_schema.columns WHERE table_name = '\(table)' AND column_name = 'number' AND is_identity = 'YES'",
                [])
            guard let sequence = try numbers.first?.text(0) else { continue }
            _ = try connection.rows("SELECT setval('\(sequence)', (SELECT MAX(number) FROM \(table)))", [])
        }
    }

    private typealias Column = (name: String, value: String)
    private typealias Table = (table: String, rows: Int64, columns: [Column])

    /// The name where a number is 0, and other ones for other numbers.
    private func named(_ number: String) -> String {
        "CASE \(number) WHEN 0 THEN '\(self.name)' ELSE 'name' || CAST(\(number) AS TEXT) END"
    }

    private func laterTables(_ dialect: StoreSchema.Dialect) -> [Table] {
        let (hour, today, day) = (self.now / 3_600, self.now / 86_400, Int64(86_400))
        let zeros = String(repeating: "0", count: 64)
        let host = "'h' || CAST(i % 100 AS TEXT) || '.example.com'"
        let certificate = String(repeating: "c", count: 800)
        return [
            (
                "sighting", 10_000,
                [
                    ("name", self.named("i / 200")),
                    ("digest", "SUBSTR('\(zeros)', 1, 64 - LENGTH(CAST(i + 1 AS TEXT))) || CAST(i + 1 AS TEXT)"),
                    ("state", "CASE i % 7 WHEN 0 THEN 'unknown' ELSE 'issuer' END"), ("host", host),
                    ("is_enforced", "1"), ("judged", "'earlier'"), ("key", "'sha256/' || CAST(i % 500 AS TEXT)"),
                    ("served_at", "NULL"), ("not_before", "\(self.now - 90 * day)"),
                    ("not_after", "\(self.now + day) + i"), ("is_precertificate", "i % 2"), ("log", "'log'"),
                    ("logged_at", "NULL"), ("first_at", "\(self.now) - i * 700"), ("told_by", "'monitor'"),
                    ("acknowledged_at", "NULL"), ("acknowledged_by", "NULL"), ("acknowledged_as", "NULL"),
                    ("serial", "CAST(i AS TEXT)"), ("issuer", "'Issuer'"), ("issuers", "''"), ("names", host),
                    ("certificate", "CAST('\(certificate)' AS \(dialect.bytes))"),
                ]
            ),
            (
                "attestation_hour", 36_000,
                [
                    ("name", self.named("i / 720")), ("hour", "\(hour) - i % 720"),
                    ("host", "'h1.example.com'"), ("state", "'attested'"),
                    ("instance", "'one'"), ("count", "1 + i % 7"),
                ]
            ),
            (
                "report_rate", 300,
                [
                    ("host", host), ("name", "'\(self.name)'"), ("since", "\(self.now) - 86400 * (1 + i / 100)"),
                    ("per_million", "1000 * (1 + i / 100)"),
                ]
            ),
            (
                "counted_host", 3_000,
                [("day", "\(today) - i / 100"), ("name", self.named("i % 50")), ("host", host), ("instance", "'one'")]
            ),
            (
                "evidence", 3_000,
                [
                    ("digest", "'payload ' || CAST(i AS TEXT)"), ("name", self.named("i % 50")),
                    ("at", "\(self.now) - i * 2000"), ("envelope", "CAST('\(certificate)' AS \(dialect.bytes))"),
                ]
            ),
        ]
    }

    private func tables(_ dialect: StoreSchema.Dialect) -> [Table] {
        let (hour, day) = (self.now / 3_600, self.now / 86_400)
        let (groups, reports, seconds) = (Self.groups, Self.reports, Self.days * 86_400)
        let zeros = String(repeating: "0", count: 64)
        let text = { (number: String) in "CAST(\(number) AS TEXT)" }
        let padded = "SUBSTR('\(zeros)', 1, 64 - LENGTH(\(text("i + 1")))) || \(text("i + 1"))"
        let host = { (number: String) in "'h' || \(text("\(number) % 100")) || '.example.com'" }
        let group: [Column] = [
            ("number", "i + 1"), ("id", padded), ("kind", "'pin'"), ("reason", "'no-matching-pin'"),
            ("host", host("i")),
            ("app", "'app'"), ("app_version", text("i % 20")), ("list_name", "'\(self.name)'"), ("list_version", "1"),
            ("issuer", "'Issuer ' || \(text("i % 50"))"), ("issuer_pin", "NULL"), ("is_public", "1"),
            ("is_validated", "1"), ("first_at", "\(self.now - seconds)"), ("last_at", "\(self.now) - (i % 90) * 86400"),
            ("count", "33"),
        ]
        let report: [Column] = [
            ("number", "i + 1"), ("group_number", "1 + i % \(groups)"),
            ("received_at", "\(self.now - seconds) + i * \(seconds) / \(reports)"), ("claimed_at", "NULL"),
            ("host", host("i")), ("port", "443"), ("platform", "'IOS 18.0'"), ("leaf_pin", "NULL"), ("signals", "''"),
            ("sampled", "0"),
        ]
        return [
            ("report_group", groups, group), ("report", reports, report),
            (
                "report_body", 10_000,
                [
                    ("report", "i + 1"), ("group_number", "1 + i % \(groups)"),
                    ("body", "CAST('{}' AS \(dialect.bytes))"),
                ]
            ),
            (
                "report_hour", Self.days * 24 * 100,
                [("hour", "\(hour) - i / 100"), ("host", host("i")), ("kind", "'pin'"), ("count", "1 + i % 7")]
            ),
            (
                "group_hour", groups * 60,
                [("group_number", "1 + i % \(groups)"), ("hour", "\(hour) - 36 * (i / \(groups))"), ("count", "1")]
            ),
            (
                "group_network", groups * 20,
                [
                    ("group_number", "1 + i % \(groups)"), ("day", "\(day) - i / \(groups)"), ("instance", "'one'"),
                    ("networks", "1 + i % 90"), ("is_more", "0"),
                ]
            ),
            (
                "group_leaf", groups * 2,
                [
                    ("group_number", "1 + i / 2"), ("pin", "'sha256/' || \(text("i"))"), ("not_before", "NULL"),
                    ("not_after", "NULL"),
                ]
            ),
            (
                "inquiry", Self.days * 24 * 60,
                [
                    ("name", self.named("i % 5")), ("hour", "\(hour) - i / 60"), ("source", "'installation'"),
                    ("digest", "'digest ' || \(text("i % 60"))"), ("count", "3"),
                ]
            ),
            (
                "audit", 20_000,
                [
                    ("number", "i + 1"), ("time", "\(self.now - seconds) + i * \(seconds) / 20000"), ("actor", "'cli'"),
                    ("action", "CASE i % 40 WHEN 0 THEN 'publish' ELSE 'probe' END"), ("detail", "'entry'"),
                    ("previous", "''"),
                ]
            ),
        ]
    }
}

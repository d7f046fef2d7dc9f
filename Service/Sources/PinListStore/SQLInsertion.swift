// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Rows on their way into one table, however many: the statements for one of them and for several.
struct SQLInsertion: Sendable {
    /// A statement for so many rows, whose values follow each other.
    struct Statement: Sendable {
        /// The number of rows.
        let rows: Int
        /// The statement.
        let sql: String
    }

    /// The numbers of rows that statements are prepared for: a batch of any size needs few of them, and they stay
    /// prepared.
    private static let lengths = [64, 16, 4, 1]

    /// The table.
    let table: String
    /// The columns that values are given for.
    let columns: [String]
    /// The clause for a row whose key is there: `ON CONFLICT …`; empty where there is none.
    let conflict: String
    /// The statement for one row.
    let single: Statement
    private let statements: [Statement]

    /// States where rows go.
    init(into table: String, _ columns: [String], _ conflict: String = "") {
        self.table = table
        self.columns = columns
        self.conflict = conflict
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        let head = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES "
        self.statements = Self.lengths.map { length in
            let values = Array(repeating: row, count: length).joined(separator: ", ")
            return Statement(rows: length, sql: "\(head)\(values) \(conflict)")
        }
        self.single = Statement(rows: 1, sql: "\(head)\(row) \(conflict)")
    }

    /// The statement for as many of these rows as one takes.
    func statement(for count: Int) -> Statement { self.statements.first { $0.rows <= count } ?? self.single }
}

/// The clause after a query that locks the rows it finds, where a database has several writers; empty where it has one.
struct SQLRowLocks: Sendable {
    /// Keeps the rows of groups from being removed, while others do the same; waits for those that are being removed.
    var shared = ""
    /// Keeps the rows of groups from being removed, while others do the same; skips those that are being removed.
    var sharedIfFree = ""
    /// Takes rows that no other transaction has locked, to change them; skips the others.
    var changed = ""
    /// Takes rows that no other transaction has locked, for this one alone; skips the others.
    var free = ""
}

extension SQLConnection {
    /// The lengths of lists of values in statements: few, so that few statements are prepared.
    private var lengths: [Int] { [1, 4, 16, 64, 256] }

    /// The rows of a query for each of many values.
    ///
    /// - Parameters:
    ///   - values: The values, in any number.
    ///   - sql: The query, given what stands in `IN (…)`.
    func rows(in values: [SQLValue], _ sql: (_ marks: String) -> String) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        var rest = values[...]
        while let last = rest.last {
            let length = self.lengths.first { $0 >= rest.count } ?? 256
            let part = rest.prefix(length)
            rest = rest.dropFirst(length)
            // A value that stands there twice finds its rows once.
            let padded = part + Array(repeating: last, count: length - part.count)
            rows += try self.rows(sql(Array(repeating: "?", count: length).joined(separator: ", ")), Array(padded))
        }
        return rows
    }
}

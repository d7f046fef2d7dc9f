// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A connection to a database, within a transaction. Calls block: a store runs them on threads of its own.
protocol SQLConnection {
    /// The rows of a query.
    ///
    /// - Parameters:
    ///   - sql: The query; `?` stands for each value, in their order, and nowhere else.
    ///   - values: The values.
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow]

    /// Executes a statement.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int

    /// Inserts rows, in as few statements as the database needs. What is refused may be thrown by a later call, or by the
    /// commit.
    ///
    /// - Parameter rows: The values of each, one for each column.
    func insert(_ rows: [[SQLValue]], _ insertion: SQLInsertion) throws

    /// Waits until no other transaction has a lock, and keeps it until this one ends.
    func lock(_ lock: StoreLock) throws

    /// Takes a lock where no other transaction has it, and keeps it until this one ends.
    ///
    /// - Returns: Whether it has it; `false` at once where another transaction does.
    func lockIfFree(_ lock: StoreLock) throws -> Bool

    /// The clause that follows queries that lock rows.
    var rowLocks: SQLRowLocks { get }

    /// The hidden column that says where a row of a table stands; `nil` where tables are walked by their keys.
    var rowPlace: String? { get }

    /// Whether each day's reports have a table of their own, which is dropped as a whole.
    var hasReportDays: Bool { get }

    /// Makes the table of a day of reports, where each day has one and it is not there.
    func makeReportDay(_ day: Int64) throws

    /// The time by the clock of the database's machine, in seconds since 1970; `nil` where that is this machine.
    func serverTime() throws -> Int64?

    /// Has the numbers that the database gives go on after the highest that is there, when rows were copied with theirs.
    func continueNumbers() throws
}

extension SQLConnection {
    func serverTime() throws -> Int64? { nil }

    /// Where there is one writer, each lock is free.
    func lockIfFree(_ lock: StoreLock) throws -> Bool {
        try self.lock(lock)
        return true
    }

    func makeReportDay(_ day: Int64) throws {
        guard self.hasReportDays else { return }
        _ = try self.rows("SELECT report_day_make(?)", [.integer(day)])
    }

    func insert(_ rows: [[SQLValue]], _ insertion: SQLInsertion) throws {
        for row in rows { try self.execute(insertion.single.sql, row) }
    }
}

/// A value of a column.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// A text, or nothing.
    static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }

    /// A number, or nothing.
    static func optional(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
}

/// A row of a result. What is not of the type that is asked for is damage, never a trap.
struct SQLRow: Sendable {
    /// The columns, in the order of the query.
    let values: [SQLValue]

    /// A number.
    func integer(_ column: Int) throws -> Int64 {
        guard let number = try self.optionalInteger(column) else { throw Self.damage(column) }
        return number
    }

    /// A number, or nothing.
    func optionalInteger(_ column: Int) throws -> Int64? {
        switch try self.value(column) {
        case .null: nil
        case .integer(let number): number
        default: throw Self.damage(column)
        }
    }

    /// A text.
    func text(_ column: Int) throws -> String {
        guard let text = try self.optionalText(column) else { throw Self.damage(column) }
        return text
    }

    /// A text, or nothing.
    func optionalText(_ column: Int) throws -> String? {
        switch try self.value(column) {
        case .null: nil
        case .text(let text): text
        default: throw Self.damage(column)
        }
    }

    /// Bytes.
    func blob(_ column: Int) throws -> [UInt8] {
        guard case .blob(let bytes) = try self.value(column) else { throw Self.damage(column) }
        return bytes
    }

    /// Bytes, or nothing.
    func optionalBlob(_ column: Int) throws -> [UInt8]? {
        if case .null = try self.value(column) { return nil }
        return try self.blob(column)
    }

    private func value(_ column: Int) throws -> SQLValue {
        guard self.values.indices.contains(column) else { throw Self.damage(column) }
        return self.values[column]
    }

    private static func damage(_ column: Int) -> StoreError {
        StoreError(.damaged, "column \(column) of a row has another type")
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// A connection to SQLite.
struct SQLiteConnection: SQLConnection {
    let database: Database

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        let statement = try self.database.cachedStatement(sql: sql)
        return try Row.fetchAll(statement, arguments: Self.arguments(values)).map { row in
            SQLRow(
                values: row.databaseValues.map { value in
                    switch value.storage {
                    case .null: .null
                    case .int64(let number): .integer(number)
                    case .double(let number): .real(number)
                    case .string(let text): .text(text)
                    case .blob(let data): .blob([UInt8](data))
                    }
                })
        }
    }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
        let statement = try self.database.cachedStatement(sql: sql)
        try statement.execute(arguments: Self.arguments(values))
        return self.database.changesCount
    }

    /// Many rows a statement, bound without GRDB, which would box each value and tell observers of each statement: that
    /// takes longer than the row (docs/decisions/0049).
    func insert(_ rows: [[SQLValue]], _ insertion: SQLInsertion) throws {
        var rest = rows[...]
        while !rest.isEmpty {
            let next = insertion.statement(for: rest.count)
            let statement = try self.database.cachedStatement(sql: next.sql).sqliteStatement
            // GRDB leaves a statement that it executed as it is, and SQLite binds nothing to one that is not reset.
            sqlite3_reset(statement)
            defer {
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
            var index: Int32 = 0
            for row in rest.prefix(next.rows) {
                for value in row {
                    index += 1
                    try Self.expect(SQLITE_OK, Self.bind(value, index, statement), statement)
                }
            }
            try Self.expect(SQLITE_DONE, sqlite3_step(statement), statement)
            rest = rest.dropFirst(next.rows)
        }
    }

    private static func bind(_ value: SQLValue, _ index: Int32, _ statement: OpaquePointer) -> Int32 {
        // SQLite copies what is bound.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .real(let number): return sqlite3_bind_double(statement, index, number)
        case .text(var text):
            // Without an address it would be a null.
            guard !text.isEmpty else { return sqlite3_bind_text(statement, index, "", 0, copied) }
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    sqlite3_bind_text(
                        statement, index, characters.baseAddress, Int32(clamping: characters.count), copied)
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob(statement, index, $0.baseAddress, Int32(clamping: $0.count), copied)
            }
        }
    }

    private static func expect(_ expected: Int32, _ code: Int32, _ statement: OpaquePointer) throws {
        guard code != expected else { return }
        let message = sqlite3_errmsg(sqlite3_db_handle(statement)).map { String(cString: $0) }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }

    /// SQLite does it by itself.
    /// There is one writer.
    func lock(_ lock: StoreLock) throws {}

    var rowLocks: SQLRowLocks { SQLRowLocks() }

    var rowPlace: String? { nil }

    var hasReportDays: Bool { false }

    func continueNumbers() throws {}

    private static func arguments(_ values: [SQLValue]) -> StatementArguments {
        StatementArguments(
            values.map { value -> DatabaseValue in
                switch value {
                case .null: .null
                case .integer(let number): number.databaseValue
                case .real(let number): number.databaseValue
                case .text(let text): text.databaseValue
                case .blob(let bytes): Data(bytes).databaseValue
                }
            })
    }
}

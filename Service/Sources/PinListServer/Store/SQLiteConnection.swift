// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB

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

    /// SQLite does it by itself.
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListServer
@testable import PinListStore

/// Each store there is; the compatibility tests run on all of them.
enum TestedStore: String, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgreSQL = "PostgreSQL"

    /// The stores that can be had here. A suite that needs PostgreSQL says when it is not among them.
    static var all: [Self] { RunsPostgreSQL.isHere ? [.sqlite, .postgreSQL] : [.sqlite] }

    var testDescription: String { self.rawValue }

    /// Calls with what opens one database, empty at first: each time as another instance of the service would.
    func withDatabase(_ body: (_ open: @escaping @Sendable () throws -> any ServiceStore) async throws -> Void)
        async throws
    {
        switch self {
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appendingPathComponent("service.sqlite").path
            // Others write for long where the disk is slow.
            try await body { try SQLiteStore(path: path, waiting: 600) }
        case .postgreSQL:
            let server = try #require(TestPostgreSQL.current)
            let address = try server.address(try server.makeDatabase())
            try await body { try PostgreSQLStore(address: address, clock: HastyClock(), limits: PostgreSQLLimits()) }
        }
    }

    /// The dialect of the store's SQL.
    var dialect: StoreSchema.Dialect {
        self == .postgreSQL ? StoreSchema.postgreSQL : StoreSchema.sqlite
    }

    /// A table with a column of each kind.
    var trialTable: String {
        let (integer, bytes) = self == .sqlite ? ("INTEGER", "BLOB") : ("BIGINT", "BYTEA")
        return "CREATE TABLE trial (number \(integer), part DOUBLE PRECISION, words TEXT, bytes \(bytes))"
    }
}

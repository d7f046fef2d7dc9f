// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import PinListStore

/// A copy of a database that a service of an earlier day filled. The originals are in `Tests/Fixtures`. They are never
/// made again: a service that is updated has to go on with what is there.
struct KeptDatabase: Sendable {
    /// A table: its columns, and its rows as text, sorted.
    struct Table: Sendable {
        let columns: [String]
        let rows: [String]
    }

    /// The tables as they were left, before anything brought them up to date. Which migrations were made is left out.
    let before: [String: Table]
    /// Opens it, as an instance of the service of today does.
    let open: @Sendable () throws -> any ServiceStore

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Tests/Fixtures")

    /// The folders of releases, the newest last.
    static let released: [String] = {
        let folder = Self.fixtures.appendingPathComponent("released")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.map { "released/\($0)" }
    }()

    /// All folders, the newest last: what was kept before there was a release, and those of releases.
    static let all: [String] = ["before-0.1-2026-11"] + Self.released

    /// Calls with a copy.
    static func with(
        _ fixture: String, on tested: TestedStore, _ body: (KeptDatabase) async throws -> Void
    ) async throws {
        let kept = Self.fixtures.appendingPathComponent("\(fixture)/service")
        switch tested {
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let copy = folder.appendingPathComponent("service.sqlite").path
            try FileManager.default.copyItem(atPath: kept.appendingPathComponent("service.sqlite").path, toPath: copy)
            let queue = try DatabaseQueue(path: copy)
            let before = try await queue.read { try Self.tables(SQLiteConnection(database: $0), tested) }
            try queue.close()
            try await body(KeptDatabase(before: before) { try SQLiteStore(path: copy) })
        case .postgreSQL:
            let server = try #require(TestPostgreSQL.current)
            let database = try server.makeDatabase()
            let dump = try Data(contentsOf: kept.appendingPathComponent("service.sql"))
            try server.administer(String(decoding: dump, as: UTF8.self), in: database)
            let connection = try PostgreSQLConnection(try server.address(database), PostgreSQLLimits())
            let before = try Self.tables(connection, tested)
            try await body(KeptDatabase(before: before) { try server.open(database) })
        }
    }

    private static func tables(_ connection: some SQLConnection, _ tested: TestedStore) throws -> [String: Table] {
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
        var columns: [String: [String]] = [:]
        for row in try connection.rows(sql, []) { columns[try row.text(0), default: []].append(try row.text(1)) }
        columns["migration"] = nil
        return try Dictionary(
            uniqueKeysWithValues: columns.map { name, columns in
                (name, Table(columns: columns, rows: try Self.rows(of: name, columns, connection)))
            })
    }

    /// The rows of a table as text, sorted.
    static func rows(of table: String, _ columns: [String], _ connection: some SQLConnection) throws -> [String] {
        try connection.rows("SELECT \(columns.joined(separator: ", ")) FROM \(table)", [])
            .map { row in row.values.map { "\($0)" }.joined(separator: " ") }.sorted()
    }
}

extension ServiceStore {
    /// The rows of a query as text, a column beside the other.
    func lines(_ sql: String) async throws -> [String] {
        try await self.read { store in
            try store.connection.rows(sql, []).map { row in
                row.values.map { value in
                    switch value {
                    case .text(let text): text
                    case .integer(let number): "\(number)"
                    default: "\(value)"
                    }
                }.joined(separator: " ")
            }
        }
    }
}

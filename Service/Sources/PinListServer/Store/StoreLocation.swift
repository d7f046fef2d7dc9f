// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Which store a configuration means.
public enum StoreLocation {
    /// The name of the file of a store on SQLite, in the folder of the service.
    public static let fileName = "tumbler.sqlite"

    /// What happens where there is no database.
    public enum Absence: Hashable, Sendable {
        /// The folder, the database and its tables are made.
        case isMended
        /// ``StoreError`` of code `absent`, and nothing is made: for commands that only read or add to a database.
        case isAnError
    }

    /// Opens the store.
    ///
    /// - Throws: ``StoreError``.
    public static func open(
        _ configuration: ServiceConfiguration, _ absence: Absence = .isMended
    ) throws -> any ServiceStore {
        guard configuration.database == "sqlite" else { return try Self.postgreSQL(configuration.database, absence) }
        let folder = URL(fileURLWithPath: configuration.dataDirectory, isDirectory: true)
        let file = folder.appendingPathComponent(Self.fileName).path
        guard absence == .isMended else {
            guard FileManager.default.fileExists(atPath: file) else {
                throw StoreError(.absent, "\(file) is not there")
            }
            return try SQLiteStore(path: file, absence)
        }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw StoreError(.unavailable, "\(folder.path) cannot be made") }
        return try SQLiteStore(path: file)
    }

    /// Opens a database of PostgreSQL. What is wrong is said without the address, which may hold a password.
    private static func postgreSQL(_ address: String, _ absence: Absence) throws -> any ServiceStore {
        guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") else {
            throw StoreError(.unsupported, "the database is neither sqlite nor postgres://USER@HOST/DATABASE")
        }
        #if PostgreSQL
        return try PostgreSQLStore(address: address, clock: SystemServiceClock(), absence)
        #else
        throw StoreError(.unsupported, "built without PostgreSQL: swift build --traits PostgreSQL")
        #endif
    }
}

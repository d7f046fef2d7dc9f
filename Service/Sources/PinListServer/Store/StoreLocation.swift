// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Which store a configuration means.
public enum StoreLocation {
    /// The name of the file of a store on SQLite, in the folder of the service.
    public static let fileName = "tumbler.sqlite"

    /// Opens the store; makes the folder and the database where there is none.
    ///
    /// - Throws: ``StoreError``.
    public static func open(_ configuration: ServiceConfiguration) throws -> any ServiceStore {
        guard configuration.database == "sqlite" else { return try Self.postgreSQL(configuration.database) }
        let folder = URL(fileURLWithPath: configuration.dataDirectory, isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw StoreError(.unavailable, "\(folder.path) cannot be made") }
        return try SQLiteStore(path: folder.appendingPathComponent(Self.fileName).path)
    }

    /// Opens a database of PostgreSQL. What is wrong is said without the address, which may hold a password.
    private static func postgreSQL(_ address: String) throws -> any ServiceStore {
        guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") else {
            throw StoreError(.unsupported, "the database is neither sqlite nor postgres://USER@HOST/DATABASE")
        }
        #if PostgreSQL
        return try PostgreSQLStore(address: address, clock: SystemServiceClock())
        #else
        throw StoreError(.unsupported, "built without PostgreSQL: swift build --traits PostgreSQL")
        #endif
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Finds the store that a configuration means.
package enum StoreLocation {
    /// The name of the file of a store on SQLite, in the folder of the service.
    package static let fileName = "tumbler.sqlite"

    /// The purpose for which a store is opened; it decides what happens to a database that is absent or of another
    /// version.
    package enum Purpose: Hashable, Sendable {
        /// To serve from it: the folder, the database and its tables are made, and an older one is brought up to date.
        case serving
        /// To add something to it, beside the service perhaps: it is there and has today's tables, or nothing is changed and
        /// it is a ``StoreError`` of code `absent` or `outdated`.
        case adding
        /// To read it alone: as with ``adding``, and nothing is ever written.
        case reading
        /// To copy it whole: it is there and has tables of the service, of any version, and nothing is ever written.
        case copying

        var isReadOnly: Bool { self == .reading || self == .copying }
    }

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - database: `sqlite`, or the address of a PostgreSQL database, for which the system's libpq is opened.
    ///   - folder: Where the file of SQLite is.
    ///   - purpose: What for.
    /// - Throws: ``StoreError``.
    package static func open(
        database: String, in folder: String, for purpose: Purpose
    ) throws -> any ServiceStore {
        guard database == "sqlite" else { return try Self.postgreSQL(database, purpose) }
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        let file = folder.appendingPathComponent(Self.fileName).path
        guard purpose == .serving else {
            guard FileManager.default.fileExists(atPath: file) else {
                throw StoreError(.absent, "\(file) is not there")
            }
            return try SQLiteStore(path: file, for: purpose)
        }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw StoreError(.unavailable, "\(folder.path) cannot be made") }
        return try SQLiteStore(path: file)
    }

    /// Opens a database of PostgreSQL. What is wrong is said without the address, which may hold a password.
    private static func postgreSQL(_ address: String, _ purpose: Purpose) throws -> any ServiceStore {
        guard address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") else {
            throw StoreError(.invalidAddress, "the database is neither sqlite nor postgres://USER@HOST/DATABASE")
        }
        return try PostgreSQLStore(address: address, clock: SystemServiceClock(), for: purpose)
    }
}

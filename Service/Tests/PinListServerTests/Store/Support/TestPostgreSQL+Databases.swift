// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation

@testable import PinListServer
@testable import PinListStore

extension TestPostgreSQL {
    /// The address of a database of this server.
    func address(_ database: String, user: String = "owner", _ more: String = "") throws -> PostgreSQLAddress {
        try PostgreSQLAddress("postgres://\(user)@/\(database)?host=\(self.folder.path)\(more)")
    }

    /// Makes an empty database, and says its name.
    func makeDatabase(_ options: String = "") throws -> String {
        let name = "d\(UInt64.random(in: .min ... .max))"
        try self.administer("CREATE DATABASE \(name) TEMPLATE template0 \(options)")
        return name
    }

    /// Does something as the administrator.
    func administer(_ sql: String, in database: String = "postgres") throws {
        try PostgreSQLConnection(try self.address(database), PostgreSQLLimits()).query(sql)
    }

    /// A store in a database; without one in a new one.
    func open(
        _ database: String? = nil, clock: any ServiceClock = HastyClock(), _ limits: PostgreSQLLimits = .init()
    ) throws -> PostgreSQLStore {
        let name = try database ?? self.makeDatabase()
        return try PostgreSQLStore(address: try self.address(name), clock: clock, limits: limits)
    }
}

extension ServiceStore {
    /// Adds an entry to the audit log.
    func note(_ text: String) async throws {
        try await self.write { try $0.log("note", text, by: "test", at: Timestamp(secondsSince1970: 1)) }
    }

    /// The details of the audit log.
    func notes() async throws -> [String] {
        try await self.read { try $0.auditEntries(from: 1, limit: 1_000).map(\.detail) }
    }
}

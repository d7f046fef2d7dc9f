// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The stand-in for a database that is not there, or not of today: each question to it fails with that. So a
/// configuration can be checked before there is a database.
package struct AbsentStore: ServiceStore {
    private let error: StoreError

    /// States why there is none: ``StoreError`` of code `absent` or `outdated`.
    package init(_ error: StoreError) { self.error = error }

    /// - Throws: Why there is no database.
    package func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { throw self.error }

    /// - Throws: Why there is no database.
    package func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { throw self.error }

    /// - Throws: Why there is no database.
    package func size() async throws -> Int64 { throw self.error }

    /// - Throws: Why there is no database.
    package func sizes() async throws -> [String: Int64] { throw self.error }

    /// - Throws: Why there is no database.
    package func backUp(to path: String) async throws { throw self.error }
}

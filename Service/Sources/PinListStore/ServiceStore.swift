// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The store of a service: all that must survive a restart. A protocol, so that one machine uses SQLite and several
/// PostgreSQL.
///
/// What is kept, and how, stands once, in ``StoreTransaction``; a store brings the connection. One
/// compatibility test says what every store must do.
package protocol ServiceStore: Sendable {
    /// Reads, from one moment of the database.
    ///
    /// - Parameter reader: Whom it is read for.
    /// - Throws: ``StoreError``, and what the closure throws.
    func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result

    /// Changes something: all of it or nothing, durable when it returns. No other change that takes the same lock comes
    /// between what is read and what is written here, by this instance of the service or by another. Where there is one
    /// writer, no other change at all does.
    ///
    /// - Parameters:
    ///   - lock: The lock. `nil`: other instances change something at the same time; what runs here adds rows of its own,
    ///     and touches none that another instance writes.
    ///   - body: The changes.
    /// - Throws: ``StoreError``, and what the closure throws; then nothing was changed.
    func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result

    /// Adds rows of this instance's own, under no lock.
    ///
    /// - Parameters:
    ///   - body: What is added. It runs once more where the connection is lost before its first question is answered.
    ///   - completion: The closure that gets the result, once, and not within this call: in the thread that wrote, where the
    ///     store has one.
    func append<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// The number of bytes that the data take on the disk, without what is free to be written again.
    func size() async throws -> Int64

    /// The size of each table on the disk, about, in bytes; all of it together is ``size()``.
    func sizes() async throws -> [String: Int64]

    /// Copies all of it into a new file while it is in use, as of one moment.
    ///
    /// - Throws: ``StoreError``; of code `unsupported` where the database has a tool of its own for it.
    func backUp(to path: String) async throws
}

extension ServiceStore {
    /// Reads for the service itself, and for who has shown a token.
    ///
    /// - Throws: As ``read(for:_:)``.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { try await self.read(for: .service, body) }

    /// Changes something under the lock of ordinary changes.
    ///
    /// - Throws: As ``write(as:_:)``.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { try await self.write(as: .changes, body) }

    package func append<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await self.write(as: nil, body)) } catch { result = .failure(error) }
            completion(result)
        }
    }

    /// Adds rows of this instance's own, under no lock.
    ///
    /// - Parameter body: What is added. It runs once more where the connection is lost before its first question is answered.
    /// - Throws: As ``write(as:_:)``.
    package func append<Result: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { try await self.write(as: nil, body) }
}

/// Whom something is read for. Where calls wait in a line, strangers have half of it at most: however many they are, alarms
/// are looked at, and the operator sees the pages.
package enum StoreReader: Hashable, Sendable {
    /// The service itself, and who has shown a token.
    case service
    /// Who has shown nothing that counts yet.
    case stranger
}

/// The content of a store, within a transaction. One that only reads refuses to change anything.
package struct StoreTransaction {
    let connection: any SQLConnection
}

/// A lock that keeps other changes away, over all instances of the service on one PostgreSQL. SQLite has one writer,
/// and needs none of them.
///
/// Code that takes several takes them in the order of this list, so that two changes never wait for each other
/// crosswise (docs/decisions/0049).
package enum StoreLock: Int64, CaseIterable, Sendable {
    /// The lock of all that has none of its own: alarms, tokens, probes, and the tables themselves.
    case changes
    /// The publications, and the plans of rotations, which go by them.
    case publications
    /// The lock of leases, and of which instances are there.
    case leases
    /// The retention.
    case retention
    /// The set of groups of reports. Reports of groups that are there are added without it.
    case groups
    /// The chain of the audit log. Taken by each entry, after any other.
    case audit
}

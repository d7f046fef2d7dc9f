// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore

/// A store that says when its database goes away, once, and when it is back, once. Many parts of the service ask the store
/// all the time, and none of them has to say it.
struct StoreOutage: ServiceStore {
    private let store: any ServiceStore
    private let logger: Logger
    private let isAway = NIOLockedValueBox(false)

    /// Watches a store.
    init(of store: any ServiceStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await self.watching { try await self.store.read(for: reader, body) }
    }

    func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await self.watching { try await self.store.write(as: lock, body) }
    }

    func append<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.store.append(body) { result in
            self.note(result)
            completion(result)
        }
    }

    func size() async throws -> Int64 { try await self.watching { try await self.store.size() } }

    func sizes() async throws -> [String: Int64] { try await self.watching { try await self.store.sizes() } }

    func backUp(to path: String) async throws { try await self.watching { try await self.store.backUp(to: path) } }

    private func watching<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        self.note(result)
        return try result.get()
    }

    private func note<Value>(_ result: Result<Value, any Error>) {
        switch result {
        case .success: if self.changes(to: false) { self.logger.notice("the database is back") }
        case .failure(let error):
            guard let error = error as? StoreError, error.code == .unavailable, self.changes(to: true) else { return }
            self.logger.error(
                """
                the database is away: \(error.detail); lists are served as they were, reports and publications are \
                turned away with 503 until it is back
                """)
        }
    }

    private func changes(to isAway: Bool) -> Bool {
        self.isAway.withLockedValue { before in
            defer { before = isAway }
            return before != isAway
        }
    }
}

extension Logger {
    /// Says that something could not be read or stored. Where the database is away ``StoreOutage`` has said so.
    ///
    /// - Parameters:
    ///   - what: What could not be done, without a full stop.
    ///   - error: Why.
    func storeFailed(_ what: String, _ error: any Error) {
        if (error as? StoreError)?.code == .unavailable { return self.debug("\(what): \(error)") }
        self.warning("\(what): \(error)")
    }
}

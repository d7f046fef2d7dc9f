// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

@testable import PinListServer
@testable import PinListStore

/// A store that counts what is written, and fails when it is told to.
final class WrappedStore: ServiceStore {
    private struct State {
        var failure: (any Error)?
        var writes = 0
        var sparesAppends = false
        var strangersFailure: StoreError?
    }

    private let store: any ServiceStore
    private let state = NIOLockedValueBox(State())

    /// Wraps a store.
    init(_ store: any ServiceStore) { self.store = store }

    /// The error of every write from now on; `nil` when all is well.
    var failure: (any Error)? {
        get { self.state.withLockedValue { $0.failure } }
        set { self.state.withLockedValue { $0.failure = newValue } }
    }

    /// Whether writes under no lock succeed all the same.
    var sparesAppends: Bool {
        get { self.state.withLockedValue { $0.sparesAppends } }
        set { self.state.withLockedValue { $0.sparesAppends = newValue } }
    }

    /// The error of every read for strangers from now on.
    var strangersFailure: StoreError? {
        get { self.state.withLockedValue { $0.strangersFailure } }
        set { self.state.withLockedValue { $0.strangersFailure = newValue } }
    }

    /// The number of writes that were begun.
    var writes: Int { self.state.withLockedValue { $0.writes } }

    func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        if reader == .stranger, let failure = self.strangersFailure { throw failure }
        return try await self.store.read(for: reader, body)
    }

    func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        if let failure = self.state.withLockedValue({ state in
            state.writes += 1
            return lock == nil && state.sparesAppends ? nil : state.failure
        }) {
            throw failure
        }
        return try await self.store.write(as: lock, body)
    }

    func size() async throws -> Int64 { try await self.store.size() }

    func sizes() async throws -> [String: Int64] { try await self.store.sizes() }

    func backUp(to path: String) async throws { try await self.store.backUp(to: path) }
}

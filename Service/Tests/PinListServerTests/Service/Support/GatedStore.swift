// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

@testable import PinListServer
@testable import PinListStore

/// A store whose writes wait until it is opened.
final class GatedStore: ServiceStore {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let store: any ServiceStore
    private let state = NIOLockedValueBox(State())

    /// Wraps a store.
    init(_ store: any ServiceStore) { self.store = store }

    /// Lets all writes pass.
    func open() {
        let waiting = self.state.withLockedValue { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until a writer comes.
    func untilWriting() async {
        await withCheckedContinuation { continuation in
            let isWriting = self.state.withLockedValue { state in
                if state.waiting.isEmpty { state.watchers.append(continuation) }
                return !state.waiting.isEmpty
            }
            if isWriting { continuation.resume() }
        }
    }

    private func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, watchers) = self.state.withLockedValue { state in
                defer { state.watchers = [] }
                if !state.isOpen { state.waiting.append(continuation) }
                return (state.isOpen, state.watchers)
            }
            if isOpen { continuation.resume() }
            for watcher in watchers { watcher.resume() }
        }
    }

    func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { try await self.store.read(for: reader, body) }

    func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        await self.pass()
        return try await self.store.write(as: lock, body)
    }

    func size() async throws -> Int64 { try await self.store.size() }

    func sizes() async throws -> [String: Int64] { try await self.store.sizes() }

    func backUp(to path: String) async throws { try await self.store.backUp(to: path) }
}

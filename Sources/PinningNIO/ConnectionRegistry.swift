// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
@_spi(Adapters) import PinListClient

/// The open connections of one client. When a list comes into force, and when a suspension ends, each is evaluated again.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: PinnedConnection] = [:]
        var watch: Task<Void, Never>?
        var suspension: Task<Void, Never>?
    }

    private let pinning: Pinning
    private let state = NIOLockedValueBox(State())

    /// Creates a registry. It observes lists from its first connection on.
    init(_ pinning: Pinning) { self.pinning = pinning }

    deinit {
        self.state.withLockedValue { state in
            state.watch?.cancel()
            state.suspension?.cancel()
        }
    }

    /// The number of open connections.
    var count: Int { self.state.withLockedValue { $0.connections.count } }

    /// Adds a connection until its channel is closed.
    func add(_ connection: PinnedConnection) {
        let id = ObjectIdentifier(connection)
        let isFirst = self.state.withLockedValue { state in
            state.connections[id] = connection
            guard state.watch == nil else { return false }
            // First, so that no list is missed.
            let changes = self.pinning.policyChanges()
            state.watch = Task { [weak self] in
                var changes = changes.makeAsyncIterator()
                while await changes.next() != nil {
                    guard let self else { return }
                    self.reevaluateAll()
                }
            }
            return true
        }
        connection.channel.closeFuture.whenComplete { [weak self] _ in
            guard let self else { return }
            // Released outside the lock: a connection may hold the last reference to its handler, and that to this
            // registry.
            let closed = self.state.withLockedValue { $0.connections.removeValue(forKey: id) }
            withExtendedLifetime(closed) {}
        }
        // A clock that was ahead may have ended the suspension before, and left no end to wait for.
        if isFirst || connection.decision.reason == .suspended { self.awaitEndOfSuspension() }
        // A list may have come into force between the verdict and now, or a suspension have ended.
        _ = connection.mayTakeRequest()
    }

    /// Evaluates all connections by the rules in force.
    func reevaluateAll() {
        // First: a suspension that ends meanwhile is not missed.
        self.awaitEndOfSuspension()
        for connection in self.state.withLockedValue({ Array($0.connections.values) }) {
            connection.reevaluate()
        }
    }

    /// Evaluates again when the next suspension ends.
    private func awaitEndOfSuspension() {
        self.state.withLockedValue { state in
            state.suspension?.cancel()
            // Read under the lock: the last call to wait is the last one to read.
            state.suspension = self.pinning.nextEndOfSuspension.map { end in
                Task { [weak self, pinning] in
                    if await pinning.hasCome(end) { self?.reevaluateAll() }
                }
            }
        }
    }
}
#endif

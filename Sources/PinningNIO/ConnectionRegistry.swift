// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
@_spi(Adapters) import PinListClient

/// The open connections of one client. When a list comes into force, each is evaluated again; and each minute, and when a
/// suspension ends, where the clock has a part in a decision: nothing else asks between two calls of gRPC, or on a raw channel.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: PinnedConnection] = [:]
        var watch: Task<Void, Never>?
        var clockWatch: Task<Void, Never>?
    }

    private let pinning: Pinning
    private let state = NIOLockedValueBox(State())

    /// Creates a registry. It observes lists from its first connection on.
    init(_ pinning: Pinning) { self.pinning = pinning }

    deinit {
        self.state.withLockedValue { state in
            state.watch?.cancel()
            state.clockWatch?.cancel()
        }
    }

    /// The number of open connections.
    var count: Int { self.state.withLockedValue { $0.connections.count } }

    /// Adds a connection until its channel is closed.
    func add(_ connection: PinnedConnection) {
        let id = ObjectIdentifier(connection)
        self.state.withLockedValue { state in
            state.connections[id] = connection
            guard state.watch == nil else { return }
            // First, so that no list is missed.
            let changes = self.pinning.policyChanges()
            state.watch = Task { [weak self] in
                var changes = changes.makeAsyncIterator()
                while await changes.next() != nil {
                    guard let self else { return }
                    self.reevaluateAll()
                }
            }
        }
        connection.channel.closeFuture.whenComplete { [weak self] _ in
            guard let self else { return }
            // Released outside the lock: a connection may hold the last reference to its handler, and that to this
            // registry.
            let closed = self.state.withLockedValue { $0.connections.removeValue(forKey: id) }
            withExtendedLifetime(closed) {}
        }
        // First: a suspension that ends meanwhile is not missed.
        let end = connection.dependsOnClock ? self.pinning.nextEndOfSuspension : nil
        // A list may have come into force between the verdict and now, or a suspension have ended.
        _ = connection.mayTakeRequest()
        if connection.dependsOnClock { self.watchClock(until: end, anew: false) }
    }

    /// Evaluates all connections by the rules in force.
    func reevaluateAll() {
        let end = self.pinning.nextEndOfSuspension
        let connections = self.state.withLockedValue { Array($0.connections.values) }
        for connection in connections { connection.reevaluate() }
        self.watchClock(until: end, anew: true)
    }

    /// Evaluates all again when the clock may have decided anew, while it has a part in the decision on any of them.
    ///
    /// - Parameters:
    ///   - end: The next end of a suspension, as it was before they were evaluated; `nil` for none.
    ///   - anew: Whether what waits already began before the rules that are in force now.
    private func watchClock(until end: Timestamp?, anew: Bool) {
        self.state.withLockedValue { state in
            guard anew || state.clockWatch == nil else { return }
            state.clockWatch?.cancel()
            let isNeeded = state.connections.values.contains { $0.dependsOnClock }
            state.clockWatch =
                isNeeded
                ? Task { [weak self, pinning] in
                    if await pinning.hasComeToLookAgain(at: end) { self?.reevaluateAll() }
                } : nil
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import PinListClient

/// The open connections of one client. When a list comes into force, and when a suspension ends, each is evaluated again.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: PinnedConnection] = [:]
        var watch: Task<Void, Never>?
        var suspension: Task<Void, Never>?
    }

    /// The maximum sleep until a suspension ends, in seconds, so that a changed clock is noticed.
    private static let maximumSleep: Int64 = 3_600

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
        if isFirst { self.awaitEndOfSuspension() }
        // A list may have come into force between the verdict and now.
        if connection.epoch != self.pinning.policyInForce.epoch { connection.reevaluate() }
    }

    /// Evaluates all connections by the rules in force.
    func reevaluateAll() {
        for connection in self.state.withLockedValue({ Array($0.connections.values) }) {
            connection.reevaluate()
        }
        self.awaitEndOfSuspension()
    }

    /// Evaluates again when the next suspension ends.
    private func awaitEndOfSuspension() {
        let inForce = self.pinning.policyInForce
        let now = self.pinning.now
        let end = inForce.policy(at: now).nextEndOfSuspension(after: inForce.referenceTime(now))
        self.state.withLockedValue { state in
            state.suspension?.cancel()
            state.suspension = end.map { end in
                Task { [weak self, pinning] in
                    while !Task.isCancelled {
                        let wait =
                            end.secondsSince1970 - pinning.policyInForce.referenceTime(pinning.now).secondsSince1970
                        guard wait > 0 else { break }
                        let sleep = Double(min(wait, Self.maximumSleep))
                        guard (try? await pinning.sleep(seconds: sleep)) != nil else { return }
                    }
                    guard !Task.isCancelled else { return }
                    self?.reevaluateAll()
                }
            }
        }
    }
}
#endif

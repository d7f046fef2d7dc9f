// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore

/// The maximum number of connections that a listener has open. Beyond it no further one is accepted: it waits in the
/// system's queue until another ends, the first that came first. What the process needs besides has its descriptors all
/// the same.
///
/// A connection that waits costs neither side a handshake, and an idle connection without a request is closed after
/// `Deadlines.head`, so that the queue moves.
final class ConnectionCap: AvailableConnectionsDelegate {
    private struct State {
        var open = 0
        var maximum = 0
        var toldAt: Double?
    }

    /// The limit.
    let limit: Int

    private let clock: any ServiceClock
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    /// The time after which it is said again that there is no room, in seconds.
    static let tellEvery = 60.0

    /// A cap of which nothing is taken.
    init(_ limit: Int, clock: any ServiceClock, logger: Logger) {
        self.limit = limit
        self.clock = clock
        self.logger = logger
    }

    /// The number of open connections.
    var open: Int { self.state.withLockedValue { $0.open } }

    /// The highest number of connections that were open at a time.
    var maximum: Int { self.state.withLockedValue { $0.maximum } }

    func connectionOpened() {
        self.state.withLockedValue { state in
            state.open += 1
            state.maximum = max(state.maximum, state.open)
        }
    }

    func connectionClosed() { self.state.withLockedValue { $0.open -= 1 } }

    func isAcceptingNewConnections() -> Bool {
        let now = self.clock.uptime
        let (isAccepting, isNews) = self.state.withLockedValue { state in
            guard state.open >= self.limit else { return (true, false) }
            let isNews = state.toldAt.map { now - $0 >= Self.tellEvery } ?? true
            if isNews { state.toldAt = now }
            return (false, isNews)
        }
        if isNews {
            self.logger.warning(
                """
                \(self.limit) connections are open, and no more are accepted: further ones wait until one ends; \
                raise maximumConnections and the limit of open files (LimitNOFILE, ulimit -n), or add an instance
                """)
        }
        return isAccepting
    }
}

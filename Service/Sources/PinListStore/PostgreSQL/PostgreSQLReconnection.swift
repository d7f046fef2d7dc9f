// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Connects, but not again and again to a server that is gone: within a pause every caller gets the last error at once.
///
/// `@unchecked Sendable`: because its variables are read and written under the lock only.
final class PostgreSQLReconnection: @unchecked Sendable {
    private let address: PostgreSQLAddress
    private let limits: PostgreSQLLimits
    private let clock: any ServiceClock
    private let lock = NSLock()
    private var pause = 0.0
    private var pauseEnd = -Double.infinity
    private var reason = ""

    /// Connects to an address.
    init(_ address: PostgreSQLAddress, _ limits: PostgreSQLLimits, _ clock: any ServiceClock) {
        self.address = address
        self.limits = limits
        self.clock = clock
    }

    /// Connects.
    ///
    /// - Throws: ``StoreError``; during a pause that of the last attempt, as `unavailable`.
    func connect() throws -> PostgreSQLConnection {
        try self.lock.withLock {
            guard self.clock.uptime >= self.pauseEnd else {
                throw StoreError(.unavailable, "there was no connection a moment ago: \(self.reason)")
            }
        }
        do {
            let connection = try PostgreSQLConnection(self.address, self.limits)
            self.lock.withLock { self.pause = 0 }
            return connection
        } catch {
            self.failed((error as? StoreError)?.detail ?? "\(error)")
            throw error
        }
    }

    private func failed(_ reason: String) {
        self.lock.withLock {
            let now = self.clock.uptime
            self.reason = reason
            // Attempts that were made side by side count as one.
            guard now >= self.pauseEnd else { return }
            self.pause = min(max(self.limits.pauseSeconds.first, self.pause * 2), self.limits.pauseSeconds.maximum)
            self.pauseEnd = now + self.pause
        }
    }
}

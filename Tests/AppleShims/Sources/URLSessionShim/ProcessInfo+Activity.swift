// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Foundation

extension ProcessInfo {
    /// Runs a block that the system waits for before it suspends the process (iOS 8.2; not on macOS). It is called with
    /// `true` when the process is about to be suspended: in place of the first call, or beside it.
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
        SimulatedActivities.begin(block)
    }
}

/// What is not Apple's: the activities that the system waits for. What a test sets counts for its own.
public enum SimulatedActivities {
    /// What the system does with an activity.
    public enum Behaviour: Sendable {
        /// Grants it.
        case granted
        /// Grants it, and says at once that its time is over.
        case expiring
        /// Does not grant it: the process is about to be suspended.
        case refused
    }

    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Counts: @unchecked Sendable {
        let lock = NSLock()
        var running = 0
        var begun = 0
        var behaviour = Behaviour.granted
    }

    @TaskLocal private static var counts = Counts()

    /// Runs something with a system that does this with activities.
    public static func with<Result>(_ behaviour: Behaviour, _ body: () throws -> Result) rethrows -> Result {
        let counts = Counts()
        counts.behaviour = behaviour
        return try self.$counts.withValue(counts, operation: body)
    }

    /// How many activities run: the system suspends the process when there is none.
    public static var running: Int { self.counts.lock.withLock { self.counts.running } }

    /// How many were begun.
    public static var begun: Int { self.counts.lock.withLock { self.counts.begun } }

    static func begin(_ block: @escaping @Sendable (Bool) -> Void) {
        let counts = self.counts
        let behaviour = counts.lock.withLock {
            counts.begun += 1
            if counts.behaviour != .refused { counts.running += 1 }
            return counts.behaviour
        }
        DispatchQueue.global().async {
            block(behaviour == .refused)
            if behaviour != .refused { counts.lock.withLock { counts.running -= 1 } }
        }
        if behaviour == .expiring { DispatchQueue.global().async { block(true) } }
    }
}

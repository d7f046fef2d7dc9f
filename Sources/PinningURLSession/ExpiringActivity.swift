// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Dispatch
internal import Foundation
internal import PinListClient

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Work that the system waits for before it suspends the process.
///
/// A process that is suspended while it holds a lock on a file of an app group is ended (0xdead10cc). The system gives
/// an activity some seconds; a write under the lock takes milliseconds, and waiting for the lock a second at most.
enum ExpiringActivity {
    /// Runs `body` on this thread, within an activity.
    ///
    /// - Throws: `StateStoreError`: what `body` throws, or that the system is about to suspend the process; then `body` is not
    ///   run.
    static func run(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        #if os(macOS)
        // There is no suspension, and no such method.
        try body()
        #else
        let answer = Answer()
        let asked = DispatchSemaphore(value: 0)
        let ended = DispatchGroup()
        ended.enter()
        defer { ended.leave() }
        // Its block runs on a queue of the system's. It is called a second time when the time is over, concurrently
        // with the first call, and the process is suspended when neither runs any longer.
        ProcessInfo.processInfo.performExpiringActivity(withReason: "a list of pins is stored") { isExpired in
            if answer.isFirst(isGranted: !isExpired) { asked.signal() }
            if answer.isGranted { ended.wait() }
        }
        asked.wait()
        guard answer.isGranted else { throw StateStoreError("the system is about to suspend the process") }
        try body()
        #endif
    }

    /// The first answer of the system.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Answer: @unchecked Sendable {
        private let lock = NSLock()
        private var granted: Bool?

        /// Records an answer; returns whether it is the first.
        func isFirst(isGranted: Bool) -> Bool {
            self.lock.withLock {
                guard self.granted == nil else { return false }
                self.granted = isGranted
                return true
            }
        }

        var isGranted: Bool { self.lock.withLock { self.granted ?? false } }
    }
}
#endif

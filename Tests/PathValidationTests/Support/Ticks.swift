// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation

/// A clock that goes forward by a step each time it is read. Unchecked because `now` is protected by `lock`.
final class Ticks: @unchecked Sendable {
    private let lock = NSLock()
    private var now: UInt64 = 0

    /// The time, after a step.
    func next(step: UInt64) -> UInt64 {
        self.lock.withLock {
            self.now += step
            return self.now
        }
    }
}
#endif

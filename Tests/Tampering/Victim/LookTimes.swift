// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How long the looks of one command took.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class LookTimes: @unchecked Sendable {
    private let lock = NSLock()
    private var nanoseconds: [UInt64] = []

    /// Notes one.
    func note(_ nanoseconds: UInt64) { self.lock.withLock { self.nanoseconds.append(nanoseconds) } }

    /// Begins anew.
    func forget() { self.lock.withLock { self.nanoseconds = [] } }

    /// The first one; 0 when there was none.
    var first: UInt64 { self.lock.withLock { self.nanoseconds.first ?? 0 } }

    /// How many there were.
    var count: Int { self.lock.withLock { self.nanoseconds.count } }
}

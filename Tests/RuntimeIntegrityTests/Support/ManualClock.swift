// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeIntegrity

/// A clock whose waits end at once, until there were enough.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ManualClock: IntegrityClock, @unchecked Sendable {
    private let lock = NSLock()
    private var time: UInt64 = 1
    private(set) var waits: [UInt64] = []
    private let maximum: Int

    init(waits maximum: Int) { self.maximum = maximum }

    var nanoseconds: UInt64 { self.lock.withLock { self.time } }

    func sleep(nanoseconds: UInt64) async throws {
        try self.lock.withLock {
            guard self.waits.count < self.maximum else { throw CancellationError() }
            self.waits.append(nanoseconds)
            self.time += nanoseconds
        }
    }
}

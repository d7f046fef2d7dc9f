// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What was called, in order.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class CallNotes: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [String] = []
    var all: [String] { self.lock.withLock { self.calls } }
    func note(_ call: String) { self.lock.withLock { self.calls.append(call) } }
}

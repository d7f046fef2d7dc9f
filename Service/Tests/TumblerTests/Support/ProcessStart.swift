// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Starts processes one after the other: Foundation on Linux crashes now and then when two threads start one at a time.
enum ProcessStart {
    private static let lock = NSLock()

    /// Starts a process when no other is being started.
    static func run(_ process: Process) throws {
        try self.lock.withLock { try process.run() }
    }
}

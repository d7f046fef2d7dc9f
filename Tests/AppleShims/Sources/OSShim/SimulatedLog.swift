// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What is not Apple's: the lines that were logged. Tests that run beside each other use different subsystems.
public enum SimulatedLog {
    /// A line.
    public struct Entry: Sendable {
        /// The part of an app.
        public let subsystem: String
        /// The category in it.
        public let category: String
        /// The level.
        public let level: OSLogType
        /// The text as others see it: what is hidden is `<private>`.
        public let text: String
        /// Whether nothing was hidden.
        public let isPublic: Bool
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var all: [Entry] = []  // because it is used under the lock only

    static func add(_ entry: Entry) { self.lock.withLock { self.all.append(entry) } }

    /// The lines of a subsystem, in their order.
    public static func entries(subsystem: String) -> [Entry] {
        self.lock.withLock { self.all.filter { $0.subsystem == subsystem } }
    }
}

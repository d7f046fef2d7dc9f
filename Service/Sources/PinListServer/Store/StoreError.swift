// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Why a store did not do what it was asked to: the service answers 503, and goes on serving lists.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens; a label for metrics.
        public let description: String

        /// The database cannot be reached, or does not answer.
        public static let unavailable = Code(description: "unavailable")
        /// There is no database yet, and who asked does not make one.
        public static let absent = Code(description: "absent")
        /// The database is from an older version, and the command that asked does not bring it up to date.
        public static let outdated = Code(description: "outdated")
        /// There is no room on the disk.
        public static let full = Code(description: "full")
        /// Somebody else holds the database for too long.
        public static let busy = Code(description: "busy")
        /// What is stored is not what this version writes.
        public static let damaged = Code(description: "damaged")
        /// This store cannot do that.
        public static let unsupported = Code(description: "unsupported")
    }

    /// What kind.
    public let code: Code
    /// What exactly, in one sentence without a full stop.
    public let detail: String

    /// A change of a store that was opened for reading: a mistake of the command.
    static let openedForReading = StoreError(.unsupported, "the database was opened for reading alone")

    /// States a failure.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The code and the detail.
    public var description: String { "\(self.code): \(self.detail)" }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The reason for which a store did not do what it was asked to: the service answers 503, and goes on serving lists.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens; a label for metrics.
        package let description: String

        /// The database cannot be reached, or does not answer.
        package static let unavailable = Code(description: "unavailable")
        /// There is no database yet, and the caller does not make one.
        package static let absent = Code(description: "absent")
        /// The database is from an older version, and the command that asked does not bring it up to date.
        package static let outdated = Code(description: "outdated")
        /// There is no room on the disk.
        package static let full = Code(description: "full")
        /// Another process holds the database for too long.
        package static let busy = Code(description: "busy")
        /// The stored data are not what this version writes.
        package static let damaged = Code(description: "damaged")
        /// The address of the database is wrong, whatever answers there: the configuration has to be corrected.
        package static let invalidAddress = Code(description: "invalid-address")
        /// This store cannot do that.
        package static let unsupported = Code(description: "unsupported")
    }

    /// The kind of failure.
    package let code: Code
    /// The detail, in one sentence without a full stop.
    package let detail: String

    /// A change of a store that was opened for reading: a mistake of the command.
    static let openedForReading = StoreError(.unsupported, "the database was opened for reading alone")

    /// States a failure.
    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// Whether it is the same at each attempt, until a person does something about it.
    package var isLasting: Bool { [.damaged, .notPermitted].contains(self.code) }

    /// The code and the detail.
    package var description: String { "\(self.code): \(self.detail)" }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Why nothing was made of another tool's configuration.
///
/// Only ``code`` takes part in comparisons; the texts are for people.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong. Bounded, so it may serve as a label of a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The label, lower case with hyphens.
        public let description: String

        /// It is not of this form at all: no property list, no XML, a text where a dictionary belongs.
        public static let malformed = Code(description: "malformed")
        /// It is of this form, and no host is pinned in it.
        public static let nothingPinned = Code(description: "nothing-pinned")
        /// There is more of it than is read.
        public static let tooLarge = Code(description: "too-large")
        /// A file that was named is not there, or cannot be read.
        public static let file = Code(description: "file")
    }

    /// The kind.
    public let code: Code

    /// What is wrong, in one sentence without a full stop.
    public let reason: String

    /// What to do.
    public let hint: String

    /// States an error.
    public init(_ code: Code, _ reason: String, hint: String) {
        self.code = code
        self.reason = reason
        self.hint = hint
    }

    /// The reason, then what to do.
    public var description: String { "\(self.reason); \(self.hint)" }

    /// Equal when the codes are.
    public static func == (left: MigrationError, right: MigrationError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

/// How much is read of another tool's configuration.
public enum MigrationLimits {
    /// The most hosts, as in a list (formats.md, section 3.2).
    public static let domains = 10_000
    /// The most pins that are kept of a host, as in a list.
    public static let pins = 16
    /// The most bytes of a file.
    public static let bytes = 4 * 1_048_576
    /// The most bytes of a text within it: longer ones are neither pin, host nor address.
    public static let textBytes = 4_096
    /// The most values, or elements: 10,000 hosts with all that can be said of them.
    public static let values = 500_000
    /// How deep they may stand within each other.
    public static let depth = 32
    /// The most warnings; the rest is counted.
    public static let warnings = 1_000
    /// The most certificate files of a bundle.
    public static let files = 1_000
    /// The most bytes of a certificate file.
    public static let fileBytes = 1_048_576
}

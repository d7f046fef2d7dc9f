// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The error of a migration from another tool's configuration.
///
/// Only ``code`` takes part in comparisons; the texts are for people.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The label, lower case with hyphens.
        public let description: String

        /// The input does not have this form: no property list, no XML, a text where a dictionary belongs.
        public static let malformed = Code(description: "malformed")
        /// The input has this form, but pins no host.
        public static let nothingPinned = Code(description: "nothing-pinned")
        /// The input is over a limit.
        public static let tooLarge = Code(description: "too-large")
        /// A named file does not exist, or cannot be read.
        public static let file = Code(description: "file")
    }

    /// The kind.
    public let code: Code

    /// The explanation, in one sentence without a full stop.
    public let reason: String

    /// The remedy.
    public let hint: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String, hint: String) {
        self.code = code
        self.reason = reason
        self.hint = hint
    }

    /// The reason, then the remedy.
    public var description: String { "\(self.reason); \(self.hint)" }

    /// Equal when the codes are.
    public static func == (left: MigrationError, right: MigrationError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

/// The limits of reading another tool's configuration.
public enum MigrationLimits {
    /// The maximum number of hosts, as in a list (formats.md, section 3.2).
    public static let domains = 10_000
    /// The maximum number of pins of a host, as in a list (formats.md, section 3.2).
    public static let pins = 16
    /// The maximum length of a file in bytes, as many as a signed list may have.
    public static let bytes = 4 * 1_048_576
    /// The maximum length of a text in bytes: longer ones are neither pin, host nor address.
    public static let textBytes = 4_096
    /// The maximum number of values or elements: 10,000 hosts with all settings.
    static let values = 500_000
    /// The maximum nesting: property lists and configurations of other tools have below ten.
    static let depth = 32
    /// The maximum number of warnings; the rest is counted.
    public static let warnings = 1_000
    /// The maximum number of certificate files of a bundle: apps have a few.
    public static let files = 1_000
    /// The maximum length of a certificate file in bytes: a certificate has some thousand.
    public static let fileBytes = 1_048_576
}

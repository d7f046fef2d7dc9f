// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Text or bytes from outside that this module refuses to read.
///
/// Only ``code`` takes part in comparisons; ``reason`` is for people and holds no secrets.
public struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refused input. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The label, lower case with hyphens.
        public let description: String

        /// A pin in none of the written forms (formats.md, section 1).
        public static let pin = Code(description: "pin")
        /// A host that does not normalise (formats.md, section 2).
        public static let host = Code(description: "host")
        /// A time that is not RFC 3339 in UTC with whole seconds and `Z`.
        public static let timestamp = Code(description: "timestamp")
        /// A text that is not PEM (RFC 7468), or that lacks the expected block.
        public static let pem = Code(description: "pem")
        /// A serial number that is not in the hexadecimal form of its DER.
        public static let serial = Code(description: "serial")
        /// A certificate revocation list that cannot be read.
        public static let revocationList = Code(description: "revocation-list")
        /// Rules that contradict each other.
        public static let policy = Code(description: "policy")
    }

    /// The kind of input.
    public let code: Code

    /// The explanation, in one sentence without a full stop.
    public let reason: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of input that was refused.
    ///   - reason: The explanation, in one sentence without a full stop.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// ``reason``; the code is for programs.
    public var description: String { self.reason }

    /// Equal when the codes are.
    public static func == (left: InputError, right: InputError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

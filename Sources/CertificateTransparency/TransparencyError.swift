// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The defect of a certificate whose timestamps cannot be evaluated, or that has none.
public struct TransparencyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of defect. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The certificate cannot be read.
        public static let certificate = Code(description: "certificate")
        /// The extensions cannot be read, or the timestamps occur twice.
        public static let extensions = Code(description: "extensions")
        /// The validity cannot be read, or ends before it begins.
        public static let validity = Code(description: "validity")
        /// The issuer's certificate is missing or cannot be read.
        public static let issuer = Code(description: "issuer")
        /// The certificate has no timestamps.
        public static let noTimestamps = Code(description: "no-timestamps")
        /// The list of timestamps is malformed.
        public static let list = Code(description: "list")
        /// The certificate has too many timestamps.
        public static let tooMany = Code(description: "too-many")
    }

    /// The kind of defect.
    public let code: Code

    /// The explanation, in one sentence without a full stop.
    public let reason: String

    /// Creates a defect.
    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// ``reason``; the code is for programs.
    public var description: String { self.reason }

    /// Equal when the codes are.
    public static func == (left: TransparencyError, right: TransparencyError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

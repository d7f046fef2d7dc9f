// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Why nothing can be said of a certificate's timestamps, or there are none.
public struct TransparencyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of defect. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The certificate cannot be read.
        public static let certificate = Code(description: "certificate")
        /// Its extensions cannot be read, or the timestamps are there twice.
        public static let extensions = Code(description: "extensions")
        /// Its validity cannot be read, or ends before it begins.
        public static let validity = Code(description: "validity")
        /// The issuer's certificate is not there, or cannot be read.
        public static let issuer = Code(description: "issuer")
        /// The certificate has no timestamps.
        public static let noTimestamps = Code(description: "no-timestamps")
        /// The list of timestamps is not one.
        public static let list = Code(description: "list")
        /// More timestamps than are looked at.
        public static let tooMany = Code(description: "too-many")
    }

    /// The kind of defect.
    public let code: Code

    /// What is wrong, in one sentence without a full stop.
    public let reason: String

    /// States a defect.
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The refusal of a log list.
public struct LogListError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refusal. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// No bytes, or more than ``LogList/maximumLength``.
        public static let size = Code(description: "size")
        /// Not strict JSON, or not in the form of the format.
        public static let malformed = Code(description: "malformed")
        /// A log's id is not the digest of its key.
        public static let wrongID = Code(description: "wrong-id")
        /// Two logs have the same id.
        public static let duplicate = Code(description: "duplicate")
        /// An interval that ends before it begins, or is empty.
        public static let interval = Code(description: "interval")
        /// A limit on the number of logs, operators or values is exceeded.
        public static let tooMany = Code(description: "too-many")
    }

    /// The kind of refusal.
    public let code: Code

    /// The defect and its place, in one sentence without a full stop.
    public let reason: String

    /// Creates a refusal.
    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// ``reason``; the code is for programs.
    public var description: String { self.reason }

    /// Equal when the codes are.
    public static func == (left: LogListError, right: LogListError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

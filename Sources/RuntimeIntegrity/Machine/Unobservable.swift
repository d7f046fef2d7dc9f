// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Why something cannot be looked at.
public struct Unobservable: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why, as a value that can be compared.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// It is not there.
        public static let missing = Self("missing")
        /// The system does not allow it.
        public static let refused = Self("refused")
        /// This system has no such thing.
        public static let unsupported = Self("unsupported")
        /// There is more than is read; what was not read was not looked at.
        public static let tooLarge = Self("too-large")
        /// It cannot be understood.
        public static let malformed = Self("malformed")
        /// It did not answer in time.
        public static let late = Self("late")
    }

    /// Why.
    public let code: Code

    /// What it was, in a few words.
    public let subject: String

    /// Creates a failure.
    public init(_ code: Code, _ subject: String) {
        self.code = code
        self.subject = subject
    }

    /// By the code.
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    /// By the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }

    /// What and why.
    public var description: String { "\(self.subject): \(self.code)" }
}

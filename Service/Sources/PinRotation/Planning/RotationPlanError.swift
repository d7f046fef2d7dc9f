// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The reason for which some bytes are no plan of a rotation, or a plan cannot become what it should.
public struct RotationPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The plan is over a limit of size.
        public static let tooLarge = Code(description: "plan-too-large")
        /// The plan is not of the form of formats.md, section 9.
        public static let malformed = Code(description: "plan-malformed")
        /// A newer version of this tool wrote the plan: its `schema` is not known here.
        public static let newerSchema = Code(description: "plan-newer-schema")
        /// The state that was asked for does not come after the one that the plan is in.
        public static let transition = Code(description: "plan-transition")
    }

    /// The kind.
    public let code: Code

    /// The member that is wrong, such as `steps[2].at`; empty for the whole.
    public let path: String

    /// The error, in a few words without a full stop.
    public let reason: String

    /// States an error.
    public init(_ code: Code, _ path: String = "", _ reason: String) {
        self.code = code
        self.path = path
        self.reason = reason
    }

    /// ``path`` and ``reason``.
    public var description: String { self.path.isEmpty ? "the plan \(self.reason)" : "\(self.path) \(self.reason)" }

    /// Equal when the code is.
    public static func == (left: RotationPlanError, right: RotationPlanError) -> Bool { left.code == right.code }

    /// Feeds the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The reason for which an operator's request was not carried out. Nothing was written.
public struct RepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error: it decides the exit code of a command.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The content of a source is wrong.
        public static let source = Code(description: "source")
        /// The request is wrong: the name of a key, an option, a combination of options.
        public static let usage = Code(description: "usage")
        /// A newer version of this tool wrote the plan of a rotation.
        public static let newerPlan = Code(description: "newer-plan")
        /// Keys, signatures or metadata do not hold.
        public static let metadata = Code(description: "metadata")
        /// A signer cannot sign, or answers rubbish.
        public static let signer = Code(description: "signer")
        /// A file cannot be read or written.
        public static let file = Code(description: "file")
        /// The person at the terminal stopped it.
        public static let interrupted = Code(description: "interrupted")
        /// The network, or a server.
        public static let network = Code(description: "network")
    }

    /// The kind.
    public let code: Code

    /// The error and its cause, in one line without a full stop; without secrets.
    public let reason: String

    /// The next step, in one line, where that can be said.
    public let hint: String?

    /// States an error.
    public init(_ code: Code, _ reason: String, hint: String? = nil) {
        self.code = code
        self.reason = reason
        self.hint = hint
    }

    /// The reason.
    public var description: String { self.reason }
}

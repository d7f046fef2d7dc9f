// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// What is wrong in the build of an app. What can go wrong in the field is a ``PinningEvent``.
public struct PinningSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of mistake it is.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The embedded root or list is not there.
        public static let missing = Code(description: "missing")
        /// The embedded root or list does not verify; see ``PinningSetupError/refusal``.
        public static let unverifiable = Code(description: "unverifiable")
        /// The address to refresh from is not `https`.
        public static let address = Code(description: "address")
        /// Settings of a transport under which pinning could not refuse, or could not decide.
        public static let configuration = Code(description: "configuration")
    }

    /// The kind of mistake.
    public let code: Code
    /// What is wrong, and what to do, in one sentence without a full stop.
    public let reason: String
    /// Why the embedded file does not verify.
    public let refusal: MetadataError?

    /// States a mistake.
    public init(_ code: Code, _ reason: String, refusal: MetadataError? = nil) {
        self.code = code
        self.reason = reason
        self.refusal = refusal
    }

    /// The reason.
    public var description: String { self.reason }
}

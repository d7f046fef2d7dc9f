// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// A mistake in the build of an app. Failures in the field are ``PinningEvent``s.
public struct PinningSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of mistake.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The embedded root or list is missing.
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
    /// The explanation and the remedy, in one sentence without a full stop.
    public let reason: String
    /// The refusal of the embedded file.
    public let refusal: MetadataError?

    /// Creates a mistake.
    public init(_ code: Code, _ reason: String, refusal: MetadataError? = nil) {
        self.code = code
        self.reason = reason
        self.refusal = refusal
    }

    /// The reason.
    public var description: String { self.reason }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The refusal of a root or a list: the first check of formats.md, section 3.3, that failed.
public struct MetadataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The check that failed. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The envelope is over the size limit.
        public static let tooLarge = Code(description: "too-large")
        /// The metadata does not have the form that the format demands.
        public static let malformed = Code(description: "malformed")
        /// The type is not the expected one: a root where a list is expected, or the other way round.
        public static let wrongType = Code(description: "wrong-type")
        /// No signature by a key of the role.
        public static let unsigned = Code(description: "unsigned")
        /// Signatures by too few keys of the role.
        public static let thresholdNotMet = Code(description: "threshold-not-met")
        /// Metadata of another name.
        public static let wrongName = Code(description: "wrong-name")
        /// A root that does not follow the newest one held.
        public static let rootGap = Code(description: "root-gap")
        /// A rollback: older than the held list, or issued before the root that revoked a signer.
        public static let rollback = Code(description: "rollback")
        /// An equivocation: the held version with another payload.
        public static let equivocation = Code(description: "equivocation")
        /// Issued more than a day ahead of now.
        public static let issuedInFuture = Code(description: "issued-in-future")
        /// The metadata has expired, or its root has.
        public static let expired = Code(description: "expired")

        /// The attack that this may be, in the words of The Update Framework, where there is one.
        public var suspectedAttack: String? {
            switch self {
            case .tooLarge: "endless data"
            case .unsigned, .thresholdNotMet, .malformed: "arbitrary software"
            case .wrongType, .wrongName: "wrong software"
            case .rollback: "rollback"
            case .equivocation: "equivocation"
            case .issuedInFuture: "fast-forward"
            case .expired: "indefinite freeze"
            default: nil
            }
        }
    }

    /// The kind of metadata that was refused.
    public let kind: MetadataRole

    /// The check that failed.
    public let code: Code

    /// The explanation, in one sentence without a full stop. It quotes the metadata only where the signatures are
    /// valid.
    public let detail: String

    /// With ``Code/expired``: the kind of metadata that had expired.
    public var expired: MetadataRole?

    /// Whether the signatures are valid: then the envelope is evidence and goes into the report.
    public var isSigned = false

    /// Creates a refusal.
    public init(_ kind: MetadataRole, _ code: Code, _ detail: String) {
        self.kind = kind
        self.code = code
        self.detail = detail
    }

    /// The kind of metadata, the code and the detail.
    public var description: String { "\(self.kind == .root ? "root" : "list") refused (\(self.code)): \(self.detail)" }
}

/// The role whose keys sign a document: TUF's top-level roles, of which there are two here.
public enum MetadataRole: String, Hashable, Sendable {
    /// Keys, roles and thresholds.
    case root
    /// A list of pins.
    case pins
}

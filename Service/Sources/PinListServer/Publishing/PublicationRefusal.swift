// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// Why a publication was refused, as HTTP says it (formats.md, section 7).
public struct PublicationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of refusal.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String
        /// The status of the answer.
        public let status: Int

        /// The body is none that can be read.
        public static let malformed = Code(description: "malformed", status: 422)
        /// A root under which the list that is served would not be current.
        public static let wouldSupersede = Code(description: "would-supersede", status: 422)
        /// A root under which clients that make its hybrid demand would refuse the list that is served.
        public static let wouldRefuse = Code(description: "would-refuse", status: 422)
        /// The list that is served, in an envelope that lacks one of its signatures.
        public static let signatureLost = Code(description: "signature-lost", status: 409)
        /// A list that names a log list which was not uploaded.
        public static let logsMissing = Code(description: "logs-missing", status: 422)
        /// A name without a configured root.
        public static let notConfigured = Code(description: "name-not-configured", status: 422)

        /// A code of the client's state machine.
        static func unprocessable(_ code: String) -> Code { Code(description: code, status: 422) }
    }

    /// What kind.
    public let code: Code
    /// What exactly, in one sentence without a full stop.
    public let detail: String

    /// States a refusal.
    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// What a client would say.
    init(_ refusal: MetadataRefusal) {
        let isConflict = refusal.code == .rollback || refusal.code == .equivocation
        self.code = Code(description: refusal.code.description, status: isConflict ? 409 : 422)
        self.detail = refusal.detail
    }

    /// The code and the detail.
    public var description: String { "\(self.code): \(self.detail)" }
}

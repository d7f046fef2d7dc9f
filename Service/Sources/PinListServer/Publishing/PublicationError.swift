// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// The reason for which a publication was refused, as HTTP says it (formats.md, section 7).
package struct PublicationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refusal.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        package let description: String
        /// The status of the answer.
        package let status: Int

        /// The body is none that can be read.
        package static let malformed = Code(description: "malformed", status: 422)
        /// A root under which the list that is served would not be current.
        package static let wouldSupersede = Code(description: "would-supersede", status: 422)
        /// A root under which clients that make its hybrid demand would refuse the list that is served.
        package static let wouldRefuse = Code(description: "would-refuse", status: 422)
        /// The list that is served, in an envelope that lacks one of its signatures.
        package static let signatureLost = Code(description: "signature-lost", status: 409)
        /// A list that names a log list which was not uploaded.
        package static let logsMissing = Code(description: "logs-missing", status: 422)
        /// A name without a configured root.
        package static let notConfigured = Code(description: "name-not-configured", status: 422)

        /// The configured root, or what is stored of the name, does not verify: no publication could be evaluated.
        package static let notVerified = Code(description: "not-verified", status: 503)

        /// A code of the client's state machine.
        static func unprocessable(_ code: String) -> Code { Code(description: code, status: 422) }
    }

    /// The kind of refusal.
    package let code: Code
    /// The detail, in one sentence without a full stop.
    package let detail: String

    /// States a refusal.
    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// Makes the refusal that a client's refusal means.
    init(_ refusal: MetadataError) {
        let isConflict = refusal.code == .rollback || refusal.code == .equivocation
        self.code = Code(description: refusal.code.description, status: isConflict ? 409 : 422)
        self.detail = refusal.detail
    }

    /// The code and the detail.
    package var description: String { "\(self.code): \(self.detail)" }
}

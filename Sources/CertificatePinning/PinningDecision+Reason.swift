// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension PinningDecision {
    /// The reason of a decision: one of the codes of formats.md, section 4. Bounded, so it may label a metric.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// A reason that only one transport uses. The codes of the specification have a name below.
        public init(code: String) { self.description = code }

        /// A certificate of the path matches a known pin.
        public static let pinMatch = Reason(code: "pin-match")
        /// No certificate of the path matches a known pin.
        public static let noMatchingPin = Reason(code: "no-matching-pin")
        /// The host does not normalise.
        public static let hostInvalid = Reason(code: "host-invalid")
        /// A key of the path is in the deny set.
        public static let deniedKey = Reason(code: "denied-key")
        /// The rules have denied or revoked certificates, and a certificate of the path cannot be read.
        public static let deniedUndecidable = Reason(code: "denied-undecidable")
        /// A certificate of the path is revoked, by the list in force or by a CRL that was given.
        public static let revoked = Reason(code: "revoked")
        /// Revocation lists were asked for, and none covers a certificate of the path.
        public static let revocationUnknown = Reason(code: "revocation-unknown")
        /// The kill switch holds for this host.
        public static let suspended = Reason(code: "suspended")
        /// No entry covers the host, or its entry has the mode `off`.
        public static let notPinned = Reason(code: "not-pinned")
        /// The path is acceptable, and a policy of Certificate Transparency is not satisfied.
        public static let transparency = Reason(code: "transparency")
        /// No entry covers the host; the rule for such hosts is `report`.
        public static let unlistedReported = Reason(code: "unlisted-reported")
        /// No entry covers the host; the rule for such hosts is `deny`.
        public static let unlistedDenied = Reason(code: "unlisted-denied")
        /// The entry has expired: default validation alone decides.
        public static let domainExpired = Reason(code: "domain-expired")
        /// The presented chain did not validate, for the reason in ``PinningDecision/detail``.
        public static let chainInvalid = Reason(code: "chain-invalid")
        /// The server presented no certificate.
        public static let noCertificates = Reason(code: "no-certificates")
        /// Validating the chain would take more work than is allowed.
        public static let overBudget = Reason(code: "over-budget")
        /// A request without TLS to a host whose entry enforces.
        public static let cleartext = Reason(code: "cleartext")
        /// A response came over a connection that was evaluated for another host, whose path does not satisfy this host's
        /// entry, or over one that was not evaluated.
        public static let otherHostConnection = Reason(code: "other-host-connection")
        /// The app refuses pinned connections because it noticed signs of tampering with its process.
        public static let tampering = Reason(code: "tampering")
        /// A question that could not be read (`evaluate --batch`).
        public static let malformed = Reason(code: "malformed")
    }
}

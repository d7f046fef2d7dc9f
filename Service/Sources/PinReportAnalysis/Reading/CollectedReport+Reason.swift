// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

extension CollectedReport {
    /// The kind and the reason of a report, from its own members.
    ///
    /// - Parameters:
    ///   - reason: `reason` of the object `tumbler`, which says most.
    ///   - result: TrustKit's `validation-result`. Neither is in a report of RFC 7469, which only knows pins.
    package static func reading(reason: String?, result: Int64?) -> (kind: Kind, reason: String) {
        guard let reason else {
            let reason = Self.reason(ofResult: result)
            return (Self.kinds[reason] ?? .other, reason)
        }
        let code = Self.code(reason)
        if code == "tls.cert.pinned_key_not_in_cert_chain" { return (.pin, "no-matching-pin") }
        if let kind = Self.kinds[code] { return (kind, code) }
        if code.hasPrefix("tls.") { return (.tls, code) }
        // A transport's own reason: the number says what it amounts to.
        guard let result else { return (.other, code) }
        return (Self.kinds[Self.reason(ofResult: result)] ?? .other, code)
    }

    /// A reason that can label a metric and be a part of an address; anything else is `unnamed`, and so is the reason of
    /// groups that the service makes itself: a sender must not make more of these.
    package static func code(_ reason: String) -> String {
        let isCode = reason.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let isKept =
            isCode && (1...ReportBodyLimits.reasonBytes).contains(reason.utf8.count)
            && reason != ReportGroup.overflowReason
        return isKept ? reason : "unnamed"
    }

    /// TrustKit's numbers (`TSKTrustEvaluationResult`).
    private static func reason(ofResult result: Int64?) -> String {
        switch result {
        case 0: "pin-match"
        case nil, 1: "no-matching-pin"
        case 2: "chain-invalid"
        case 3: "invalid-parameters"
        case 4: "user-defined-trust-anchor"
        case 5: "unhashable-key"
        default: "unnamed"
        }
    }

    /// The number that says what a kind amounts to. Reads back as the same kind.
    var validationResult: Int64 {
        switch self.kind {
        case .pin: 1
        case .tls: 2
        case .cleartext: 3
        case .incident, .other: 0
        }
    }

    /// The codes of formats.md, section 4, and what TrustKit's numbers are called here.
    private static let kinds: [String: Kind] = [
        "no-matching-pin": .pin, "denied-key": .pin, "denied-undecidable": .pin, "unlisted-denied": .pin,
        "revoked": .pin, "revocation-unknown": .tls, "unlisted-reported": .pin, "other-host-connection": .pin,
        "transparency": .pin, "user-defined-trust-anchor": .pin,
        "chain-invalid": .tls, "no-certificates": .tls, "over-budget": .tls, "cleartext": .cleartext,
        "host-invalid": .other, "invalid-parameters": .other, "unhashable-key": .other, "pin-match": .other,
        "not-pinned": .other, "suspended": .other, "domain-expired": .other, "malformed": .other,
        "tampering": .other,
    ]

    /// The reasons that have a name in the formats: what metrics are labelled with as it is; anything else is one
    /// label.
    package var isReasonKnown: Bool {
        switch self.kind {
        case .incident: Self.incidents.contains(self.reason)
        case .tls where self.reason.hasPrefix("tls."): Self.networkErrors.contains(self.reason)
        default: Self.kinds[self.reason] != nil
        }
    }

    private static let incidents: Set<String> = [
        "too-large", "malformed", "wrong-type", "unsigned", "threshold-not-met", "wrong-name", "root-gap", "rollback",
        "equivocation", "issued-in-future", "expired", "stale",
    ]

    /// Network Error Logging, section 6: the types of the phase in which a connection is made.
    private static let networkErrors: Set<String> = [
        "tls.version_or_cipher_mismatch", "tls.bad_client_auth_cert", "tls.cert.name_invalid", "tls.cert.date_invalid",
        "tls.cert.authority_invalid", "tls.cert.invalid", "tls.cert.revoked", "tls.protocol.error", "tls.failed",
    ]
}

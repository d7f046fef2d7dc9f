// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What the codes of reasons mean (formats.md, sections 3.3 and 4).
enum FailureReason {
    /// A code in words; nothing for a code that is not known.
    static func words(_ code: String) -> String {
        switch code {
        case "no-matching-pin": "no certificate of the path is pinned"
        case "denied-key": "a denied key is in the path"
        case "denied-undecidable": "a certificate that cannot be read might hold a denied key"
        case "unlisted-denied": "the host is not listed, and such hosts are denied"
        case "unlisted-reported": "the host is not listed"
        case "chain-invalid": "the platform refused the certificates"
        case "no-certificates": "the host showed no certificate"
        case "over-budget": "checking the certificates would have taken too long"
        case "host-invalid": "the name of the host cannot be one"
        case "cleartext": "a request without TLS"
        case "rollback": "an older list than the one held was offered"
        case "equivocation": "another list with the same version was offered"
        case "expired": "an expired list was offered"
        case "unsigned", "threshold-not-met": "a list without enough signatures was offered"
        default: ""
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Causes of everything but a missing key.
extension LikelyCause {
    /// A clock that is off by less says nothing: certificates and lists allow for it. In seconds: an hour.
    static let notableSkew: Int64 = 3_600

    /// Requests without TLS.
    package init(cleartext evidence: CauseEvidence) {
        self.init(
            .cleartext, .high, "The app asked a pinned host without TLS.",
            evidence: [evidence.count, evidence.networks, evidence.version].compactMap { $0 },
            advice: [
                "Look for an http:// address in the app, or for a redirect of the server to one; the refusal is right.",
                "If many networks report it at once, a redirect from https to http is the likely one.",
            ])
    }

    /// A certificate whose pins matched, and which no policy of Certificate Transparency is satisfied by.
    init?(unlogged facts: GroupFacts, _ evidence: CauseEvidence) {
        guard facts.group.reason == "transparency" else { return nil }
        self.init(
            .unlogged, .medium,
            "The pins matched, and the certificate was not shown to be logged as the list's policy asks.",
            evidence: evidence.seen,
            advice: [
                "Ask the server: tumbler ct HOST:443 --logs FILE says which timestamps count, and why not.",
                "A log list that lacks a log of today looks like this: release a list with a newer one.",
                "A certificate that was not ordered and is in no log is the attack that this is for: ask the authority.",
            ])
    }

    /// A certificate out of its time, or a clock out of its.
    package init?(time facts: GroupFacts, _ evidence: CauseEvidence) {
        let shown = [evidence.clock, Self.validity(facts)] + evidence.seen.filter { $0 != evidence.clock }
        let skew = facts.clockSkew ?? 0
        // A report that waited looks like a clock that is behind: only days of it say something.
        if skew >= Self.notableSkew || skew <= -7 * 86_400 {
            self.init(
                .clock, facts.group.reason == "tls.cert.date_invalid" ? .high : .medium,
                "The devices' clocks are wrong, so valid certificates look as if they were not.",
                evidence: shown.compactMap { $0 },
                advice: ["Nothing is wrong with the server. The app can tell its user that the clock is wrong."])
            return
        }
        guard let validity = facts.leafValidity, !validity.contains(facts.seen.upperBound) else { return nil }
        self.init(
            .certificateTime, .high, "The server's certificate had ended, or was not valid yet.",
            evidence: shown.compactMap { $0 },
            advice: ["Renew the certificate, with a key that is pinned; check what should have renewed it."])
    }

    private static func validity(_ facts: GroupFacts) -> String? {
        facts.leafValidity.map { "The certificate is valid from \($0.lowerBound) to \($0.upperBound)." }
    }

    /// A chain that was not valid, from an issuer that may say why.
    package init(interceptedTLS facts: GroupFacts, _ evidence: CauseEvidence) {
        guard let product = facts.interceptor else {
            self.init(unclear: facts, evidence)
            return
        }
        self.init(
            .interception, .medium,
            "Interception by \(product.name), \(product.category.rawValue), whose root the device does not trust.",
            evidence: evidence.seen, advice: ["The refusal is the platform's, and right. Look at the issuer."])
    }

    /// Names the unclear cause: no other fits, or too many do.
    package init(unclear facts: GroupFacts, _ evidence: CauseEvidence) {
        var advice: [String] = []
        if facts.newestListAllows == true {
            advice.append(
                "The newest list has a pin for this chain: look whether the list had expired for these apps, and whether they "
                    + "refuse its hosts then (whenStale: .deny).")
        }
        if facts.group.issuer.isEmpty {
            advice.append("No certificates came along: wait for a report that has some, or probe the host.")
        } else {
            advice.append("Compare the issuer and the server key with what the host presents when you probe it.")
        }
        if facts.issuerIsPublicCA == true {
            advice.append(
                "From few networks it is a rotation that just began, or a certificate that you did not order.")
        }
        if (facts.networks?.number ?? 0) >= Self.severalNetworks {
            advice.append(
                "Ask the server's operators whether its certificate changed; a private authority is possible.")
        }
        if facts.group.kind == .tls {
            advice.append(
                "Without pinning this would have failed, too: check the server's chain and its intermediates.")
        }
        self.init(.unclear, .low, "It is not clear what happened.", evidence: evidence.seen, advice: advice)
    }

    /// A root or a list that clients refuse, by the refusal's code (formats.md, section 3.3).
    package init(incident facts: GroupFacts, _ evidence: CauseEvidence) {
        let (kind, confidence, title, advice) = Self.incident(facts.group.reason)
        self.init(
            kind, confidence, title,
            evidence: [
                "Clients gave the reason: \(facts.group.reason).", evidence.list, evidence.count, evidence.networks,
                evidence.clock,
            ].compactMap { $0 }, advice: [advice])
    }

    private static func incident(_ reason: String) -> (Kind, Confidence, String, String) {
        switch reason {
        case "equivocation":
            (
                .refusedList, .medium, "Clients were offered another list with a version that they hold.",
                "If an envelope came along and its signatures hold, a signing key is misused or a "
                    + "signer signed twice: this is urgent."
            )
        case "rollback", "root-gap", "wrong-name", "wrong-type":
            (
                .refusedList, .medium, "Clients were offered an older list, or another one than theirs.",
                "Check what the list's address and every cache in front of it serve; from one "
                    + "network, an attacker may be replaying it."
            )
        case "unsigned", "threshold-not-met", "malformed", "too-large":
            (
                .refusedList, .medium, "Clients were offered a list that its signers did not sign, or no list at all.",
                "Check what the list's address serves. A captive portal or a proxy answers like this; "
                    + "so does an attacker."
            )
        case "expired", "stale":
            (
                .staleClients, .medium, "Clients hold a list that has expired, and get no newer one.",
                "Publish a list in time; if one is out, its address is blocked or a cache holds an old one back."
            )
        case "issued-in-future":
            (
                .clock, .medium,
                "To these clients the list is from the future: their clocks are behind, or the signer's was ahead.",
                "If many networks report it, look at the list's issuedAt; if few, at the devices."
            )
        default:
            (.unclear, .low, "Clients reported an incident that has no name here.", "Look at the reports themselves.")
        }
    }
}

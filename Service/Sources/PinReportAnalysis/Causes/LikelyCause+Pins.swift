// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Causes of chains that were valid and had no key of the list.
extension LikelyCause {
    /// From so many networks on, one place or one person is no explanation.
    static let severalNetworks = 3
    /// From so many networks on, the failure is one of the server's side or of a large network.
    static let manyNetworks = 10
    /// Up to so many leaves, servers have been given new certificates; beyond, something makes them as it goes.
    static let fewLeaves = 3

    /// A key that the list forbids was presented.
    package init?(denied facts: GroupFacts, _ evidence: CauseEvidence) {
        guard facts.group.reason == "denied-key" else { return nil }
        self.init(
            .interception, .medium, "A key that the list denies was presented.", evidence: evidence.seen,
            advice: [
                "A denied key is one that you believe is stolen: find out which server presents it, and from where.",
                "If it is a server of yours, its certificate was not replaced.",
            ])
    }

    /// The issuer names a product that intercepts.
    package init?(named facts: GroupFacts, _ evidence: CauseEvidence) {
        guard let product = facts.interceptor else {
            guard facts.group.reason == "user-defined-trust-anchor" else { return nil }
            self.init(
                .interception, .medium, "The chain ends in a root that was installed on the device later.",
                evidence: evidence.seen, advice: ["Look at the issuer: it often names the product."])
            return
        }
        let agrees = facts.leaves.number > 1 || !facts.otherHosts.isEmpty
        self.init(
            .interception, agrees ? .high : .medium,
            "Interception by \(product.name), \(product.category.rawValue), by the name of the issuer.",
            evidence: evidence.seen,
            advice: [
                product.category == .debuggingProxy
                    ? "From few networks this is a developer or a tester; from many, an attacker may use its name."
                    : "The pins did what they are for. Do not add this issuer's key to a list.",
                "Anyone can write this name into a certificate; compare the issuer's key with the product's.",
            ])
    }

    /// Apps hold an old list, and the newest would have done.
    package init?(stale facts: GroupFacts, _ evidence: CauseEvidence) {
        guard facts.isListOld, facts.newestListAllows != false else { return nil }
        let isKnown = facts.newestListAllows == true
        guard isKnown || facts.issuerIsPublicCA == true else { return nil }
        self.init(
            .staleClients, isKnown ? .high : .low,
            isKnown
                ? "Apps that still hold an old list: the newest one has a pin for this chain."
                : "Apps that still hold an old list; the newest one may have a pin for this chain.",
            evidence: evidence.seen,
            advice: [
                "Compare with the adoption of the newest list: these apps ask for it too seldom, or cannot reach it.",
                "Serve the old key until the newest list has arrived.",
            ])
    }

    /// The operator saw the key at the server.
    package init?(probed facts: GroupFacts, _ evidence: CauseEvidence) {
        guard facts.probed?.hasLeaf == true, facts.newestListAllows != true else { return nil }
        self.init(rotation: .high, evidence)
    }

    private init(rotation confidence: Confidence, _ evidence: CauseEvidence) {
        self.init(
            .rotation, confidence, "A server presents a key that the list does not have.", evidence: evidence.seen,
            advice: [
                "Ask the server's operators whether its certificate or its authority changed.",
                "If so: serve a key that is pinned, or publish a list with the new one, or suspend "
                    + "the entry for hours.",
                "If not, a stranger got a certificate for your host: look into certificate transparency logs.",
            ])
    }

    /// Names the cause from the numbers of leaves and networks of an issuer.
    package init(issuer facts: GroupFacts, _ evidence: CauseEvidence) {
        guard !facts.group.issuer.isEmpty else {
            self.init(unclear: facts, evidence)
            return
        }
        let networks = facts.networks?.number ?? 0
        let isFewLeaves = facts.leaves.number <= Self.fewLeaves && !facts.leaves.isMore
        // An issuer of one's own is as good as a public one, once a probe saw it.
        let isRightIssuer = facts.issuerIsPublicCA == true || facts.probed?.hasIssuer == true
        if isRightIssuer, isFewLeaves, networks >= Self.severalNetworks, facts.newestListAllows != true {
            self.init(rotation: networks >= Self.manyNetworks ? .high : .medium, evidence)
            return
        }
        if !isRightIssuer, !isFewLeaves || !facts.otherHosts.isEmpty || networks == 1 {
            self.init(interception: facts, evidence, isWide: networks >= Self.manyNetworks, isFewLeaves)
            return
        }
        self.init(unclear: facts, evidence)
    }

    private init(interception facts: GroupFacts, _ evidence: CauseEvidence, isWide: Bool, _ isFewLeaves: Bool) {
        let agrees = !isFewLeaves && (facts.issuerIsPublicCA == false || !facts.otherHosts.isEmpty)
        self.init(
            .interception, agrees ? .high : isFewLeaves && facts.otherHosts.isEmpty ? .low : .medium,
            isWide
                ? "Interception on many networks by an issuer that is not of the public web."
                : "Interception in few places: a corporate proxy, a filter, or a person who reads the "
                    + "traffic of one device.",
            evidence: evidence.seen,
            advice: [
                isWide
                    ? "This is more than one company: a provider, a country, or software on many devices. "
                        + "Look at the issuer."
                    : "If the network is known to you, ask its administrators for a proxy.",
                "Do not add this issuer's key to a list.",
            ])
    }
}

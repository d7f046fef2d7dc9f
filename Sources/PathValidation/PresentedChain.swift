// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import X509

/// What a server presented, sorted into what a path may be made of.
struct PresentedChain {
    /// The server's own certificate.
    let leaf: CandidateCertificate

    /// The leaf's names.
    let leafNames: SubjectAlternativeNames?

    /// What may stand between the leaf and an anchor.
    private(set) var intermediates: [CandidateCertificate] = []

    /// The anchors that issued one of these, by name.
    private(set) var anchors: [CandidateCertificate] = []

    /// Why certificates were left out, or paths refused, in the order of discovery.
    var objections: [String] = []

    /// Reads a presented chain.
    ///
    /// - Throws: ``PathRefusal`` when there is no leaf that may stand in its place, or there are too many certificates.
    init(_ presented: [[UInt8]], limit: Int, roots: RootStore, at time: Timestamp) throws(PathRefusal) {
        guard let first = presented.first else { throw PathRefusal(.noCertificates, "nothing was presented") }
        // Byte-identical ones are dropped; those that share subject and key are cross-signs, and all stay.
        var seen: Set<[UInt8]> = [first]
        let others = presented.dropFirst().filter { seen.insert($0).inserted }
        guard seen.count <= limit else { throw PathRefusal(.overBudget, "more than \(limit) presented certificates") }

        self.leaf = try CandidateCertificate(first)
        if let objection = CertificateProfile.objection(to: self.leaf, as: .leaf, at: time) {
            throw PathRefusal(.chainInvalid, "the server's certificate: \(objection)")
        }
        self.leafNames = try? self.leaf.certificate.extensions.subjectAlternativeNames

        for der in others {
            guard let candidate = try? CandidateCertificate(der) else {
                self.objections.append("a presented certificate was left out: it cannot be read")
                continue
            }
            // An anchor comes from the store, not from the peer.
            if roots.contains(candidate) { continue }
            self.add(candidate, as: .intermediate, at: time, to: \.intermediates)
        }
        var asked: Set<ArraySlice<UInt8>> = []
        for issuer in [self.leaf.issuer] + self.intermediates.map(\.issuer) where asked.insert(issuer).inserted {
            for anchor in roots.anchors(named: issuer) { self.add(anchor, as: .anchor, at: time, to: \.anchors) }
        }
    }

    private mutating func add(
        _ candidate: CandidateCertificate, as place: CertificateProfile.Place, at time: Timestamp,
        to list: WritableKeyPath<PresentedChain, [CandidateCertificate]>
    ) {
        if let objection = CertificateProfile.objection(to: candidate, as: place, at: time) {
            self.objections.append("\(candidate.name): \(objection)")
        } else {
            self[keyPath: list].append(candidate)
        }
    }

    /// The most useful thing to say when no path was validated.
    ///
    /// - Parameter deepest: The last certificate to which a chain of signatures led.
    func explanation(deepest: CandidateCertificate) -> String {
        if let objection = self.objections.last { return objection }
        let issuer = DistinguishedNameText(issuerOf: deepest.der)?.description ?? ""
        return "no path to an anchor: nothing was presented or is trusted that issued «\(deepest.name)» as «\(issuer)»"
    }
}
#endif

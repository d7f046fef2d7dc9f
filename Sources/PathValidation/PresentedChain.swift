// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import X509

/// The presented chain, sorted into the leaf, the intermediates and the anchors of a path.
struct PresentedChain {
    /// The server's own certificate.
    let leaf: CandidateCertificate

    /// The leaf's names.
    let leafNames: SubjectAlternativeNames?

    /// The candidates between the leaf and an anchor.
    private(set) var intermediates: [CandidateCertificate] = []

    /// The anchors that issued one of the certificates, by name.
    private(set) var anchors: [CandidateCertificate] = []

    /// The objections to certificates and paths, in the order of discovery.
    var objections: [CertificateProfile.Objection] = []

    /// The earliest begin of validity of the certificates that were left out because they are not yet valid.
    private(set) var nextStart: Timestamp?

    /// The end of the coverage of the path by revocation lists, where coverage is demanded.
    var coveredUntil: Timestamp?

    /// The refusal by revocation lists of an otherwise valid path.
    private var revocation: PathValidationError?

    private let isServers: Bool

    /// Reads a presented chain.
    ///
    /// - Throws: ``PathValidationError`` when there is no leaf that may stand in its place, there are too many certificates, or
    ///   reading them takes too long.
    init(
        _ presented: [[UInt8]], limit: Int, roots: RootStore, as identity: ServerIdentity, at time: Timestamp,
        spending budget: inout PathBudget
    ) throws(PathValidationError) {
        self.isServers = identity.isServer
        guard let first = presented.first else { throw PathValidationError(.noCertificates, "nothing was presented") }
        // Byte-identical ones are dropped; those that share subject and key are cross-signs, and all stay.
        var seen: Set<[UInt8]> = [first]
        let others = presented.dropFirst().filter { seen.insert($0).inserted }
        guard seen.count <= limit else {
            throw PathValidationError(.overBudget, "more than \(limit) presented certificates")
        }

        self.leaf = try CandidateCertificate(first)
        if let objection = CertificateProfile.objection(to: self.leaf, as: .leaf, ofServer: self.isServers, at: time) {
            throw PathValidationError(
                .chainInvalid, "the \(self.isServers ? "server's certificate" : "leaf"): \(objection)",
                isRepeatable: !objection.isAboutTime, isAboutLeaf: true)
        }
        self.leafNames = try? self.leaf.certificate.extensions.subjectAlternativeNames

        for der in others {
            try budget.checkDeadline()
            guard let candidate = try? CandidateCertificate(der) else {
                self.object("a presented certificate was left out: it cannot be read")
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
        if let objection = CertificateProfile.objection(to: candidate, as: place, ofServer: self.isServers, at: time) {
            self.objections.append(
                CertificateProfile.Objection(
                    description: "\(candidate.name): \(objection)", isAboutTime: objection.isAboutTime,
                    subject: candidate.subject))
            let start = candidate.validity.lowerBound
            if start > time { self.nextStart = min(self.nextStart ?? start, start) }
        } else {
            self[keyPath: list].append(candidate)
        }
    }

    /// Records an objection to a certificate or a path.
    mutating func object(_ text: String) {
        self.objections.append(CertificateProfile.Objection(description: text))
    }

    /// Records that revocation lists refuse an otherwise valid path; `revoked` replaces `revocation-unknown`.
    mutating func note(_ refusal: PathValidationError) {
        if self.revocation?.reason != .revoked { self.revocation = refusal }
    }

    /// The refusal when no path was validated, with the most useful detail.
    ///
    /// - Parameter search: The search that ended.
    func refusal(after search: PathSearch) -> PathValidationError {
        if let revocation { return revocation }
        // A certificate that could have issued none of the others is not what is missing.
        let issuers = Set([self.leaf.issuer] + self.intermediates.map(\.issuer))
        if let objection = self.objections.last(where: { $0.subject.map(issuers.contains) ?? true }) {
            return PathValidationError(.chainInvalid, objection.description, isRepeatable: !objection.isAboutTime)
        }
        let deepest = search.unissued
        let issuer = DistinguishedNameText(issuerOf: deepest.der)?.description ?? ""
        return PathValidationError(
            .chainInvalid,
            "no path to an anchor: the issuer of «\(deepest.name)» («\(issuer)») was neither sent by the server "
                + "nor found in the roots")
    }
}
#endif

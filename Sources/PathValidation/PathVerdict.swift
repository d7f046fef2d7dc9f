// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import X509

/// What swift-certificates' verifier says of one path. It is given nothing else to build one from.
struct PathVerdict {
    /// Why the path is refused; `nil` when it is validated.
    let objection: String?

    /// Whether the verifier found that each signature of the path holds. It asks its policies about no other path.
    let showsSignatures: Bool

    /// Has a path judged, which costs a check of each of its signatures.
    ///
    /// - Parameters:
    ///   - path: The certificates, leaf first, anchor last; none of them has unique identifiers.
    ///   - identity: Whose certificate the leaf must be.
    ///   - time: The time at which all certificates must be valid.
    init(on path: [CandidateCertificate], as identity: ServerIdentity, at time: Timestamp) async {
        let certificates = path.map(\.certificate)
        let rules = PathRulesPolicy(identity: identity, at: time, path: path)
        var verifier = Verifier(rootCertificates: CertificateStore(certificates.suffix(1))) { rules }
        let verdict = await verifier.validate(
            leaf: path[0].certificate, intermediates: CertificateStore(certificates.dropFirst().dropLast()))
        switch verdict {
        case .validCertificate(let validated):
            // Given one path, the verifier may still have found a shorter one in it. That one is proposed by itself.
            self.showsSignatures = validated.elementsEqual(certificates)
            self.objection = self.showsSignatures ? nil : "the verifier found another path"
        case .couldNotValidate(let failures):
            self.showsSignatures = failures.contains { $0.chain.elementsEqual(certificates) }
            self.objection = failures.last?.policyFailureReason.description ?? "the verifier refused the path"
        }
    }
}
#endif

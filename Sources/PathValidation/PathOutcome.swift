// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import X509

/// The outcome of a validation: the path or the refusal, and the cost.
public struct PathOutcome: Sendable {
    /// The validated path, its anchor included, or the refusal.
    public let result: Result<ValidatedPath, PathValidationError>

    /// The period in which all certificates of the path are valid; `nil` without a path.
    public let validity: ClosedRange<Timestamp>?

    /// The work of the validation.
    public let work: PathWork

    /// Whether the work was over half of one of the limits.
    let isCostly: Bool
}

/// The work of one validation, in the units of ``PathLimits``.
public struct PathWork: Hashable, Sendable {
    /// The number of signature checks of the search and of the verifier.
    public internal(set) var signatureChecks = 0

    /// Candidates looked at as the issuer of another.
    public internal(set) var candidateSteps = 0

    /// The number of parts of names that were read and compared with name constraints.
    public internal(set) var nameComparisons = 0

    /// Policies that were read, mapped or carried on.
    public internal(set) var policySteps = 0

    /// The number of complete paths with checked signatures that our rules and swift-certificates' verifier evaluated.
    public internal(set) var examinedPaths = 0
}

/// The verdict of swift-certificates' verifier on one path. The verifier is given no other certificates.
struct PathVerdict {
    /// The reason of the refusal; `nil` for a validated path.
    let objection: String?

    /// Whether the verifier found each signature of the path valid. It asks its policies only about such a path.
    let showsSignatures: Bool

    /// Asks the verifier about a path, which costs a check of each of its signatures.
    ///
    /// - Parameters:
    ///   - path: The certificates, leaf first, anchor last; none of them has unique identifiers.
    ///   - identity: The server whose certificate the leaf must be.
    ///   - time: The time at which all certificates must be valid.
    init(on path: [CandidateCertificate], as identity: ServerIdentity, at time: Timestamp) async {
        let certificates = path.map(\.certificate)
        let rules = PathRulesPolicy(identity: identity, at: time, path: path)
        var verifier = Verifier(rootCertificates: CertificateStore(certificates.suffix(1))) { rules }
        let verdict = await verifier.validate(
            leaf: path[0].certificate, intermediates: CertificateStore(certificates.dropFirst().dropLast()))
        switch verdict {
        case .validCertificate(let validated):
            // Within one path the verifier may find a shorter one, which the search proposes by itself.
            self.showsSignatures = validated.elementsEqual(certificates)
            self.objection = self.showsSignatures ? nil : "the verifier found another path"
        case .couldNotValidate(let failures):
            self.showsSignatures = failures.contains { $0.chain.elementsEqual(certificates) }
            self.objection = failures.last?.policyFailureReason.description ?? "the verifier refused the path"
        }
    }
}

/// The refusal of a presented chain without a validated path.
public struct PathValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `chain-invalid`, `no-certificates`, `over-budget`, `revoked` or `revocation-unknown`: the reason of the
    /// transport's decision.
    public let reason: PinningDecision.Reason

    /// A detail for people, in one sentence.
    public let detail: String

    /// Whether the answer is stable, also a little later and on a machine that is less busy: not where the
    /// time, the host's name or the deadline decided.
    let isRepeatable: Bool

    /// Whether the leaf itself was refused: no other certificate that is presented with it changes that.
    package let isAboutLeaf: Bool

    /// Creates a refusal.
    init(_ reason: PinningDecision.Reason, _ detail: String, isRepeatable: Bool = true, isAboutLeaf: Bool = false) {
        self.isAboutLeaf = isAboutLeaf
        self.reason = reason
        self.detail = detail
        self.isRepeatable = isRepeatable
    }

    /// The reason's code and the detail.
    public var description: String { "\(self.reason): \(self.detail)" }
}
#endif

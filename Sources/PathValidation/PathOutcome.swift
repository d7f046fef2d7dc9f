// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import X509

/// What a validation came to, and what it cost.
public struct PathOutcome: Sendable {
    /// The one path that was validated, its anchor included, or why there is none.
    public let result: Result<ValidatedPath, PathValidationError>

    /// When all certificates of the path are valid; `nil` without a path.
    public let validity: ClosedRange<Timestamp>?

    /// The work that was done for it.
    public let work: PathWork

    /// Whether it took over half of one of the limits.
    let isCostly: Bool
}

/// The work of one validation, in the units of ``PathLimits``.
public struct PathWork: Hashable, Sendable {
    /// Signature checks of the search and of the verifier.
    public internal(set) var signatureChecks = 0

    /// Candidates looked at as the issuer of another.
    public internal(set) var candidateSteps = 0

    /// Parts of names that were read and held against name constraints.
    public internal(set) var nameComparisons = 0

    /// Policies that were read, mapped or carried on.
    public internal(set) var policySteps = 0

    /// Complete paths, signatures checked, that were evaluated by our rules and swift-certificates' verifier.
    public internal(set) var examinedPaths = 0
}

/// What swift-certificates' verifier says of one path. It is given nothing else to build one from.
struct PathVerdict {
    /// Why the path is refused; `nil` when it is validated.
    let objection: String?

    /// Whether the verifier found that each signature of the path holds. It asks its policies about no other path.
    let showsSignatures: Bool

    /// Has a path evaluated, which costs a check of each of its signatures.
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

/// Why a presented chain has no validated path.
public struct PathValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `chain-invalid`, `no-certificates`, `over-budget`, `revoked` or `revocation-unknown`: the reason of the decision that a transport makes of this.
    public let reason: PinningDecision.Reason

    /// What a person should know of it, in one sentence.
    public let detail: String

    /// Whether the same question gets the same answer a little later and on a machine that is less busy: not where the
    /// time, the host's name or the deadline decided.
    let isRepeatable: Bool

    /// States a refusal.
    init(_ reason: PinningDecision.Reason, _ detail: String, isRepeatable: Bool = true) {
        self.reason = reason
        self.detail = detail
        self.isRepeatable = isRepeatable
    }

    /// The reason's code and the detail.
    public var description: String { "\(self.reason): \(self.detail)" }
}
#endif

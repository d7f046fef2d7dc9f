// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import X509

/// From the chain that a server presents to the **one** path that is validated, where no platform does it for us.
///
/// swift-certificates' `Verifier` judges, by RFC 5280 and the server's identity. In front of it stand what its policies
/// leave out (`CertificateProfile`) and a search with a budget (`PathSearch`), which proposes one path at a time.
/// The path that comes out is the one the verifier validated, its anchor included.
public struct PathValidator: Sendable {
    /// The anchors that a path may end in.
    public let roots: RootStore

    /// How much work one validation may be.
    public let limits: PathLimits

    private let monotonicNanoseconds: @Sendable () -> UInt64

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - roots: The anchors that a path may end in.
    ///   - limits: How much work one validation may be.
    ///   - monotonicNanoseconds: A clock that only goes forward, for the last of the limits.
    public init(
        roots: RootStore, limits: PathLimits = .standard, monotonicNanoseconds: @escaping @Sendable () -> UInt64
    ) {
        self.roots = roots
        self.limits = limits
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// Validates a presented chain.
    ///
    /// - Parameters:
    ///   - presented: Certificates in DER: the leaf first, the rest in any order, junk allowed. One that cannot be read
    ///     is left out and does not fail the others, unless it is the leaf.
    ///   - identity: Whose certificate the leaf must be.
    ///   - time: The time at which all certificates of the path must be valid.
    /// - Returns: The validated path or why there is none, and the work that was done.
    public func validate(presented: [[UInt8]], as identity: ServerIdentity, at time: Timestamp) async -> PathOutcome {
        var budget = PathBudget(self.limits, monotonicNanoseconds: self.monotonicNanoseconds)
        do throws(PathRefusal) {
            let path = try await self.path(from: presented, as: identity, at: time, spending: &budget)
            return PathOutcome(
                result: .success(ValidatedPath(uncheckedValidatedPath: path.map(\.der))),
                validity: path.reduce(nil) { $0?.clamped(to: $1.validity) ?? $1.validity }, work: budget.work)
        } catch {
            return PathOutcome(result: .failure(error), validity: nil, work: budget.work)
        }
    }

    private func path(
        from presented: [[UInt8]], as identity: ServerIdentity, at time: Timestamp, spending budget: inout PathBudget
    ) async throws(PathRefusal) -> [CandidateCertificate] {
        var chain = try PresentedChain(presented, limit: self.limits.presentedCertificates, roots: self.roots, at: time)
        guard identity.matches(chain.leafNames) else {
            throw PathRefusal(.chainInvalid, "the certificate is for another server than \(identity)")
        }
        // A leaf that is itself an anchor is a path of one.
        if self.roots.contains(chain.leaf),
            let path = try await self.judge([chain.leaf], as: identity, at: time, spending: &budget, &chain.objections)
        {
            return path
        }
        var search = PathSearch(
            from: chain.leaf, through: chain.intermediates, to: chain.anchors, maximumLength: self.limits.pathLength)
        while let candidates = try search.next(spending: &budget) {
            if let path = try await self.judge(candidates, as: identity, at: time, spending: &budget, &chain.objections)
            {
                return path
            }
        }
        throw PathRefusal(.chainInvalid, chain.explanation(deepest: search.unissued))
    }

    /// Has the verifier judge exactly one path: it is given nothing else to build one from.
    private func judge(
        _ candidates: [CandidateCertificate], as identity: ServerIdentity, at time: Timestamp,
        spending budget: inout PathBudget, _ objections: inout [String]
    ) async throws(PathRefusal) -> [CandidateCertificate]? {
        try budget.countJudgement()
        if let objection = try NameConstraintsCheck.objection(to: candidates, spending: &budget) {
            objections.append(objection)
            return nil
        }
        try budget.countSignatures(candidates.count - 1)
        let rules = PathRulesPolicy(
            identity: identity, at: time, isConstrained: candidates.contains { $0.hasNameConstraints })
        var verifier = Verifier(rootCertificates: CertificateStore(candidates.suffix(1).map(\.certificate))) { rules }
        let verdict = await verifier.validate(
            leaf: candidates[0].certificate,
            intermediates: CertificateStore(candidates.dropFirst().dropLast().map(\.certificate)))
        switch verdict {
        case .validCertificate(let chain):
            // Given one path, the verifier may still have found a shorter one in it: what it validated is what counts.
            let validated = chain.compactMap { certificate in candidates.first { $0.certificate == certificate } }
            return validated.count == chain.count ? validated : nil
        case .couldNotValidate(let failures):
            objections.append(failures.last?.policyFailureReason.description ?? "the verifier refused the path")
            return nil
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

/// Validates a presented chain to **one** path, where no platform validates it for us.
///
/// swift-certificates' `Verifier` evaluates, by RFC 5280 and the server's identity. Before it come the checks that its
/// policies leave out (`CertificateProfile`, `NameConstraintsCheck`, `PolicyGraph`) and a search with a budget
/// (`PathSearch`), which proposes one path at a time. The path that comes out is the one the verifier validated, its
/// anchor included.
public struct PathValidator: Sendable {
    /// The anchors that a path may end in.
    public let roots: RootStore

    /// The limits of the work of one validation.
    public let limits: PathLimits

    /// The revocation lists that a path must pass; `nil` for none.
    public let revocation: RevocationCheck?

    private let monotonicNanoseconds: @Sendable () -> UInt64

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - roots: The anchors that a path may end in.
    ///   - limits: The limits of the work of one validation.
    ///   - revocation: The revocation lists that a path must pass; `nil` for none.
    ///   - monotonicNanoseconds: A monotonic clock, for the time limit.
    public init(
        roots: RootStore, limits: PathLimits = .standard, revocation: RevocationCheck? = nil,
        monotonicNanoseconds: @escaping @Sendable () -> UInt64
    ) {
        self.roots = roots
        self.limits = limits
        self.revocation = revocation
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// Validates a presented chain.
    ///
    /// - Parameters:
    ///   - presented: Certificates in DER: the leaf first, the rest in any order, unrelated ones allowed. A certificate
    ///     that cannot be read is left out, unless it is the leaf.
    ///   - identity: The server whose certificate the leaf must be.
    ///   - time: The time at which all certificates of the path must be valid.
    /// - Returns: The validated path or the refusal, and the work.
    public func validate(presented: [[UInt8]], as identity: ServerIdentity, at time: Timestamp) async -> PathOutcome {
        var budget = PathBudget(self.limits, monotonicNanoseconds: self.monotonicNanoseconds)
        do throws(PathValidationError) {
            let (path, coveredUntil) = try await self.path(from: presented, as: identity, at: time, spending: &budget)
            var validity = path.reduce(nil) { $0?.clamped(to: $1.validity) ?? $1.validity }
            if let coveredUntil { validity = validity?.clamped(to: min(time, coveredUntil)...coveredUntil) }
            return PathOutcome(
                result: .success(ValidatedPath(uncheckedValidatedPath: path.map(\.der))), validity: validity,
                work: budget.work, isCostly: budget.isHalfSpent)
        } catch {
            return PathOutcome(
                result: .failure(error), validity: nil, work: budget.work, isCostly: budget.isHalfSpent)
        }
    }

    /// The path and the end of its coverage by revocation lists, where coverage is demanded.
    private func path(
        from presented: [[UInt8]], as identity: ServerIdentity, at time: Timestamp, spending budget: inout PathBudget
    ) async throws(PathValidationError) -> (certificates: [CandidateCertificate], coveredUntil: Timestamp?) {
        var chain = try PresentedChain(
            presented, limit: self.limits.presentedCertificates, roots: self.roots, as: identity, at: time,
            spending: &budget)
        guard identity.matches(chain.leafNames) else {
            throw PathValidationError(
                .chainInvalid, "the certificate is for another server than \(identity)", isRepeatable: false)
        }
        do throws(PathValidationError) {
            let path = try await self.path(in: &chain, as: identity, at: time, spending: &budget)
            return (path, chain.coveredUntil)
        } catch {
            // A certificate that becomes valid while a refusal is cached may change the answer.
            let isSoon = chain.nextStart.map {
                $0.secondsSince1970 &- time.secondsSince1970 <= PathCache.refusalLifetime
            }
            throw isSoon == true ? PathValidationError(error.reason, error.detail, isRepeatable: false) : error
        }
    }

    private func path(
        in chain: inout PresentedChain, as identity: ServerIdentity, at time: Timestamp,
        spending budget: inout PathBudget
    ) async throws(PathValidationError) -> [CandidateCertificate] {
        var constraints = NameConstraintsCheck()
        // A leaf that is itself an anchor is a path of one.
        if self.roots.contains(chain.leaf) {
            let alone = PathSearch.Proposal(certificates: [chain.leaf], nodes: [0])
            if try await self.evaluate(alone, nil, as: identity, at: time, &constraints, spending: &budget, &chain) {
                return alone.certificates
            }
        }
        var search = PathSearch(
            from: chain.leaf, through: chain.intermediates, to: chain.anchors, maximumLength: self.limits.pathLength)
        let first = try await self.verdictOnFirstChoice(of: &search, as: identity, at: time, spending: &budget)
        while let proposal = try search.next(spending: &budget) {
            let known = first.flatMap { $0.nodes == proposal.nodes ? $0.verdict : nil }
            if try await self.evaluate(proposal, known, as: identity, at: time, &constraints, spending: &budget, &chain)
            {
                return proposal.certificates
            }
        }
        if budget.work.examinedPaths == 0, let tooLong = search.tooLong { chain.object(tooLong) }
        throw chain.refusal(after: search)
    }

    /// Asks the verifier about the path that stands out, before a signature was checked: it checks them all, and the
    /// search learns that they are valid. `nil` when no path stands out or one of its signatures is invalid; the search
    /// then finds out which.
    ///
    /// The verifier always checks signatures, so that a path which the search has checked costs twice as much. The
    /// proposals, their order and the messages are the same with and without this.
    private func verdictOnFirstChoice(
        of search: inout PathSearch, as identity: ServerIdentity, at time: Timestamp, spending budget: inout PathBudget
    ) async throws(PathValidationError) -> (nodes: [Int], verdict: PathVerdict)? {
        guard let choice = search.firstChoice() else { return nil }
        let signatures = choice.certificates.count - 1
        // When one is invalid, the search checks those below it once more: a narrow budget is not spent on that.
        guard !choice.hasUniqueIdentifiers, budget.hasRoom(forSignatures: 2 * signatures) else { return nil }
        try budget.countSignatures(signatures)
        let verdict = await PathVerdict(on: choice.certificates, as: identity, at: time)
        guard verdict.showsSignatures else { return nil }
        search.noteSignatures(of: choice)
        return (choice.nodes, verdict)
    }

    /// Evaluates exactly one path: by our own rules, and by the verifier, unless its verdict is known.
    private func evaluate(
        _ proposal: PathSearch.Proposal, _ known: PathVerdict?, as identity: ServerIdentity, at time: Timestamp,
        _ constraints: inout NameConstraintsCheck, spending budget: inout PathBudget, _ chain: inout PresentedChain
    ) async throws(PathValidationError) -> Bool {
        let candidates = proposal.certificates
        try budget.countExamination()
        var objection = try constraints.objection(to: candidates, nodes: proposal.nodes, spending: &budget)
        if objection == nil { objection = try PolicyGraph.objection(to: candidates, spending: &budget) }
        if let objection {
            chain.object(objection)
            return false
        }
        // The verifier would check the signature over the bytes that the parser was given. The search has checked the
        // signatures, and the profile and the rules above the rest.
        guard !proposal.hasUniqueIdentifiers else {
            return try await self.passesRevocation(candidates, at: time, spending: &budget, &chain)
        }
        var verdict = known
        if verdict == nil {
            try budget.countSignatures(candidates.count - 1)
            verdict = await PathVerdict(on: candidates, as: identity, at: time)
        }
        guard let objection = verdict?.objection else {
            return try await self.passesRevocation(candidates, at: time, spending: &budget, &chain)
        }
        chain.object(objection)
        return false
    }

    /// Asks the revocation lists about a path that is valid otherwise. Another path may pass where this one does not.
    private func passesRevocation(
        _ path: [CandidateCertificate], at time: Timestamp, spending budget: inout PathBudget,
        _ chain: inout PresentedChain
    ) async throws(PathValidationError) -> Bool {
        guard let revocation else { return true }
        // A list's signature is checked once for each issuer's key and counts as one check, however long the list is:
        // the operator gives the lists, and a peer can choose only certificates that CAs have signed.
        try budget.countSignatures(path.count - 1)
        do throws(PathValidationError) {
            chain.coveredUntil = try await revocation.check(path, at: time)
            return true
        } catch {
            chain.note(error)
            return false
        }
    }
}
#endif

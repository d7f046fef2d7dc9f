// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// Counts the work of one validation and ends it when there is too much.
struct PathBudget {
    private let limits: PathLimits
    private let monotonicNanoseconds: @Sendable () -> UInt64
    private let start: UInt64

    /// The work so far.
    private(set) var work = PathWork()

    /// Starts counting.
    init(_ limits: PathLimits, monotonicNanoseconds: @escaping @Sendable () -> UInt64) {
        self.limits = limits
        self.monotonicNanoseconds = monotonicNanoseconds
        self.start = monotonicNanoseconds()
    }

    /// Counts one look at a candidate.
    mutating func countStep() throws(PathValidationError) {
        self.work.candidateSteps += 1
        try self.check(self.work.candidateSteps, self.limits.candidateSteps, "candidate steps")
    }

    /// Counts signature checks that are about to be made.
    mutating func countSignatures(_ count: Int = 1) throws(PathValidationError) {
        self.work.signatureChecks += count
        try self.check(self.work.signatureChecks, self.limits.signatureChecks, "signature checks")
        try self.checkDeadline()
    }

    /// Whether a number of signature checks is left.
    func hasRoom(forSignatures count: Int) -> Bool {
        self.work.signatureChecks + count <= self.limits.signatureChecks
    }

    /// Counts a path that is about to be evaluated.
    mutating func countExamination() throws(PathValidationError) {
        self.work.examinedPaths += 1
        try self.checkDeadline()
    }

    /// Counts parts of names that were read, or are about to be compared with constraints.
    mutating func countNameComparisons(_ count: Int) throws(PathValidationError) {
        self.work.nameComparisons += count
        try self.check(self.work.nameComparisons, self.limits.nameComparisons, "comparisons with name constraints")
        try self.checkDeadline()
    }

    /// Counts policies that are about to be looked at.
    mutating func countPolicySteps(_ count: Int) throws(PathValidationError) {
        self.work.policySteps += count
        try self.check(self.work.policySteps, self.limits.policySteps, "policies")
        try self.checkDeadline()
    }

    /// Whether over half of one of the limits is spent, time included.
    var isHalfSpent: Bool {
        let parts = [
            (self.work.signatureChecks, self.limits.signatureChecks),
            (self.work.candidateSteps, self.limits.candidateSteps),
            (self.work.nameComparisons, self.limits.nameComparisons),
            (self.work.policySteps, self.limits.policySteps),
        ]
        return parts.contains { spent, limit in spent > limit / 2 } || self.elapsed > self.limits.nanoseconds / 2
    }

    /// Throws when the time is over.
    func checkDeadline() throws(PathValidationError) {
        guard self.elapsed <= self.limits.nanoseconds else {
            throw PathValidationError(
                .overBudget, "more than \(self.limits.nanoseconds / 1_000_000) ms", isRepeatable: false)
        }
    }

    private var elapsed: UInt64 { self.monotonicNanoseconds() &- self.start }

    private func check(_ count: Int, _ limit: Int, _ unit: String) throws(PathValidationError) {
        guard count <= limit else { throw PathValidationError(.overBudget, "more than \(limit) \(unit)") }
    }
}

/// The limits of the work of one validation. Work is counted, not timed, so that a verdict does not depend on the
/// machine. A peer chooses all certificates but the anchors, and without a bound the search is exponential in them.
public struct PathLimits: Hashable, Sendable {
    /// The number of presented certificates, byte-identical ones counted once.
    public var presentedCertificates: Int

    /// The number of certificates in a path, the leaf and the anchor included.
    public var pathLength: Int

    /// The number of signature checks, those of swift-certificates' verifier included. They are the largest cost by
    /// far: 10 to 350 µs each.
    public var signatureChecks: Int

    /// Candidates looked at as the issuer of another.
    public var candidateSteps: Int

    /// Parts of names (attributes of directory names, labels of hosts, bytes of addresses) that are compared with name
    /// constraints, and the cost of reading them: one for each and one for every sixteen bytes. A leaf may carry
    /// thousands of names, and a CA thousands of constraints.
    public var nameComparisons: Int

    /// Policies that are read, mapped or carried from one certificate to the next.
    public var policySteps: Int

    /// The time limit in nanoseconds, the last resort where the counts did not foresee a cost.
    public var nanoseconds: UInt64

    /// The default limits: the chains of the public web stay far below each of them.
    public static let standard = PathLimits(
        presentedCertificates: 64, pathLength: 10, signatureChecks: 128, candidateSteps: 4_096,
        nameComparisons: 2_500_000, policySteps: 10_000, nanoseconds: 1_000_000_000)
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// How much work one validation may be. Counted, not timed, so that a verdict does not depend on the machine; a peer
/// chooses all certificates but the anchors, and the search is exponential in them without a bound.
public struct PathLimits: Hashable, Sendable {
    /// Presented certificates after byte-identical ones were dropped.
    public var presentedCertificates: Int

    /// Certificates in a path, the leaf and the anchor included.
    public var pathLength: Int

    /// Signature checks, those of swift-certificates' verifier included. The largest cost by far: 10 to 350 µs each.
    public var signatureChecks: Int

    /// Candidates looked at as the issuer of another.
    public var candidateSteps: Int

    /// Parts of names (attributes of directory names, labels of hosts, bytes of addresses) that are held against name
    /// constraints, and what it costs to read them: one for each and one for every sixteen bytes. A leaf may carry
    /// thousands of names, and a CA thousands of constraints.
    public var nameComparisons: Int

    /// Policies that are read, mapped or carried from one certificate to the next.
    public var policySteps: Int

    /// The last resort, in nanoseconds: what the counts did not foresee.
    public var nanoseconds: UInt64

    /// The limits in force: the real chains of the public web stay far below each of them.
    public static let standard = PathLimits(
        presentedCertificates: 64, pathLength: 10, signatureChecks: 128, candidateSteps: 4_096,
        nameComparisons: 2_500_000, policySteps: 10_000, nanoseconds: 1_000_000_000)
}
#endif

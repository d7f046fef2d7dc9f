// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

/// What a validation came to, and what it cost.
public struct PathOutcome: Sendable {
    /// The one path that was validated, its anchor included, or why there is none.
    public let result: Result<ValidatedPath, PathRefusal>

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

    /// Complete paths, signatures checked, that were judged by our rules and swift-certificates' verifier.
    public internal(set) var judgedPaths = 0
}
#endif

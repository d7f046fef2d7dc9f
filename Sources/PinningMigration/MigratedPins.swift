// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The pins of another tool's configuration: entries of a policy, and warnings about all differences.
///
/// No setting is dropped silently: it has the same effect here, or gives a warning. A value that the other tool itself
/// refuses, often by ending the app, gives a warning or a ``MigrationError``.
///
/// An entry without a usable pin is kept, and blocks every connection.
public struct MigratedPins: Hashable, Sendable {
    /// The entries, each host once, in the order of their names.
    public var domains: [PinnedDomain]

    /// The rule for hosts that no entry covers: the other tools allow them.
    public var unlisted: UnlistedHosts

    /// The differences.
    public var warnings: [MigrationWarning]

    /// Creates the result of a collection; an empty one is an error.
    init(_ collector: MigrationCollector) throws(MigrationError) {
        guard !collector.isEmpty else {
            let reason = collector.warnings.first.map { "no host is pinned in it: \($0)" } ?? "no host is pinned in it"
            throw MigrationError(
                .nothingPinned, reason, hint: "check that it is the right file, and the right part of it")
        }
        self.domains = collector.sortedDomains
        self.unlisted = .allow
        self.warnings = collector.warnings
    }

    /// The policy, for an app that does not use signed lists yet.
    ///
    /// - Throws: ``/CertificatePinning/InputError/Code/policy`` when ``domains`` was changed into rules that
    ///   contradict each other.
    public func policy() throws(InputError) -> PinningPolicy {
        try PinningPolicy(domains: self.domains, unlisted: self.unlisted)
    }
}

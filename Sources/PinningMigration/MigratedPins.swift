// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// What another tool's configuration comes to here: entries of a policy, and all that is not the same.
///
/// Nothing is left out in silence: what a setting did and what it does here is either the same, or a warning. What the
/// other tool itself refuses, often by ending the app, is a warning or a ``MigrationError``.
///
/// An entry whose every pin is unusable stays, and blocks: an entry that enforces never opens.
public struct MigratedPins: Hashable, Sendable {
    /// The entries, each host once, in the order of their names.
    public var domains: [PinnedDomain]

    /// What happens to hosts that no entry covers: the other tools let them pass.
    public var unlisted: UnlistedHosts

    /// What is not the same.
    public var warnings: [MigrationWarning]

    /// What was collected; nothing is an error.
    init(_ collector: MigrationCollector) throws(MigrationError) {
        guard !collector.isEmpty else {
            let reason = collector.warnings.first.map { "no host is pinned in it: \($0)" } ?? "no host is pinned in it"
            throw MigrationError(.nothingPinned, reason, hint: "look whether it is the right file, and its right part")
        }
        self.domains = collector.sortedDomains
        self.unlisted = .allow
        self.warnings = collector.warnings
    }

    /// The rules, for an app that is not ready for signed lists yet.
    ///
    /// - Throws: ``/CertificatePinning/InputError/Code/policy`` when ``domains`` was changed into rules that
    ///   contradict each other.
    public func policy() throws(InputError) -> PinningPolicy {
        try PinningPolicy(domains: self.domains, unlisted: self.unlisted)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An entry of a list: which hosts it covers and what is expected of their paths (formats.md, section 3.2).
public struct PinnedDomain: Hashable, Sendable {
    /// What a mismatch does.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// It blocks.
        case enforce
        /// It is allowed, and reported.
        case report
        /// Nothing is expected: the entry carves its hosts out of a farther one.
        case off
    }

    /// The host the entry is named for.
    public var domain: HostName

    /// Whether names under ``domain`` are covered too, at any depth.
    public var includeSubdomains: Bool

    /// What a mismatch does.
    public var mode: Mode

    /// Whether this installation lies in the share of those that enforce; the others only report. Which share that is,
    /// and where an installation lies, is decided where the list is read.
    public var isInRollout: Bool

    /// What is expected. An entry that enforces without any blocks: it never opens.
    public var pins: [KnownPin]

    /// Whether one `leaf` pin *and* one `issuer` pin must match, as Apple's `NSPinnedDomains` has it.
    public var requireIssuer: Bool

    /// After this the entry is no longer enforced.
    public var expiresAt: Timestamp?

    /// Where failures of these hosts are reported to.
    public var reportTo: [String]

    /// What is asked of Certificate Transparency where a pin matches; `nil` for nothing.
    public var transparency: TransparencyRule?

    /// Creates an entry; the defaults are those of the format.
    public init(
        _ domain: HostName,
        includeSubdomains: Bool = false,
        mode: Mode = .enforce,
        isInRollout: Bool = true,
        pins: [KnownPin],
        requireIssuer: Bool = false,
        expiresAt: Timestamp? = nil,
        reportTo: [String] = [],
        transparency: TransparencyRule? = nil
    ) {
        self.domain = domain
        self.includeSubdomains = includeSubdomains
        self.mode = mode
        self.isInRollout = isInRollout
        self.pins = pins
        self.requireIssuer = requireIssuer
        self.expiresAt = expiresAt
        self.reportTo = reportTo
        self.transparency = transparency
    }

    /// Whether a mismatch blocks.
    public var isEnforced: Bool { self.mode == .enforce && self.isInRollout }
}

/// What an entry asks of Certificate Transparency (formats.md, section 3.2): a policy, and what follows where it is not
/// satisfied. Who evaluates it is `CertificateTransparency`; what follows from the evaluation is
/// ``PinningDecision/evaluated(_:)``.
public struct TransparencyRule: Hashable, Sendable {
    /// What a policy that is not satisfied does. `off` in a list is no rule.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// It is allowed, and reported.
        case report
        /// It blocks where the entry enforces its pins.
        case enforce
    }

    /// The policies that there are, by their names in a list. Their rules stand in `CertificateTransparency`.
    public enum Policy: String, Hashable, Sendable, CaseIterable {
        /// Chrome's, of November 2026.
        case chrome
        /// Apple's, of November 2026.
        case apple
    }

    /// What a policy that is not satisfied does.
    public var mode: Mode

    /// The policy.
    public var policy: Policy

    /// Asks for a policy.
    public init(_ mode: Mode, _ policy: Policy) {
        self.mode = mode
        self.policy = policy
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An entry of a list: which hosts it covers and what is expected of their paths (formats.md, section 3.2).
public struct PinnedDomain: Hashable, Sendable {
    /// The effect of a mismatch: the mode of the entry.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// A mismatch blocks.
        case enforce
        /// The connection is allowed and reported.
        case report
        /// Nothing is expected: the entry exempts its hosts from an entry of a parent domain.
        case off
    }

    /// The host the entry is named for.
    public var domain: HostName

    /// Whether names under ``domain`` are covered too, at any depth.
    public var includeSubdomains: Bool

    /// The effect of a mismatch: the mode of the entry.
    public var mode: Mode

    /// Whether this installation is in the share that enforces; the others only report. `PinList.policy` computes that
    /// when it reads a list.
    public var isInRollout: Bool

    /// The known pins. An enforcing entry without a pin blocks every connection.
    public var pins: [KnownPin]

    /// Whether one `leaf` pin *and* one `issuer` pin must match, as with Apple's `NSPinnedDomains`.
    public var requireIssuer: Bool

    /// After this the entry is no longer enforced.
    public var expiresAt: Timestamp?

    /// The addresses to which failures of these hosts are reported.
    public var reportTo: [String]

    /// The demand on Certificate Transparency where a pin matches; `nil` for none.
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

/// An entry's demand on Certificate Transparency (formats.md, section 3.2): a policy, and the effect of a path that
/// does not satisfy it. `CertificateTransparency` evaluates it; ``PinningDecision/evaluated(_:)`` draws the conclusion.
public struct TransparencyRule: Hashable, Sendable {
    /// The effect of a policy that is not satisfied. `off` in a list gives no rule.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The connection is allowed and reported.
        case report
        /// A path that does not satisfy it is blocked where the entry enforces its pins.
        case enforce
    }

    /// The policies that there are, by their names in a list. Their rules stand in `CertificateTransparency`.
    public enum Policy: String, Hashable, Sendable, CaseIterable {
        /// Chrome's, of November 2026.
        case chrome
        /// Apple's, of November 2026.
        case apple
    }

    /// The effect of a policy that is not satisfied.
    public var mode: Mode

    /// The policy.
    public var policy: Policy

    /// Creates a rule.
    public init(_ mode: Mode, _ policy: Policy) {
        self.mode = mode
        self.policy = policy
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One thing that is looked for.
public struct AuditRule: Hashable, Sendable {
    /// The severity of a rule.
    public enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
        /// Traffic can be read or changed, or an app will be locked out.
        case error
        /// A connection may bypass the pins.
        case warning
        /// To be known.
        case note

        /// The more urgent one is less.
        public static func < (left: Severity, right: Severity) -> Bool { left.order < right.order }

        private var order: Int { self == .error ? 0 : self == .warning ? 1 : 2 }
    }

    /// The identifier, lower case with hyphens: it stands in baselines and in `tumbler:allow`, and never changes.
    public let id: String
    /// The severity, unless the place says otherwise.
    public let severity: Severity
    /// The meaning, in one or two sentences.
    public let meaning: String
    /// The advice.
    public let advice: String

    init(_ id: String, _ severity: Severity, _ meaning: String, _ advice: String) {
        self.id = id
        self.severity = severity
        self.meaning = meaning
        self.advice = advice
    }

    /// Equal when the identifiers are.
    public static func == (left: AuditRule, right: AuditRule) -> Bool { left.id == right.id }

    /// Feeds the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.id) }

    /// All rules, by group and then as they are explained.
    public static let all: [AuditRule] =
        Self.ofTransport + Self.ofTrust + Self.ofSurfaces + Self.ofPins + Self.ofLists + Self.ofAndroid + Self.ofOthers

    /// A rule by its identifier.
    public static func named(_ id: String) -> AuditRule? { Self.byID[id] }

    private static let byID = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.id, $0) })
}

extension AuditRule {
    static let ofOthers = [
        thirdParty, ownTLS, weakenedCode, networkExtension, allowWithoutReason, unreadable, sourceErrors,
    ]

    static let thirdParty = AuditRule(
        "third-party-network", .note, "A dependency makes connections of its own, which the app's pins do not reach.",
        "Look for a place where a session, a delegate or a trust evaluator can be given to it, or accept what it sends."
    )
    static let ownTLS = AuditRule(
        "own-tls-stack", .warning,
        "The program has a TLS library of its own. Neither App Transport Security nor the system's pins hold for it.",
        "Find out which dependency brings it, and pin by its own means, or leave it out.")
    static let weakenedCode = AuditRule(
        "entitlement-weakens-code", .warning,
        "The entitlement lets code into the process that the app's developer did not sign; such code can remove pins.",
        "Leave the entitlement out of release builds.")
    static let networkExtension = AuditRule(
        "entitlement-network-extension", .note,
        "The app may run a VPN, a filter or a proxy: connections of it are made outside of the app's process.",
        "Audit the extension as an app of its own.")
    static let allowWithoutReason = AuditRule(
        "allow-without-reason", .warning,
        "tumbler:allow needs a rule that exists and a reason; without both it is not followed.",
        "Write: // tumbler:allow RULE why it is right here.")
    static let unreadable = AuditRule(
        "unreadable", .warning, "The file was not read, or not completely, so its content is unknown.",
        "Look at it by other means, or repair it; the exit code is 2 as long as nothing worse is found.")
    static let sourceErrors = AuditRule(
        "source-errors", .note, "The source does not parse; what is around the place may have been misunderstood.",
        "Compile it, and audit it again.")
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An alarm: a state that needs the action of a person.
package struct Alarm: Hashable, Sendable {
    /// The kind of alarm. Bounded: it labels metrics.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// More failures than usual.
        case failureRate = "failure-rate"
        /// The list that is served is about to expire.
        case listExpiry = "list-expiry"
        /// The newest root is about to expire.
        case rootExpiry = "root-expiry"
        /// A certificate that a pinned host serves is about to expire.
        case certificateExpiry = "certificate-expiry"
        /// The pins of a domain are about to expire.
        case pinExpiry = "pin-expiry"
        /// A probe found what locks installations out.
        case probeFailed = "probe-failed"
        /// The last probe did not reach a host, or one of its addresses.
        case probeUnreached = "probe-unreached"
        /// A host was probed before, and probes of it no longer come.
        case probeMissing = "probe-missing"
        /// A gate of a rotation is overdue, or closed again.
        case rotationGate = "rotation-gate"
        /// A server presents the new key of a rotation before the gate said so.
        case earlySwitch = "early-switch"
        /// A certificate is about to expire, and no rotation is planned for the host.
        case noRotationPlan = "no-rotation-plan"
        /// A probe saw a certificate served that its issuer revoked.
        case revokedCertificate = "revoked-certificate"
        /// A certificate of a pinned host is in a log, and apps would refuse its key.
        case unexpectedCertificate = "unexpected-certificate"
        /// The newest list no longer spreads.
        case adoptionStalled = "adoption-stalled"
        /// Signers signed two lists of one version, or one that was never published here.
        case equivocation
        /// A client was offered a list from before the first that was published here.
        case unknownList = "unknown-list"
        /// A publication was refused.
        case publishRefused = "publish-refused"
        /// No requests or reports come where there used to be traffic.
        case silence
        /// The stored publication does not verify.
        case notVerified = "not-verified"
        /// An instance cannot evaluate alarms, or store reports. It is told from memory, and never stored.
        case storeFailed = "store-failed"
        /// The operator tests a target.
        case test
    }

    /// The urgency of an alarm.
    package enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
        /// This week.
        case notice
        /// Today.
        case warning
        /// Now.
        case critical

        /// Less urgent.
        package static func < (left: Severity, right: Severity) -> Bool {
            (Self.allCases.firstIndex(of: left) ?? 0) < (Self.allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// The same alarm has the same key for as long as it lasts.
    package let key: String
    /// The kind of alarm.
    package let kind: Kind
    /// The urgency of the alarm.
    package let severity: Severity
    /// The subject: a host or the name of a list.
    package let subject: String
    /// The problem, in a sentence without a full stop: that of ``AlarmSentence``.
    package let detail: String
    /// What it counts, as a whole number; 0 of what is not counted. People are told again of an alarm that grew tenfold, and
    /// what they acknowledged before no longer counts: a stranger who rings one with ten reports would hide a million behind it.
    package let count: Int64

    /// The subject in the key of an alarm. That of an IPv6 address has the separator in it, and no other part has.
    package static func subject(of key: String) -> String {
        let parts = key.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return "" }
        guard let kind = Kind(rawValue: String(parts[0])) else { return String(parts[1]) }
        return parts[1..<max(parts.count - kind.partsBehindSubject, 2)].joined(separator: ":")
    }

    /// States an alarm.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - severity: The urgency.
    ///   - subject: A host or the name of a list.
    ///   - facts: What the sentence says behind its subject, without a full stop.
    ///   - opening: What the sentence begins with; `nil` for that of the kind.
    ///   - count: What is counted, where something is.
    ///   - key: What tells it apart from other alarms of its kind and subject; nothing where there are none.
    package init(
        _ kind: Kind, _ severity: Severity, _ subject: String, _ facts: String, opening: String? = nil,
        count: Double = 0, key: String = ""
    ) {
        self.kind = kind
        self.severity = severity
        self.subject = subject
        self.count = Int64(max(HostRate.whole(count), 0))
        self.detail = AlarmSentence.text(opening ?? kind.opening, subject, facts)
        self.key = "\(kind.rawValue):\(subject)\(key.isEmpty ? "" : ":" + key)"
    }
}

extension Alarm.Kind {
    /// The number of parts that the keys of this kind have behind the subject.
    fileprivate var partsBehindSubject: Int {
        switch self {
        case .failureRate, .listExpiry, .rootExpiry, .adoptionStalled, .unknownList, .publishRefused, .notVerified,
            .storeFailed, .test:
            0
        case .certificateExpiry, .pinExpiry, .probeFailed, .probeUnreached, .probeMissing, .rotationGate, .earlySwitch,
            .noRotationPlan, .revokedCertificate, .equivocation, .silence:
            1
        // The alarm that there are more of them has none, and the name of a list in place of a host.
        case .unexpectedCertificate: 2
        }
    }
}

extension Alarm.Severity {
    /// The severity of a name; one that a later version knows counts as the most urgent.
    package static func known(_ name: String) -> Self { Self(rawValue: name) ?? .critical }
}

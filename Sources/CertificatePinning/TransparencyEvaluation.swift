// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The verdict of a policy of Certificate Transparency on a path, with all that is needed to explain it: plain values.
/// `CertificateTransparency` makes it (formats.md, section 4.2).
public struct TransparencyEvaluation: Hashable, Sendable {
    /// The policy's name.
    public let policy: String

    /// Whether the policy is satisfied.
    public let isSatisfied: Bool

    /// The explanation, in one sentence without a full stop.
    public let detail: String

    /// The signed certificate timestamps that were looked at, in the order of the certificate.
    public let timestamps: [EvaluatedTimestamp]

    /// Creates an evaluation.
    ///
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - isSatisfied: Whether it is satisfied.
    ///   - detail: The explanation, in one sentence without a full stop.
    ///   - timestamps: The timestamps that were looked at.
    public init(policy: String, isSatisfied: Bool, detail: String, timestamps: [EvaluatedTimestamp]) {
        self.policy = policy
        self.isSatisfied = isSatisfied
        self.detail = detail
        self.timestamps = timestamps
    }

    /// The result for one signed certificate timestamp (RFC 6962, section 3.2).
    public struct EvaluatedTimestamp: Hashable, Sendable {
        /// The log's id in base64; `nil` where the bytes cannot be read.
        public let log: String?

        /// The operator of the log when it signed; `nil` where the log is not known.
        public let operatorName: String?

        /// The time at which the log claims to have seen the certificate, milliseconds cut; `nil` where the bytes
        /// cannot be read.
        public let timestamp: Timestamp?

        /// The status of the timestamp.
        public let status: Status

        /// Creates the result for a timestamp.
        ///
        /// - Parameters:
        ///   - log: The log's id in base64.
        ///   - operatorName: The operator of the log when it signed.
        ///   - timestamp: The time at which the log claims to have seen the certificate.
        ///   - status: The status of the timestamp.
        public init(log: String?, operatorName: String?, timestamp: Timestamp?, status: Status) {
            self.log = log
            self.operatorName = operatorName
            self.timestamp = timestamp
            self.status = status
        }
    }

    /// The status of a signed certificate timestamp: the first of these that applies, in this order. Bounded, so it may
    /// label a metric.
    public struct Status: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The bytes are not a timestamp.
        public static let malformed = Status(description: "malformed")
        /// No log of the list has its id.
        public static let unknownLog = Status(description: "unknown-log")
        /// The algorithm of the log's key or of the signature is not supported here.
        public static let unsupported = Status(description: "unsupported")
        /// The signature does not hold.
        public static let invalidSignature = Status(description: "invalid-signature")
        /// Its time is more than five minutes ahead.
        public static let inTheFuture = Status(description: "in-the-future")
        /// The certificate ends outside of what the log takes.
        public static let outsideInterval = Status(description: "outside-interval")
        /// The log is pending or rejected.
        public static let logRejected = Status(description: "log-rejected")
        /// The timestamp is valid. Whether it counts is for the policy to decide.
        public static let valid = Status(description: "valid")
    }
}

/// Decisions under a policy of Certificate Transparency beside the pins (formats.md, section 4).
extension PinningDecision {
    /// The decision when the path must satisfy a policy of Certificate Transparency, too.
    ///
    /// Only a path that is acceptable otherwise is evaluated: one that matches a pin, or, without any rules for the host and
    /// without a list, one that default validation accepted. An entry that has expired, is off or is suspended asks for
    /// nothing. A policy that is not satisfied blocks; under an entry that does not enforce it only changes the reason.
    ///
    /// - Parameter evaluation: The policy's verdict on the path. Not evaluated where it would change nothing.
    /// - Returns: The decision with ``transparency``; the same decision where the policy does not apply.
    public consuming func requiring(_ evaluation: @autoclosure () -> TransparencyEvaluation) -> PinningDecision {
        guard self.verdict == .allow else { return self }
        let isWithoutRules = self.reason == .notPinned && self.entry == nil && self.list == nil
        guard self.reason == .pinMatch || isWithoutRules else { return self }
        let evaluation = evaluation()
        if isWithoutRules, !evaluation.isSatisfied { self.isEnforced = true }
        let blocks = self.isEnforced
        return self.following(evaluation, blocks: blocks)
    }

    /// The decision when the entry's own rule is asked: formats.md, section 4, after step 7.
    ///
    /// Only a path that matches a pin is evaluated, so what is suspended, expired or off asks for nothing. A policy that is
    /// not satisfied blocks where the rule and the entry both enforce; otherwise it only changes the reason, and is
    /// reported.
    ///
    /// - Parameter evaluate: The policy's verdict on the path; `nil` where it cannot be evaluated, which changes nothing.
    ///   Called only where the verdict matters.
    /// - Returns: The decision with ``transparency``; the same decision where the entry has no rule, or nothing was evaluated.
    public consuming func evaluated(_ evaluate: (TransparencyRule.Policy) -> TransparencyEvaluation?) -> PinningDecision
    {
        guard self.reason == .pinMatch, self.verdict == .allow, let rule = self.entry?.transparency,
            let evaluation = evaluate(rule.policy)
        else { return self }
        let blocks = self.isEnforced && rule.mode == .enforce
        return self.following(evaluation, blocks: blocks)
    }

    /// The conclusion from an evaluation. A satisfied policy changes only the explanation.
    private consuming func following(_ evaluation: TransparencyEvaluation, blocks: Bool) -> PinningDecision {
        self.transparency = evaluation
        guard !evaluation.isSatisfied else { return self }
        self.reason = .transparency
        self.verdict = blocks ? .block : .allow
        return self
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The decision of Pin Validation, with all that is needed to explain it. A value, not an error.
public struct PinningDecision: Hashable, Sendable {
    /// The verdict: whether the connection may go on.
    public enum Verdict: String, Hashable, Sendable, Encodable {
        /// The connection may go on.
        case allow
        /// The connection must end.
        case block
    }

    /// A pin that matched, and where in the path.
    public struct Match: Hashable, Sendable, Encodable {
        /// The pin.
        public let pin: Pin
        /// The place in the validated path of the certificate that matched; the leaf is 0.
        public let index: Int

        /// Creates a match.
        public init(pin: Pin, index: Int) {
            self.pin = pin
            self.index = index
        }

        enum CodingKeys: CodingKey { case pin, index }

        /// Writes the pin in its canonical form.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(self.pin.description, forKey: .pin)
            try container.encode(self.index, forKey: .index)
        }
    }

    /// The host, normalised; as it was given when it does not normalise.
    public let host: String

    /// The entry that applied; its domain is the noted hostname of RFC 7469.
    public let entry: PinnedDomain?

    /// The verdict: whether the connection may go on.
    public internal(set) var verdict: Verdict

    /// Whether a mismatch blocks, or would have blocked.
    public internal(set) var isEnforced: Bool

    /// The reason.
    public internal(set) var reason: Reason

    /// The pin that matched; with `requireIssuer` the leaf's.
    public let matched: Match?

    /// With `requireIssuer`, the issuer's pin that matched.
    public let matchedIssuer: Match?

    /// A key of the deny set that is in the path. With a verdict of allow, its entry only reports.
    public let denied: Match?

    /// A certificate of the path that is revoked. With a verdict of allow, its entry only reports.
    public let revoked: RevokedCertificate?

    /// The validated path, whose ``ValidatedPath/publicKeyPins`` are the pins that were seen.
    public let path: ValidatedPath

    /// The list that decided, or `nil` for rules made in code.
    public let list: ListIdentity?

    /// A detail for people beside the reason, in one sentence.
    public private(set) var detail: String?

    /// The verdict of a policy of Certificate Transparency on the path; `nil` where none was asked.
    public internal(set) var transparency: TransparencyEvaluation?

    /// The same conclusion under a more precise reason.
    consuming func explained(_ reason: Reason, _ detail: String) -> PinningDecision {
        self.reason = reason
        self.detail = detail
        return self
    }
}

extension PinningDecision {
    /// The conclusion from the facts of a decision: verdict and reason.
    struct Conclusion {
        let verdict: Verdict
        let isEnforced: Bool
        let reason: Reason
        var matched: Match?
        var matchedIssuer: Match?
        var denied: Match?
        var revoked: RevokedCertificate?

        /// A conclusion always has a verdict, and so has each decision.
        init(_ verdict: Verdict, _ reason: Reason, isEnforced: Bool) {
            self.verdict = verdict
            self.reason = reason
            self.isEnforced = isEnforced
        }

        /// A conclusion that blocks.
        static func refusal(_ reason: Reason) -> Conclusion { Conclusion(.block, reason, isEnforced: true) }
    }

    /// Creates a decision from its facts and the conclusion.
    ///
    /// The memberwise initialiser makes a decision in place. One that sets each member makes it, and then copies it.
    @inline(__always)
    init(
        host: String, entry: PinnedDomain?, path: ValidatedPath, list: ListIdentity?, _ conclusion: Conclusion,
        detail: String? = nil
    ) {
        self.init(
            host: host, entry: entry, verdict: conclusion.verdict, isEnforced: conclusion.isEnforced,
            reason: conclusion.reason, matched: conclusion.matched, matchedIssuer: conclusion.matchedIssuer,
            denied: conclusion.denied, revoked: conclusion.revoked, path: path, list: list, detail: detail)
    }

    /// The answer to a question that could not be read (`evaluate --batch`): a refusal, `malformed`.
    ///
    /// - Parameters:
    ///   - host: The host as far as it is known; may be empty.
    ///   - detail: The defect of the question.
    public init(unreadableQuestionFor host: String, detail: String) {
        self.init(
            host: host, entry: nil, path: ValidatedPath(uncheckedValidatedPath: []), list: nil, .refusal(.malformed),
            detail: detail)
    }
}

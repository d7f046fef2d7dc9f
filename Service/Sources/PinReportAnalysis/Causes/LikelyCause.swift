// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The probable cause of a group of failures, in words, with its evidence.
///
/// Reports are unsigned claims: the words say what was reported, and with what confidence the cause follows.
public struct LikelyCause: Hashable, Sendable {
    /// The causes that are told apart. Bounded, so one may label a metric.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A server presents a key that the list does not have.
        case rotation
        /// An interceptor between app and server opens the connections.
        case interception
        /// Apps hold an old list; the newest one would do.
        case staleClients = "stale-clients"
        /// The devices' clocks, or the service's or a signer's.
        case clock
        /// An app asks a pinned host without TLS.
        case cleartext
        /// A certificate that had ended, or was not valid yet.
        case certificateTime = "certificate-time"
        /// A root or a list was offered that clients refuse.
        case refusedList = "refused-list"
        /// A pinned certificate that was not shown to be logged as the list's policy asks.
        case unlogged
        /// The facts fit several causes, or none.
        case unclear
    }

    /// The confidence that the facts give.
    package enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// A guess that is worth looking at first.
        case low
        /// The facts fit this and hardly anything else, but are few.
        case medium
        /// Independent facts agree.
        case high
    }

    /// The kind of cause.
    package let kind: Kind
    /// The confidence in it.
    package let confidence: Confidence
    /// One sentence with a full stop.
    public let title: String
    /// The evidence: whole sentences, the issuer always among them where there is one.
    public let evidence: [String]
    /// The advice: whole sentences on what to look at or to do next.
    public let advice: [String]

    /// The caveat on all causes, to be shown once on a page.
    package static let caveat =
        "Reports are not authenticated: anyone can send them, with any content. Check before you change a list."

    /// States a cause.
    package init(_ kind: Kind, _ confidence: Confidence, _ title: String, evidence: [String], advice: [String]) {
        self.kind = kind
        self.confidence = confidence
        self.title = title
        self.evidence = evidence
        self.advice = advice
    }

    /// The likely cause of a group of reports.
    ///
    /// - Parameter facts: The facts about the group.
    public init(of facts: GroupFacts) {
        let evidence = CauseEvidence(facts)
        if facts.group.reason == ReportGroup.overflowReason {
            self.init(
                .unclear, .low, "More kinds of failures came than are kept apart.",
                evidence: [evidence.count],
                advice: ["Look at the other groups first; a flood of made-up reports looks like this."])
            return
        }
        self =
            switch facts.group.kind {
            case .incident: LikelyCause(incident: facts, evidence)
            case .cleartext: LikelyCause(cleartext: evidence)
            case .tls: LikelyCause(time: facts, evidence) ?? LikelyCause(interceptedTLS: facts, evidence)
            case .pin:
                LikelyCause(unlogged: facts, evidence) ?? LikelyCause(denied: facts, evidence)
                    ?? LikelyCause(probed: facts, evidence)
                    ?? LikelyCause(named: facts, evidence) ?? LikelyCause(stale: facts, evidence)
                    ?? LikelyCause(issuer: facts, evidence)
            case .other: LikelyCause(unclear: facts, evidence)
            }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
@_spi(Adapters) import PinListClient

/// The outcome of evaluating a presented chain: the decision, and the facts for evaluating the connection again.
struct HandshakeVerdict: Sendable {
    /// The decision.
    let decision: PinningDecision
    /// The validated path; `nil` when there is none.
    let path: ValidatedPath?
    /// The epoch of the rules that decided, or an earlier one.
    let epoch: UInt64
    /// The time by which they decided.
    let time: Timestamp

    /// Whether the connection may go on.
    var isAllowed: Bool { self.decision.verdict == .allow }
}

/// The server of a connection, with all that is needed to evaluate a chain that it presents.
struct ServerEvaluator: Sendable {
    let pinning: Pinning
    let finder: CachingPathValidator
    let host: HostName
    let port: Int

    /// Whether a path that was found before is evaluated without waiting: signatures of logs would be verified on no event
    /// loop.
    func isDecidedAtOnce(on path: ValidatedPath) -> Bool {
        self.pinning.evaluatesWithoutSignatures(path, for: self.host)
    }

    /// Finds the path, unless it was found before, then evaluates it.
    func verdict(_ question: CachingPathValidator.Question, on remembered: ValidatedPath?) async -> HandshakeVerdict {
        if let remembered { return self.verdict(on: remembered, presented: question.presented) }
        switch await self.finder.find(question, at: self.pinning.now) {
        case .success(let path): return self.verdict(on: path, presented: question.presented)
        case .failure(let refusal):
            return self.refusal(refusal.reason, refusal.detail, presented: question.presented)
        }
    }

    /// Evaluates a validated path.
    func verdict(on path: ValidatedPath, presented: [[UInt8]]) -> HandshakeVerdict {
        // The epoch is read first: when a list comes into force meanwhile, the connection is evaluated once more than
        // needed, never once less.
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        let facts = ConnectionFacts(port: self.port, presented: presented)
        let decision = self.pinning.decision(for: path, host: self.host.description, connection: facts)
        return HandshakeVerdict(decision: decision, path: path, epoch: epoch, time: now)
    }

    /// Decides on an open connection by the rules in force now. What allows it is neither counted nor reported again.
    func verdictAgain(on path: ValidatedPath) -> HandshakeVerdict {
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        let decision = self.pinning.decisionAgain(
            for: path, host: self.host.description, connection: ConnectionFacts(port: self.port))
        return HandshakeVerdict(decision: decision, path: path, epoch: epoch, time: now)
    }

    /// The same verdict, or a new one when rules came into force since, and at another time where the clock has a part in it.
    func upToDate(_ verdict: HandshakeVerdict) -> HandshakeVerdict {
        let inForce = self.pinning.policyInForce
        let dependsOnClock = verdict.decision.dependsOnClock || inForce.changesWhenStale
        let isDue =
            verdict.epoch != inForce.epoch
            || (verdict.isAllowed && dependsOnClock && verdict.time != self.pinning.now)
        guard isDue, let path = verdict.path else { return verdict }
        return self.verdictAgain(on: path)
    }

    /// The verdict on a chain without a path.
    func refusal(
        _ reason: PinningDecision.Reason, _ detail: String, presented: [[UInt8]] = []
    ) -> HandshakeVerdict {
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        let facts = ConnectionFacts(port: self.port, presented: presented)
        let decision = self.pinning.refusal(
            of: self.host.description, reason, detail: detail, connection: facts)
        return HandshakeVerdict(decision: decision, path: nil, epoch: epoch, time: now)
    }
}
#endif

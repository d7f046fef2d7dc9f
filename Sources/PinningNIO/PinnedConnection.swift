// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
@_spi(Adapters) import PinListClient

/// An open connection with its decision, and the facts for evaluating it again.
final class PinnedConnection: Sendable {
    /// The maximum time for which a connection that new rules refuse stays open for its running requests, in seconds:
    /// most requests end within them.
    static let graceSeconds = 30.0

    private let pinning: Pinning
    let host: HostName
    let port: Int
    /// The path that was validated for the host; `nil` when it is not known.
    let path: ValidatedPath?
    let channel: any Channel
    /// Retires the connection: no new request, closed when idle. Runs on the event loop.
    private let drain: @Sendable (PinningDecision) -> Void
    private let state: NIOLockedValueBox<State>
    /// Held while a decision is made and noted.
    private let evaluation = NIOLock()

    private struct State {
        var decision: PinningDecision { didSet { self.dependsOnClock = self.decision.dependsOnClock } }
        var epoch: UInt64
        /// The time by which it was made.
        var time: Timestamp
        var isRetired = false
        /// Stored, because every request needs it, and a comparison of reasons compares texts.
        private(set) var dependsOnClock: Bool

        init(_ verdict: HandshakeVerdict) {
            self.decision = verdict.decision
            self.epoch = verdict.epoch
            self.time = verdict.time
            self.dependsOnClock = verdict.decision.dependsOnClock
        }
    }

    /// Records a connection that was allowed.
    init(
        _ server: ServerEvaluator, _ verdict: HandshakeVerdict, on channel: any Channel,
        drain: @escaping @Sendable (PinningDecision) -> Void
    ) {
        self.pinning = server.pinning
        self.host = server.host
        self.port = server.port
        self.path = verdict.path
        self.channel = channel
        self.drain = drain
        self.state = NIOLockedValueBox(State(verdict))
    }

    /// The newest decision on it.
    var decision: PinningDecision { self.state.withLockedValue { $0.decision } }

    /// Whether new rules refuse it.
    var isRetired: Bool { self.state.withLockedValue { $0.isRetired } }

    /// The epoch of the rules that it was evaluated by last.
    var epoch: UInt64 { self.state.withLockedValue { $0.epoch } }

    /// Whether the clock has a part in the decision that allows it, so that another time may bring another one.
    var dependsOnClock: Bool {
        let (isRetired, dependsOnClock) = self.state.withLockedValue { ($0.isRetired, $0.dependsOnClock) }
        return !isRetired && (dependsOnClock || self.pinning.policyInForce.changesWhenStale)
    }

    /// Whether a new request may be sent on it. It is evaluated again under rules that are newer than its decision, and at
    /// another time where the clock has a part in that.
    func mayTakeRequest() -> Bool {
        let (epoch, time, isRetired, dependsOnClock) = self.state.withLockedValue { state in
            (state.epoch, state.time, state.isRetired, state.dependsOnClock)
        }
        guard !isRetired else { return false }
        let inForce = self.pinning.policyInForce
        let isTimed = dependsOnClock || inForce.changesWhenStale
        guard epoch != inForce.epoch || (isTimed && time != self.pinning.now) else { return true }
        self.reevaluate()
        return !self.isRetired
    }

    /// Evaluates the connection by the rules in force now, and ends it when they refuse it: at once for a denied key or
    /// a revoked certificate, else when it is idle, after half a minute at the latest.
    func reevaluate() {
        // One thread at a time: a refusal that two of them find is told once.
        guard let (decision, wasRetired) = self.evaluation.withLock({ self.decideAgain() }) else { return }
        guard decision.verdict == .block else { return }
        // Also where earlier rules have retired it: the half minute is not for a stolen key.
        if [.deniedKey, .deniedUndecidable, .revoked].contains(decision.reason) {
            // Not within a hook of AsyncHTTPClient: a stream that is closed before its request is known ends the process.
            return self.channel.eventLoop.execute { self.channel.close(promise: nil) }
        }
        guard !wasRetired else { return }
        self.channel.eventLoop.execute { self.drain(decision) }
        Task { [pinning] in
            try? await pinning.sleep(seconds: Self.graceSeconds)
            self.channel.close(promise: nil)
        }
    }

    /// Ends the connection after what runs on it, however long that takes: its client is not needed any more.
    func end() { self.channel.eventLoop.execute { self.drain(self.decision) } }

    /// Decides by the rules in force now.
    ///
    /// - Returns: The decision, and whether the connection was retired before; `nil` where nothing had to be decided.
    private func decideAgain() -> (decision: PinningDecision, wasRetired: Bool)? {
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        let facts = ConnectionFacts(port: self.port)
        let decision: PinningDecision
        if let path = self.path {
            // A refusal that is known already is not told again while the connection ends.
            let known = self.state.withLockedValue { $0.isRetired ? $0.decision.reason : nil }
            decision = self.pinning.decisionAgain(
                for: path, host: self.host.description, connection: facts, known: known)
        } else if self.pinning.isObserving {
            // The connection was allowed for that reason alone, and the reason has not changed.
            self.state.withLockedValue { ($0.epoch, $0.time) = (epoch, now) }
            return nil
        } else {
            decision = self.pinning.refusal(
                of: self.host.description, .chainInvalid, detail: "the path of an open connection is not known",
                connection: facts)
        }
        return self.state.withLockedValue { state in
            let wasRetired = state.isRetired
            state.decision = decision
            (state.epoch, state.time) = (epoch, now)
            state.isRetired = wasRetired || decision.verdict == .block
            return (decision, wasRetired)
        }
    }
}

/// A request that was to be sent on a connection which new rules refuse. **Not a byte of it was sent**, so it may be sent
/// again, also with a method that must not be sent twice: another connection is evaluated by the new rules.
///
/// ``PinnedHTTPClient`` sends it again itself where it can: without a body, and with one that is in memory
/// (`.bytes`). It throws this for a body that is streamed, which may be there once. An `HTTPClient` of an app's own
/// throws it for any request.
public struct ConnectionRetiredError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The description, in one sentence.
    public var description: String {
        "new rules refuse the connection that the request was to be sent on: not a byte of it was sent, and it may be sent again"
    }
}

/// An inbound event: new rules refuse this connection. Start no new request on it and close it when it is idle; after
/// half a minute it is closed in any case.
public struct PinnedConnectionRetirement: Sendable {
    /// The decision under the new rules.
    public let decision: PinningDecision
}
#endif

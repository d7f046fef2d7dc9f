// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import PinListClient

/// An open connection that was evaluated, and what it takes to evaluate it again.
final class PinnedConnection: Sendable {
    /// The longest that a connection which is refused by new rules stays open for requests that it has, in seconds.
    static let graceSeconds = 30.0

    private let pinning: Pinning
    let host: HostName
    let port: Int
    /// The path that was validated for the host; `nil` when nobody knows it.
    let path: ValidatedPath?
    let channel: any Channel
    /// Takes the connection out of use: no new request, closed when idle. Runs on the event loop.
    private let drain: @Sendable (PinningDecision) -> Void
    private let state: NIOLockedValueBox<State>

    private struct State {
        var decision: PinningDecision { didSet { self.isByPin = self.decision.reason == .pinMatch } }
        var epoch: UInt64
        var isRetired = false
        /// Whether a pin allowed it: every request asks, and a reason is text.
        private(set) var isByPin: Bool

        init(_ decision: PinningDecision, epoch: UInt64) {
            self.decision = decision
            self.epoch = epoch
            self.isByPin = decision.reason == .pinMatch
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
        self.state = NIOLockedValueBox(State(verdict.decision, epoch: verdict.epoch))
    }

    /// The newest decision on it.
    var decision: PinningDecision { self.state.withLockedValue { $0.decision } }

    /// Whether rules came into force that refuse it.
    var isRetired: Bool { self.state.withLockedValue { $0.isRetired } }

    /// The epoch of the rules that it was evaluated by last.
    var epoch: UInt64 { self.state.withLockedValue { $0.epoch } }

    /// Whether a new request may go on it: evaluated again when rules came into force that nobody has evaluated it by yet, and
    /// whenever something else than a pin allowed it, because that may have been the clock (a suspension, the end of an
    /// entry).
    func mayTakeRequest() -> Bool {
        let (epoch, isRetired, isByPin) = self.state.withLockedValue { ($0.epoch, $0.isRetired, $0.isByPin) }
        guard !isRetired else { return false }
        guard !isByPin || epoch != self.pinning.policyInForce.epoch else { return true }
        self.reevaluate()
        return !self.isRetired
    }

    /// Evaluates the connection by the rules in force now, and ends it when they refuse it: at once for a denied key or
    /// a revoked certificate, else when it is idle, after half a minute at the latest.
    func reevaluate() {
        let epoch = self.pinning.policyInForce.epoch
        let facts = ConnectionFacts(port: self.port)
        let decision: PinningDecision
        if let path = self.path {
            decision = self.pinning.decisionAgain(for: path, host: self.host.description, connection: facts)
        } else if self.pinning.isObserving {
            // Let through for that reason alone, and the reason has not changed.
            return self.state.withLockedValue { $0.epoch = epoch }
        } else {
            decision = self.pinning.refusal(
                of: self.host.description, .chainInvalid, detail: "the path of an open connection is not known",
                connection: facts)
        }
        let isNews = self.state.withLockedValue { state in
            state.decision = decision
            state.epoch = epoch
            guard decision.verdict == .block, !state.isRetired else { return false }
            state.isRetired = true
            return true
        }
        guard isNews else { return }
        if [.deniedKey, .deniedUndecidable, .revoked].contains(decision.reason) {
            self.channel.close(promise: nil)
            return
        }
        self.channel.eventLoop.execute { self.drain(decision) }
        Task { [pinning] in
            try? await pinning.sleep(seconds: Self.graceSeconds)
            self.channel.close(promise: nil)
        }
    }
}

/// An inbound event: rules came into force that refuse this connection. Begin nothing new on it and close it when it is
/// idle; after half a minute it is closed anyhow.
public struct PinnedConnectionRetirement: Sendable {
    /// The decision under the new rules.
    public let decision: PinningDecision
}
#endif

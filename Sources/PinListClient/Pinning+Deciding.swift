// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Logging
internal import PinFailureReports

extension Pinning {
    /// The time after the start by which a refresh should have begun, in seconds.
    private static let graceSeconds: Int64 = 60

    /// Decides on a path that the platform has validated for a host. It can only refuse.
    ///
    /// May be called from any thread; it uses neither the network nor the disk.
    ///
    /// - Parameters:
    ///   - path: The validated path, leaf first.
    ///   - host: The host that the connection is made for, without a port.
    ///   - connection: The facts about the connection for reports.
    public nonisolated func decision(
        for path: ValidatedPath, host: String, connection: ConnectionFacts = ConnectionFacts()
    ) -> PinningDecision {
        let now = self.configuration.clock.now
        self.warnUnlessRunning(at: now)
        let inForce = self.inForce(at: now)
        let runtimeEnvironment = self.configuration.runtimeEnvironment?()
        let rules = self.rules(inForce, for: path, at: now)
        let time = inForce.referenceTime(now)
        var decision = self.evaluated(rules.validate(path, for: host, at: time), inForce, at: time)
        // Another function says whether pins are enforced for the host, because an intruder in this process changes the
        // verdict first.
        if let runtimeEnvironment, runtimeEnvironment.refuses, decision.verdict == .allow,
            rules.cleartext(to: host, at: time).verdict == .block
        {
            let signals = runtimeEnvironment.signals.joined(separator: ", ")
            decision = rules.refusal(of: host, .tampering, detail: signals, path: path)
        }
        self.observe(decision, connection, inForce, runtimeEnvironment, at: now)
        return decision
    }

    /// Decides on an open connection under the rules in force now. Only a refusal is sent as an event and reported.
    ///
    /// - Parameters:
    ///   - path: The path that was validated when the connection was made.
    ///   - host: The host that it was made for.
    ///   - connection: The facts about the connection for reports.
    public nonisolated func decisionAgain(
        for path: ValidatedPath, host: String, connection: ConnectionFacts = ConnectionFacts()
    ) -> PinningDecision {
        self.decisionAgain(for: path, host: host, connection: connection, known: nil)
    }

    /// Decides on a connection that may be open under the rules in force now. Only a refusal for another reason than the known
    /// one is sent as an event and reported: the connection may have been closed since.
    ///
    /// - Parameters:
    ///   - path: The path that was validated when the connection was made.
    ///   - host: The host that it was made for.
    ///   - connection: The facts about the connection for reports.
    ///   - known: The reason for which the rules before refused it; `nil` when they did not.
    ///   - isTold: Whether a refusal is sent and reported now; if not, the caller decides once more when it has acted on it.
    @_spi(Adapters)
    public nonisolated func decisionAgain(
        for path: ValidatedPath, host: String, connection: ConnectionFacts, known: PinningDecision.Reason?,
        isTold: Bool = true
    ) -> PinningDecision {
        let now = self.configuration.clock.now
        let inForce = self.inForce(at: now)
        let time = inForce.referenceTime(now)
        let decision = self.evaluated(
            self.rules(inForce, for: path, at: now).validate(path, for: host, at: time), inForce, at: time)
        if isTold, decision.verdict == .block, decision.reason != known {
            self.observe(decision, connection, inForce, at: now)
        }
        return decision
    }

    /// Decides on a request without TLS, before a connection is made for it.
    ///
    /// - Parameters:
    ///   - host: The host that the connection would be made for, without a port.
    ///   - port: The port.
    public nonisolated func cleartextDecision(for host: String, port: Int = 80) -> PinningDecision {
        let now = self.configuration.clock.now
        let inForce = self.inForce(at: now)
        let decision = inForce.policy(at: now).cleartext(to: host, at: inForce.referenceTime(now))
        self.observe(decision, ConnectionFacts(port: port), inForce, at: now)
        return decision
    }

    /// Decides on a response that came over a connection which was evaluated for another host, or for none that is known:
    /// the second check of transports that may use one connection for several hosts. Only a refusal, or a mismatch
    /// under an entry that reports, is sent as an event.
    ///
    /// - Parameters:
    ///   - host: The host of the request, without a port.
    ///   - path: The path that was validated when the connection was made; `nil` when it is not known.
    ///   - other: The host that it was made for.
    ///   - connection: The facts about the connection for reports.
    public nonisolated func responseDecision(
        for host: String, over path: ValidatedPath?, evaluatedFor other: String?,
        connection: ConnectionFacts = ConnectionFacts()
    ) -> PinningDecision {
        let now = self.configuration.clock.now
        let inForce = self.inForce(at: now)
        let time = inForce.referenceTime(now)
        let decision = self.evaluated(
            self.rules(inForce, for: path, at: now).validateResponse(
                for: host, over: path, evaluatedFor: other, at: time), inForce, at: time)
        let isTold = decision.reason == .otherHostConnection || decision.reason == .transparency
        if decision.verdict == .block || isTold {
            self.observe(decision, connection, inForce, at: now)
        }
        return decision
    }

    /// The decision on a connection without a validated path, or one that must not be made: `chain-invalid`,
    /// `no-certificates`, `over-budget`, `cleartext`.
    ///
    /// - Parameters:
    ///   - host: The host that the connection is made for, without a port.
    ///   - reason: The reason of the refusal.
    ///   - detail: A detail for people beside the reason.
    ///   - connection: The facts about the connection for reports.
    public nonisolated func refusal(
        of host: String, _ reason: PinningDecision.Reason, detail: String? = nil,
        connection: ConnectionFacts = ConnectionFacts()
    ) -> PinningDecision {
        let now = self.configuration.clock.now
        let inForce = self.inForce(at: now)
        let decision = inForce.policy(at: now).refusal(of: host, reason, detail: detail)
        self.observe(decision, connection, inForce, at: now)
        return decision
    }

    /// Applies the entry's demand on Certificate Transparency to a decision.
    private nonisolated func evaluated(
        _ decision: consuming PinningDecision, _ inForce: PolicyInForce, at time: Timestamp
    ) -> PinningDecision {
        inForce.evaluated(decision, at: time) { kind, detail in
            self.hub.send(PinningEvent(kind, at: self.configuration.clock.now, detail))
        }
    }

    /// Whether a path can be evaluated for a host without verifying a signature: an event loop may do it at once.
    @_spi(Adapters)
    public nonisolated func evaluatesWithoutSignatures(_ path: ValidatedPath, for host: HostName) -> Bool {
        let inForce = self.box.value
        guard let logs = inForce.logs else { return true }
        let rules = inForce.policy(at: self.configuration.clock.now)
        return rules.entry(for: host)?.transparency == nil || logs.remembers(path)
    }

    /// The policy in force. When the list has expired meanwhile, or is valid again because the clock went back,
    /// observers, open connections and collectors are told; the decision waits for none.
    private nonisolated func inForce(at now: Timestamp) -> PolicyInForce {
        let inForce = self.box.value
        if inForce.isStale(at: now) != inForce.wasStale {
            Task { await self.lookAtStaleness(at: now) }
        }
        return inForce
    }

    /// The rules for a path: those in force, or, in a debug build, none for a path that ends at a developer's own
    /// anchor.
    private nonisolated func rules(
        _ inForce: PolicyInForce, for path: ValidatedPath?, at now: Timestamp
    ) -> PinningPolicy {
        #if DEBUG
        if let anchor = path?.publicKeyPins.last ?? nil, self.configuration.developerAnchors.contains(anchor) {
            let shout = "NOTHING IS PINNED on a connection whose path ends at the developer's anchor \(anchor)"
            (self.configuration.logger ?? Logger(label: "PinListClient")).critical("\(shout)")
            self.hub.send(PinningEvent(.developerAnchor, at: now, shout))
            return PinningPolicy(unlisted: .allow)
        }
        #endif
        return inForce.policy(at: now)
    }

    private nonisolated func observe(
        _ decision: PinningDecision, _ connection: ConnectionFacts, _ inForce: PolicyInForce,
        _ runtimeEnvironment: RuntimeEnvironment? = nil, at now: Timestamp
    ) {
        self.ledger.note(decision, at: now)
        let isFailure: Bool
        // What is denied or revoked and only reported is allowed under any reason, a match included.
        switch decision.reportedReason ?? decision.reason {
        case .pinMatch, .notPinned: return
        case .suspended, .domainExpired: isFailure = false
        default: isFailure = true
        }
        var event = PinningEvent(isFailure ? .validationFailed : .notEnforced, at: now, decision.description)
        event.decision = decision
        self.hub.send(event)
        self.report(decision, connection, inForce, runtimeEnvironment, at: now)
        guard decision.verdict == .block, PinningError(decision).isForPins else { return }
        // A page chooses the hosts that no entry covers, and may have a server with a denied key there.
        let isAtWill = decision.entry == nil || decision.reason == .cleartext || decision.reason == .tampering
        let signal = isAtWill ? self.denials : self.mismatches
        signal.send()
    }

    /// Reports a decision, where there is something to report and this installation is in the sample.
    private nonisolated func report(
        _ decision: PinningDecision, _ connection: ConnectionFacts, _ inForce: PolicyInForce,
        _ runtimeEnvironment: RuntimeEnvironment?, at now: Timestamp
    ) {
        guard inForce.isReported(decision, at: now) else { return }
        let signals =
            connection.signals + ((runtimeEnvironment ?? self.configuration.runtimeEnvironment?())?.signals ?? [])
        if let report = Report(
            decision, port: connection.port, served: connection.presented, isWebView: connection.isWebView,
            list: inForce.reportedList, app: self.configuration.app, signals: signals, at: now)
        {
            self.add(report, at: now)
        }
    }

    /// Sends one event that lists are never refreshed, when ``run()`` has not been called some time after the start.
    private nonisolated func warnUnlessRunning(at now: Timestamp) {
        guard self.address != nil, now.secondsSince1970 - self.madeAt.secondsSince1970 >= Self.graceSeconds,
            self.mismatches.isFirstTimeUnheard()
        else { return }
        self.hub.send(PinningEvent(.notRunning, at: now, "Pinning.run() is not running: the list is never refreshed"))
    }

    /// Sends an event to observers; for adapters.
    public nonisolated func send(_ event: PinningEvent) { self.hub.send(event) }

    /// The refusal behind an error of a transport, or `nil` when pinning refused nothing.
    ///
    /// Where a transport hides why a connection ended (HTTP/2 and URLSession do), the refusal is found by the host: the
    /// newest of the last minute, unless a connection to the host was allowed since.
    ///
    /// - Parameters:
    ///   - error: The error of the transport.
    ///   - host: The host of the request, where the caller knows it; by default that of the error's failing URL.
    public nonisolated func refusal(for error: any Error, host: String? = nil) -> PinningError? {
        if let error = error as? PinningError { return error }
        guard !(error is CancellationError), let host = host ?? FailingURL.host(of: error) else { return nil }
        return self.ledger.refusal(of: host, at: self.configuration.clock.now).map { PinningError($0) }
    }

    /// Lets a refusal explain errors of another host, too: a redirect that was refused fails for its caller under the
    /// host that redirected.
    @_spi(Adapters)
    public nonisolated func explain(_ host: String, by refusal: PinningDecision) {
        self.ledger.explain(host, by: refusal, at: self.configuration.clock.now)
    }

    /// The number of decisions by reason, in this process.
    public nonisolated var decisionCounts: [PinningDecision.Reason: Int] { self.ledger.counts }

    /// The time by the client's clock, for adapters.
    public nonisolated var now: Timestamp { self.configuration.clock.now }

    /// Waits by the client's clock, for adapters.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public nonisolated func sleep(seconds: Double) async throws {
        try await self.configuration.clock.sleep(seconds: seconds)
    }

    /// Whether all entries only report, also those with mode `enforce`.
    public nonisolated var isObserving: Bool { self.configuration.isObserving }

    /// Whether a response of a pinned host without a decision ends the process.
    public nonisolated var stopsWithoutDecision: Bool { self.configuration.stopsWithoutDecision }

    /// The demand on the system to check revocation.
    public nonisolated var revocation: SystemRevocation { self.configuration.revocation }
}

/// The facts about a connection that only an adapter has, for reports. The verdict does not depend on them.
public struct ConnectionFacts: Hashable, Sendable {
    /// The port.
    public var port: Int
    /// The presented certificates in DER, leaf first; empty where the platform shows only the validated ones.
    public var presented: [[UInt8]]
    /// Whether a web view asked: pages choose its hosts, so failures of hosts that no entry covers are private.
    public var isWebView: Bool
    /// The signals of tampering with this process.
    public var signals: [String]

    /// Creates facts.
    public init(port: Int = 443, presented: [[UInt8]] = [], isWebView: Bool = false, signals: [String] = []) {
        self.port = port
        self.presented = presented
        self.isWebView = isWebView
        self.signals = signals
    }
}

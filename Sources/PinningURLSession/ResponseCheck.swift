// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
@_spi(Adapters) internal import PinListClient

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The second check: whether the connection that a response came over was evaluated for the host of its request.
///
/// The first check is the challenge. A connection that another host opened gets none for this host, nor does one that
/// resumes a TLS session, and a delegate of a single task may answer a challenge in its own way.
struct ResponseCheck: Sendable {
    let pinning: Pinning
    let ledger: ConnectionLedger
    let names: ValidNames

    /// Checks before anything is delivered. The connection is not known yet: a host that was evaluated before passes, and
    /// ``refusal(of:_:)`` checks again. Any other host passes when each connection that may have carried the response
    /// would satisfy it.
    func provisionalRefusal(of target: SessionTarget) -> PinningDecision? {
        self.refusal(of: target) { server in
            if let path = self.ledger.path(of: server) { return self.own(path, server) }
            return self.unknown(server, self.ledger.evaluated(otherThan: server, needsEndpoint: false))
        }
    }

    /// What is known of the connections with TLS that a task opened.
    struct Located {
        /// Whether each had a challenge here.
        var wereChallenged = true
        /// The servers of those whose challenge the task's own delegate may have answered: they were evaluated by nobody.
        var unevaluated: Set<ConnectionLedger.Server> = []
        /// Whether one of these is not identified by its ends: another request on it could not be told.
        var hidesUnevaluated = false
    }

    /// Records the connections that a task opened, by their ends: also of a hop without a response, and of a task that was
    /// refused, because others may use them.
    ///
    /// Nothing in the metrics tells a resumed TLS session, which has no challenge, from one whose challenge another delegate
    /// answered. Where the task has such a delegate, the second is assumed.
    ///
    /// - Parameter isOwn: Whether a delegate of the task's own may have answered its challenges.
    func locate(
        _ metrics: URLSessionTaskMetrics, of task: ObjectIdentifier, answeredByItsOwn isOwn: Bool
    ) -> Located {
        var (located, challenged) = (Located(), Set<ConnectionLedger.Server>())
        for transaction in metrics.connected where !transaction.isReusedConnection {
            guard let server = SessionTarget(transaction.request.url)?.server else { continue }
            // All challenges of a task for one server are asked of one delegate.
            let mayBeResumed = !isOwn || challenged.contains(server)
            let endpoint = transaction.endpoint
            let isChallenged =
                endpoint.map { self.ledger.opened($0, for: server, task: task, mayBeResumed: mayBeResumed) }
                ?? self.ledger.opened(for: server, task: task, mayBeResumed: mayBeResumed)
            guard !isChallenged else {
                challenged.insert(server)
                continue
            }
            located.wereChallenged = false
            guard !mayBeResumed else { continue }
            located.unevaluated.insert(server)
            if endpoint.map({ self.ledger.isAmbiguous($0) }) ?? true { located.hidesUnevaluated = true }
        }
        return located
    }

    /// Checks when the request's metrics are known, for all hops of its redirects, and what the task opened.
    func refusal(of metrics: URLSessionTaskMetrics, _ located: Located) -> PinningDecision? {
        for transaction in metrics.connected {
            // A hop without a response delivered nothing.
            guard transaction.response != nil, let target = SessionTarget(transaction.request.url) else { continue }
            let refusal = self.refusal(of: target) { server in
                located.unevaluated.contains(server)
                    ? self.evaluate(server, over: nil, of: nil)
                    : self.decision(on: server, transaction.endpoint, isReused: transaction.isReusedConnection)
            }
            if let refusal { return refusal }
        }
        return nil
    }

    private func refusal(
        of target: SessionTarget, _ decide: (ConnectionLedger.Server) -> PinningDecision
    ) -> PinningDecision? {
        let decision: PinningDecision
        if !target.isTLS {
            decision = self.pinning.cleartextDecision(for: target.host, port: target.port)
        } else if let server = target.server {
            decision = decide(server)
        } else {
            decision = self.pinning.refusal(of: target.host, .hostInvalid)
        }
        return decision.verdict == .block ? decision : nil
    }

    private func decision(
        on server: ConnectionLedger.Server, _ endpoint: ConnectionLedger.Endpoint?, isReused: Bool
    ) -> PinningDecision {
        let isNew = endpoint != nil && !isReused
        let endpoint = endpoint.flatMap { self.ledger.isAmbiguous($0) ? nil : $0 }
        // The path is that of this very connection: the server may have shown others since.
        if let opening = endpoint.flatMap({ self.ledger.opener(of: $0) }) {
            return self.decision(on: server, over: opening)
        }
        let path = self.ledger.path(of: server)
        // The connection is its own, or its server is not known: then each possible one must satisfy the host.
        guard !isNew else { return path.map { self.own($0, server) } ?? self.evaluate(server, over: nil, of: nil) }
        let others = self.ledger.evaluated(otherThan: server, needsEndpoint: endpoint != nil)
        guard let path else { return self.unknown(server, others) }
        let refused = self.valid(others, for: server).lazy
            .map { self.evaluate(server, over: $0.value, of: $0.key) }.first { $0.verdict == .block }
        return refused ?? self.own(path, server)
    }

    /// Checks a response over a connection that is known: each path that it may have satisfies the host.
    private func decision(
        on server: ConnectionLedger.Server, over opening: ConnectionLedger.Opening
    ) -> PinningDecision {
        var decision: PinningDecision?
        for path in opening.paths where decision?.verdict != .block {
            decision =
                opening.server == server
                ? self.own(path, server) : self.evaluate(server, over: path, of: opening.server)
        }
        return decision ?? self.evaluate(server, over: nil, of: opening.server == server ? nil : opening.server)
    }

    /// Checks a response of a server that was never evaluated, over a connection of one of these.
    private func unknown(
        _ server: ConnectionLedger.Server, _ others: [ConnectionLedger.Server: ValidatedPath]
    ) -> PinningDecision {
        var decision: PinningDecision?
        for (other, path) in self.valid(others, for: server) where decision?.verdict != .block {
            decision = self.evaluate(server, over: path, of: other)
        }
        return decision ?? self.evaluate(server, over: nil, of: nil)
    }

    /// The servers whose certificate is also for this one: a request for it would use no other connection. One stands for
    /// all with the same path.
    private func valid(
        _ others: [ConnectionLedger.Server: ValidatedPath], for server: ConnectionLedger.Server
    ) -> [ConnectionLedger.Server: ValidatedPath] {
        // The system is not asked where no pin could refuse.
        let (inForce, now) = (self.pinning.policyInForce, self.pinning.now)
        guard let entry = inForce.policy(at: now).entry(for: server.host), entry.mode != .off else {
            return [:]
        }
        return self.names.valid(others, for: server.host, under: inForce.epoch, at: now)
    }

    private func own(_ path: ValidatedPath, _ server: ConnectionLedger.Server) -> PinningDecision {
        self.pinning.decisionAgain(
            for: path, host: server.host.description, connection: ConnectionFacts(port: server.port))
    }

    private func evaluate(
        _ server: ConnectionLedger.Server, over path: ValidatedPath?, of opener: ConnectionLedger.Server?
    ) -> PinningDecision {
        // A connection of another host whose certificate is not for this one must not have been used.
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        let path = path.flatMap { self.names.isValid($0, for: server.host, under: epoch, at: now) ? $0 : nil }
        let decision = self.pinning.responseDecision(
            for: server.host.description, over: path, evaluatedFor: opener?.host.description,
            connection: ConnectionFacts(port: server.port))
        precondition(
            path != nil || decision.verdict == .allow || !self.pinning.stopsWithoutDecision,
            "a response from a pinned host came over a connection that carries no decision")
        return decision
    }
}

extension URLSessionTaskMetrics {
    /// Whether the last hop went over a connection and had a response.
    var endWithResponse: Bool { self.connected.last?.response != nil }

    /// The hops that went over a connection.
    fileprivate var connected: [URLSessionTaskTransactionMetrics] {
        self.transactionMetrics.filter { $0.resourceFetchType != .localCache }
    }
}

extension URLSessionTaskTransactionMetrics {
    /// The connection, by its ends, where the system shows them. The ends of a proxy's connection do not identify the
    /// server.
    fileprivate var endpoint: ConnectionLedger.Endpoint? {
        guard !self.isProxyConnection, let local = self.localAddress, let localPort = self.localPort,
            let remote = self.remoteAddress,
            let remotePort = self.remotePort
        else { return nil }
        return ConnectionLedger.Endpoint(local: "\(local) \(localPort)", remote: "\(remote) \(remotePort)")
    }
}
#endif

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

/// Evaluates the connections of a session again when rules come into force, when a suspension ends, and with a new task at
/// another time while the clock has a part in the decision on any of them.
///
/// A session shows no connections to close. It has `flush`: later requests use new connections. What refused servers put
/// into the session's cache is removed with all else in it, because a cache does not say which connection a response came
/// over. Tasks that may be running on a connection with a denied key or a revoked certificate are ended at once; for the
/// rest the second check evaluates their responses.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class PolicyWatch: @unchecked Sendable {
    /// The server and the path of connections that may be open.
    private struct Connection: Hashable {
        let server: ConnectionLedger.Server
        let path: ValidatedPath
    }

    private typealias Refused = (server: ConnectionLedger.Server, decision: PinningDecision)

    private let pinning: Pinning
    private let ledger: ConnectionLedger
    private let refusals: TaskRefusals
    private let names: ValidNames
    private let lock = NSLock()
    private weak var session: URLSession?
    private var rules: PinningPolicy
    /// The suspensions that held when the connections were evaluated last.
    private var suspended: [Suspension]
    /// When they were evaluated last; `nil` where another one was allowed since, maybe at another time.
    private var time: Timestamp?
    /// Whether the clock had a part in the decision on any of them: another time may bring another one.
    private var dependsOnClock = false
    /// What the rules before refused. It was told and acted on then, and may be closed since: requests have other connections now.
    private var before: [Connection: PinningDecision.Reason] = [:]
    /// Whether connections are being evaluated.
    private var isEvaluating = false
    /// Whether they have to be evaluated, or to be evaluated once more: rules may come into force when a suspension ends.
    private var isDue = false
    private var watching: Task<Void, Never>?
    private var waiting: Task<Void, Never>?

    /// Observes until it is released.
    init(pinning: Pinning, ledger: ConnectionLedger, refusals: TaskRefusals, names: ValidNames) {
        self.pinning = pinning
        self.ledger = ledger
        self.refusals = refusals
        self.names = names
        // First the changes, then the rules: none comes into force between the two unseen.
        let changes = pinning.policyChanges()
        let now = pinning.now
        self.time = now
        self.rules = pinning.policyInForce.policy(at: now)
        self.suspended = pinning.suspensions
        let watching = Task { [weak self] in
            // By hand: `for await` asks for a method that is newer than iOS 15 where the compiler finds it.
            var changes = changes.makeAsyncIterator()
            while await changes.next() != nil { self?.reevaluate() }
        }
        self.lock.withLock { self.watching = watching }
        self.awaitEndOfSuspension()
    }

    deinit {
        self.watching?.cancel()
        self.waiting?.cancel()
    }

    /// Takes the session of the connections. Where rules deny, revoke or suspend anything, the cache of a new one is emptied
    /// once: the denial may have come into force, or the suspension have ended, in an earlier process or without this session,
    /// and no change tells of it.
    ///
    /// A session is given again with each of its tasks. No task of ours may have woken since a suspension ended: the device
    /// slept, or its clock was set. Nor does one wake when an entry ends, or when a clock that was wrong is set right.
    func attach(_ session: URLSession) {
        let mayHaveRefused = self.lock.withLock {
            defer { self.session = session }
            return self.session !== session
                && !(self.rules.denied.isEmpty && self.rules.revoked.isEmpty && self.rules.suspended.isEmpty)
        }
        if mayHaveRefused { session.emptyCache() }
        let (suspended, now) = (self.pinning.suspensions, self.pinning.now)
        let changesWhenStale = self.pinning.policyInForce.changesWhenStale
        let isOutdated = self.lock.withLock {
            self.suspended != suspended || (self.time != now && (self.dependsOnClock || changesWhenStale))
        }
        if isOutdated { self.reevaluate() }
    }

    /// Takes note of a connection that is allowed: the clock may have a part in that.
    func noteAllowed(_ decision: PinningDecision) {
        guard !decision.isByPinAlone else { return }
        self.lock.withLock { (self.time, self.dependsOnClock) = (nil, true) }
    }

    /// Evaluates again when the next suspension ends.
    private func awaitEndOfSuspension() {
        self.lock.withLock {
            self.waiting?.cancel()
            // Read under the lock: the last call to wait is the last one to read.
            self.waiting = self.pinning.nextEndOfSuspension.map { end in
                Task { [weak self, pinning] in
                    if await pinning.hasCome(end) { self?.reevaluate() }
                }
            }
        }
    }

    /// Evaluates, or has the call that is doing so do it once more. No lock is held meanwhile: an app that is told of a
    /// refusal may make a task of this session, which is given here.
    private func reevaluate() {
        // First: a suspension that ends meanwhile is not missed.
        self.awaitEndOfSuspension()
        self.lock.withLock { self.isDue = true }
        while self.beginsEvaluation() {
            self.evaluate()
            self.lock.withLock { self.isEvaluating = false }
        }
    }

    private func beginsEvaluation() -> Bool {
        self.lock.withLock {
            guard self.isDue, !self.isEvaluating else { return false }
            (self.isEvaluating, self.isDue) = (true, false)
            return true
        }
    }

    private func evaluate() {
        let suspended = self.pinning.suspensions
        // Before the paths are read: one that is allowed meanwhile is not overlooked.
        self.lock.withLock { (self.time, self.dependsOnClock) = (self.pinning.now, false) }
        let refused = self.newlyRefused()
        let deniesOthers = self.deniesOthers(self.pinning.policyInForce.policy(at: self.pinning.now), suspended)
        guard let session = self.lock.withLock({ self.session }) else { return }
        if !refused.isEmpty { session.flush {} }
        if deniesOthers || !refused.isEmpty { session.emptyCache() }
        let denied = refused.filter { [.deniedKey, .deniedUndecidable, .revoked].contains($0.decision.reason) }
        guard !denied.isEmpty else { return }
        session.getAllTasks { tasks in
            for task in tasks {
                guard let refusal = self.refusal(of: task, by: denied) else { continue }
                self.refusals.end(task, by: refusal, of: self.pinning)
            }
        }
    }

    /// The connections that are refused now, for another reason than before.
    private func newlyRefused() -> [Refused] {
        let before = self.lock.withLock { self.before }
        var reasons: [Connection: PinningDecision.Reason] = [:]
        var refused: [Refused] = []
        for (server, paths) in self.ledger.paths {
            for path in paths {
                let connection = Connection(server: server, path: path)
                let decision = self.pinning.decisionAgain(
                    for: path, host: server.host.description, connection: ConnectionFacts(port: server.port),
                    known: before[connection])
                guard decision.verdict == .block else {
                    if !decision.isByPinAlone { self.lock.withLock { self.dependsOnClock = true } }
                    continue
                }
                self.ledger.forget(path, of: server)
                reasons[connection] = decision.reason
                if before[connection] != decision.reason { refused.append((server, decision)) }
            }
        }
        self.lock.withLock { [reasons] in self.before = reasons }
        return refused
    }

    /// Whether rules deny other keys or certificates than those before, or a suspension is over: the cache may have responses
    /// of connections that are not known any more, also of an earlier process. What rules denied before the session is for
    /// ``attach(_:)``.
    private func deniesOthers(_ rules: PinningPolicy, _ suspended: [Suspension]) -> Bool {
        self.lock.withLock {
            defer { (self.rules, self.suspended) = (rules, suspended) }
            return rules.denied != self.rules.denied || rules.revoked != self.rules.revoked
                || self.suspended.contains { !suspended.contains($0) }
        }
    }

    /// The refusal of a running task, where its connection may be one of these.
    private func refusal(of task: URLSessionTask, by denied: [Refused]) -> PinningDecision? {
        let opened = self.ledger.servers(of: ObjectIdentifier(task))
        let target = SessionTarget(task.currentRequest?.url)?.server
        if let own = denied.first(where: { opened.contains($0.server) || $0.server == target }) { return own.decision }
        guard opened.isEmpty, let target else { return nil }
        // It may be on the connection of another host whose certificate is for both.
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        for other in denied where self.names.isValid(other.decision.path, for: target.host, under: epoch, at: now) {
            let decision = self.pinning.responseDecision(
                for: target.host.description, over: other.decision.path,
                evaluatedFor: other.server.host.description, connection: ConnectionFacts(port: target.port))
            if decision.verdict == .block { return decision }
        }
        return nil
    }
}

extension URLSession {
    /// Removes all responses from the session's cache: also from `URLCache.shared`, where the session uses that one. A cache
    /// promises nothing, and a response of a refused server must not be served.
    func emptyCache() { self.configuration.urlCache?.removeAllCachedResponses() }
}
#endif

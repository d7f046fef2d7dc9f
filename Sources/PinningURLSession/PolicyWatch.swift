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
/// over. Tasks that may be running on a connection with a denied key or a revoked certificate are ended at once, and so are
/// WebSockets and streams on any refused one; requests that already have a response, after half a minute. For the rest the second
/// check evaluates their responses.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class PolicyWatch: @unchecked Sendable {
    private typealias Known = ConnectionLedger.Known
    /// A refusal, and whether nothing else is known of the server that is allowed.
    private typealias Refused = (known: Known, decision: PinningDecision, isOnly: Bool)

    /// The time for which a response that has begun may go on, in seconds: as on SwiftNIO.
    private static let graceSeconds = 30.0
    /// The maximum number of refused paths that are remembered.
    private static let maximum = 1_024

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
    /// What was refused last, and why. It was told and acted on then, and may be closed since: requests have other connections
    /// now. It is evaluated on, because it may be resumed when it is allowed again.
    private var refused: [Known: PinningDecision.Reason] = [:]
    /// What challenges allowed while connections were being evaluated.
    private var allowedMeanwhile: Set<Known> = []
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

    /// Takes note of a connection that a challenge allows. Where all others were evaluated by newer rules already, the second check
    /// refuses its first response, and the session is flushed by that.
    func noteAllowed(_ decision: PinningDecision, for server: ConnectionLedger.Server) {
        let known = Known(server: server, path: decision.path)
        self.lock.withLock {
            self.refused[known] = nil
            if self.isEvaluating { self.allowedMeanwhile.insert(known) }
            if decision.dependsOnClock { (self.time, self.dependsOnClock) = (nil, true) }
        }
    }

    /// Takes note of a connection that resumed a TLS session, without a challenge: the clock may have a part in it.
    func noteUnchallenged() { self.lock.withLock { (self.time, self.dependsOnClock) = (nil, true) } }

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
            (self.isEvaluating, self.isDue, self.allowedMeanwhile) = (true, false, [])
            return true
        }
    }

    private func evaluate() {
        let (suspended, now) = (self.pinning.suspensions, self.pinning.now)
        // Before the paths are read: one that is allowed meanwhile is not overlooked.
        self.lock.withLock { (self.time, self.dependsOnClock) = (now, false) }
        let refused = self.newlyRefused()
        // After the flush: an app that is told, and asks again at once, gets another connection.
        defer { self.tell(refused) }
        let deniesOthers = self.deniesOthers(self.pinning.policyInForce.policy(at: now), suspended)
        guard deniesOthers || !refused.isEmpty, let session = self.lock.withLock({ self.session }) else { return }
        session.flush {}
        session.emptyCache()
        guard !refused.isEmpty else { return }
        session.getAllTasks { tasks in self.end(tasks, on: refused) }
    }

    private func tell(_ refused: [Refused]) {
        for refused in refused { _ = self.decision(on: refused.known, isTold: true) }
    }

    private func decision(on known: Known, isTold: Bool) -> PinningDecision {
        self.pinning.decisionAgain(
            for: known.path, host: known.server.host.description,
            connection: ConnectionFacts(port: known.server.port), known: nil, isTold: isTold)
    }

    /// The connections that are refused now, for another reason than before.
    private func newlyRefused() -> [Refused] {
        let before = self.lock.withLock { self.refused }
        var reasons: [Known: PinningDecision.Reason] = [:]
        var (refused, dependsOnClock): ([Refused], Bool) = ([], false)
        var allowed: Set<ConnectionLedger.Server> = []
        for known in self.ledger.known.union(before.keys) {
            let server = known.server
            let decision = self.decision(on: known, isTold: false)
            guard decision.verdict == .block else {
                self.ledger.restore(known, isCovered: decision.entry != nil)
                allowed.insert(server)
                dependsOnClock = dependsOnClock || decision.dependsOnClock
                continue
            }
            self.ledger.forget(known)
            // It may be allowed at another time.
            dependsOnClock = dependsOnClock || decision.entry?.expiresAt != nil || decision.entry?.transparency != nil
            if reasons.count < Self.maximum { reasons[known] = decision.reason }
            if before[known] != decision.reason { refused.append((known, decision, isOnly: false)) }
        }
        self.lock.withLock { [reasons, dependsOnClock] in
            self.refused = reasons.filter { !self.allowedMeanwhile.contains($0.key) }
            self.dependsOnClock = self.dependsOnClock || dependsOnClock
        }
        return refused.map { ($0.known, $0.decision, isOnly: !allowed.contains($0.known.server)) }
    }

    /// Whether rules deny other keys or certificates than those before, or a suspension is over: connections may be open, and
    /// responses in the cache, that are not known any more; those also of an earlier process. What rules denied before the session
    /// is for ``attach(_:)``.
    private func deniesOthers(_ rules: PinningPolicy, _ suspended: [Suspension]) -> Bool {
        self.lock.withLock {
            defer { (self.rules, self.suspended) = (rules, suspended) }
            return rules.denied != self.rules.denied || rules.revoked != self.rules.revoked
                || self.suspended.contains { !suspended.contains($0) }
        }
    }

    /// Ends tasks that may be on one of these connections.
    private func end(_ tasks: [URLSessionTask], on refused: [Refused]) {
        let denied = refused.filter { [.deniedKey, .deniedUndecidable, .revoked].contains($0.decision.reason) }
        var later: [(task: URLSessionTask, refused: Refused)] = []
        for task in tasks {
            if let refusal = self.refusal(of: task, by: denied) {
                self.refusals.end(task, by: refusal, of: self.pinning)
            } else if let refused = self.refused(of: task, among: refused) {
                if task is URLSessionWebSocketTask || task is URLSessionStreamTask {
                    self.refusals.end(task, by: refused.decision, of: self.pinning)
                } else {
                    later.append((task, refused))
                }
            }
        }
        guard !later.isEmpty else { return }
        Task { [weak self, pinning, later] in
            try? await pinning.sleep(seconds: Self.graceSeconds)
            self?.end(later)
        }
    }

    /// Ends what still runs on connections that are still refused.
    private func end(_ later: [(task: URLSessionTask, refused: Refused)]) {
        for (task, refused) in later where [.running, .suspended].contains(task.state) {
            guard self.lock.withLock({ self.refused[refused.known] != nil }) else { continue }
            self.refusals.end(task, by: refused.decision, of: self.pinning)
        }
    }

    /// The refused connection that a task has, as far as is known: by its own challenge, or because it has a response and nothing else
    /// is known of its server that is allowed.
    private func refused(of task: URLSessionTask, among refused: [Refused]) -> Refused? {
        let opened = self.ledger.opened(by: ObjectIdentifier(task))
        let target = SessionTarget(task.currentRequest?.url)?.server
        return refused.first { refused in
            if let paths = opened[refused.known.server] { return paths.contains(refused.known.path) }
            return task.response != nil && refused.isOnly && refused.known.server == target
        }
    }

    /// The refusal of a running task, where its connection may be one of these.
    private func refusal(of task: URLSessionTask, by denied: [Refused]) -> PinningDecision? {
        guard !denied.isEmpty else { return nil }
        let opened = self.ledger.opened(by: ObjectIdentifier(task))
        let target = SessionTarget(task.currentRequest?.url)?.server
        if let own = denied.first(where: { opened[$0.known.server] != nil || $0.known.server == target }) {
            return own.decision
        }
        guard opened.isEmpty, let target else { return nil }
        // It may be on the connection of another host whose certificate is for both.
        let (epoch, now) = (self.pinning.policyInForce.epoch, self.pinning.now)
        for other in denied where self.names.isValid(other.known.path, for: target.host, under: epoch, at: now) {
            let decision = self.pinning.responseDecision(
                for: target.host.description, over: other.known.path,
                evaluatedFor: other.known.server.host.description, connection: ConnectionFacts(port: target.port))
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

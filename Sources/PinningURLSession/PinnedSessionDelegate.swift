// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
public import Foundation
@_spi(Adapters) public import PinListClient

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A session's delegate that pins: the challenge of each connection is evaluated before a byte of a request leaves, and
/// the connection of each response is evaluated for the host of its request.
///
/// Every other call is forwarded to the app's own delegate. Subclasses are allowed; an override calls `super`: a challenge
/// for a server's trust that it answers by itself is evaluated by nobody. A subclass that adds the session's method for
/// challenges (`urlSession(_:didReceive:completionHandler:)`) is never asked by it.
///
/// A delegate of a single task (`URLSessionTask.delegate`) that has a method for challenges takes its task's from here. Where
/// pins are enforced, the second check withholds the responses over a connection that such a task opened without a
/// challenge here, those of later tasks too. It learns of the connection from the task's metrics, when the task ends: what was
/// handed over before that stays so, and a delegate that takes the metrics as well hides it.
///
/// `@unchecked Sendable`: because what changes is in the ledger and the refusals, under their own locks.
open class PinnedSessionDelegate: ForwardingSessionDelegate, @unchecked Sendable {
    /// The maximum wait of a challenge for a newer list, in seconds (formats.md, section 4).
    public static let maximumSecondsToWait = 5.0

    /// The client whose rules apply.
    public let pinning: Pinning
    let secondsToWaitForNewerList: Double
    let ledger: ConnectionLedger
    let refusals = TaskRefusals()
    private let names = ValidNames()
    private let watch: PolicyWatch
    var check: ResponseCheck { ResponseCheck(pinning: self.pinning, ledger: self.ledger, names: self.names) }

    /// Creates a delegate, for one session.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - delegate: The app's own.
    ///   - secondsToWaitForNewerList: The time for which a connection that was refused for its pins waits for a newer
    ///     list, at most ``maximumSecondsToWait``; 0 refuses at once. `Pinning.run()` must be running.
    public init(
        by pinning: Pinning, forwardingTo delegate: (any URLSessionDelegate)? = nil,
        secondsToWaitForNewerList: Double = 0
    ) {
        self.pinning = pinning
        self.secondsToWaitForNewerList = min(max(secondsToWaitForNewerList, 0), Self.maximumSecondsToWait)
        self.ledger = ConnectionLedger(shared: pinning.allowedPaths)
        self.watch = PolicyWatch(
            pinning: pinning, ledger: self.ledger, refusals: self.refusals, names: self.names)
        super.init(forwardingTo: delegate)
    }

    /// The refusal that ended a task, in place of URLSession's "cancelled".
    public func refusal(of task: URLSessionTask) -> PinningError? { self.refusals.refusal(of: task) }

    /// Ends open connections of a session when new rules refuse them.
    func attach(_ session: URLSession) { self.watch.attach(session) }

    // MARK: The first check

    /// Evaluates a server's trust; other challenges are forwarded to the app.
    open override func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.isForServerTrust else {
            return super.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
        self.attach(session)
        let port = challenge.protectionSpace.port
        let rules = self.pinning.policyInForce
        self.pinning.evaluate(challenge, isWebView: false) { decision in
            guard decision.verdict == .block, PinningError(decision).isForPins, self.secondsToWaitForNewerList > 0
            else {
                return completionHandler(self.conclude(decision, port: port, task: task), nil)
            }
            Task {
                var decision = decision
                if await self.pinning.isList(newerThan: rules, within: self.secondsToWaitForNewerList) {
                    decision = self.pinning.decision(
                        for: decision.path, host: decision.host, connection: ConnectionFacts(port: port))
                }
                completionHandler(self.conclude(decision, port: port, task: task), nil)
            }
        }
    }

    private func conclude(
        _ decision: PinningDecision, port: Int, task: URLSessionTask
    ) -> URLSession.AuthChallengeDisposition {
        if decision.verdict == .block {
            self.refusals.note(decision, of: self.pinning, task)
        } else if let host = try? HostName(decision.host) {
            let server = ConnectionLedger.Server(host: host, port: port)
            self.ledger.allowed(
                decision.path, for: server, isCovered: decision.entry != nil, task: ObjectIdentifier(task))
            self.watch.noteAllowed(decision, for: server)
        }
        return decision.verdict.disposition
    }

    // MARK: Cleartext

    /// Ends a request without TLS to a host whose entry enforces, before it begins.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    open override func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        self.attach(session)
        self.refuseCleartext(task.originalRequest?.url, task)
        super.urlSession(session, didCreateTask: task)
    }

    /// Refuses a redirect to a host without TLS whose entry enforces.
    open override func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The redirecting server is evaluated before its redirect is followed.
        if self.withholds(response, of: task) { return completionHandler(nil) }
        guard !self.refuseCleartext(request.url, task) else { return completionHandler(nil) }
        super.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request
        ) { request in
            // The app's delegate may choose another request.
            guard let request, self.refuseCleartext(request.url, task) else { return completionHandler(request) }
            completionHandler(nil)
        }
    }

    @discardableResult
    private func refuseCleartext(_ url: URL?, _ task: URLSessionTask) -> Bool {
        guard let target = SessionTarget(url), !target.isTLS else { return false }
        let decision = self.pinning.cleartextDecision(for: target.host, port: target.port)
        guard decision.verdict == .block else { return false }
        self.refusals.end(task, by: decision, of: self.pinning)
        return true
    }

    // MARK: The second check

    /// Withholds a response whose connection may not have been evaluated for its host.
    open override func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard !self.withholds(response, of: dataTask) else { return completionHandler(.cancel) }
        super.urlSession(
            session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    /// Drops the body of a withheld response.
    open override func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard self.refusals.refusal(of: dataTask) == nil else { return }
        super.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// Keeps a response out of the cache that is withheld, or would be by rules that came into force while it arrived.
    open override func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard !self.withholds(proposedResponse.response, of: dataTask) else { return completionHandler(nil) }
        super.urlSession(
            session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
    }

    /// Withholds a file whose connection may not have been evaluated for its host.
    open override func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard !self.withholds(downloadTask.response, of: downloadTask) else { return }
        super.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    /// Ends a WebSocket whose connection may not have been evaluated for its host.
    open override func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
    ) {
        guard !self.withholds(webSocketTask.response, of: webSocketTask) else { return }
        super.urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: subprotocol)
    }

    /// Whether a response is withheld: its task was refused, or is now.
    private func withholds(_ response: URLResponse?, of task: URLSessionTask) -> Bool {
        if self.refusals.refusal(of: task) != nil { return true }
        guard let target = SessionTarget(response?.url ?? task.currentRequest?.url),
            let refusal = self.check.provisionalRefusal(of: target)
        else { return false }
        self.refusals.end(task, by: refusal, of: self.pinning)
        return true
    }

    /// Evaluates the connections of the responses, which are known now.
    open override func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.evaluate(metrics, of: task, in: session)
        super.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    private func evaluate(_ metrics: URLSessionTaskMetrics, of task: URLSessionTask, in session: URLSession) {
        let located = self.check.locate(
            metrics, of: ObjectIdentifier(task), answeredByItsOwn: task.hasOwnAnswers(insteadOf: self))
        if !located.wereChallenged { self.watch.noteUnchallenged() }
        if self.refusals.refusal(of: task) == nil, let refusal = self.check.refusal(of: metrics, located) {
            self.refusals.end(task, by: refusal, of: self.pinning)
        }
        self.ledger.ended(ObjectIdentifier(task))
        let isWithheld = self.refusals.refusal(of: task) != nil && metrics.endWithResponse
        // Without a delegate that follows the task, the system has cached the response without a question.
        if isWithheld { session.emptyCache() }
        // A later request uses another connection.
        if isWithheld || located.hidesUnevaluated { session.flush {} }
    }

    /// Gives the app's delegate the refusal by pinning in place of "cancelled".
    open override func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        self.ledger.ended(ObjectIdentifier(task))
        super.urlSession(session, task: task, didCompleteWithError: self.refusals.refusal(of: task) ?? error)
    }
}
#endif

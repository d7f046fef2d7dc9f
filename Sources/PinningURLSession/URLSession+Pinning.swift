// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
public import Foundation
public import PinListClient

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
    /// The size of the cache of a pinned session, in bytes of memory.
    private static let cacheBytes = 4_194_304

    /// Creates a session that pins.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - configuration: The session's configuration. By default the system's, but with a cache of its own in memory,
    ///     so that responses which another session fetched unpinned are never used.
    ///   - delegate: The app's own delegate, to which every call is forwarded.
    ///   - delegateQueue: As for any session.
    ///   - secondsToWaitForNewerList: See ``PinnedSessionDelegate``.
    public static func pinned(
        by pinning: Pinning, configuration: URLSessionConfiguration? = nil,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil,
        secondsToWaitForNewerList: Double = 0
    ) -> URLSession {
        let pinned = PinnedSessionDelegate(
            by: pinning, forwardingTo: delegate, secondsToWaitForNewerList: secondsToWaitForNewerList)
        let session = URLSession(
            configuration: configuration ?? Self.configurationWithOwnCache, delegate: pinned,
            delegateQueue: delegateQueue)
        pinned.attach(session)
        return session
    }

    private static var configurationWithOwnCache: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(memoryCapacity: Self.cacheBytes, diskCapacity: 0, directory: nil)
        return configuration
    }

    /// Sends a request, and returns the response after both checks. In place of "cancelled" of `data(for:)` it throws
    /// the `PinningError` behind it, and a response over a connection that was not evaluated for its host is withheld,
    /// while `data(for:)` delivers it before it is reported. A caller whose task was cancelled gets a refusal of this very
    /// request alone.
    ///
    /// - Parameter request: The request. Without TLS it is refused before it begins where the host's entry enforces, on
    ///   every version of the system.
    /// - Throws: `PinningError`; `PinningSetupError` for a session without a ``PinnedSessionDelegate`` and for a background
    ///   session, which has no such methods; `URLError`.
    public func pinnedData(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let delegate = self.delegate as? PinnedSessionDelegate else {
            throw PinningSetupError(
                .configuration, "the session has no PinnedSessionDelegate; make it with URLSession.pinned(by:)")
        }
        // Otherwise this is an exception of Objective-C, which Swift cannot catch.
        guard self.configuration.identifier == nil else {
            throw PinningSetupError(
                .configuration, "a background session has tasks for its delegate alone; make a download or upload task")
        }
        // Before iOS 16 a session does not tell of its new tasks.
        delegate.attach(self)
        if let target = SessionTarget(request.url), !target.isTLS {
            let decision = delegate.pinning.cleartextDecision(for: target.host, port: target.port)
            guard decision.verdict == .allow else { throw PinningError(decision) }
        }
        let observer = TaskObserver(delegate)
        do {
            let (data, response) = try await self.data(for: request, delegate: observer)
            if let refusal = observer.refusal(of: response) { throw refusal }
            return (data, response)
        } catch {
            if let refusal = observer.refusal { throw refusal }
            // By the host alone, an earlier refusal would explain that the caller gave up.
            throw Task.isCancelled ? error : delegate.pinning.refusal(for: error) ?? error
        }
    }
}

extension URLSessionTask {
    /// Whether a delegate of the task's own may have answered its challenges in place of the session's. Apple does not document
    /// which of its methods for challenges URLSession calls.
    func hasOwnAnswers(insteadOf delegate: PinnedSessionDelegate) -> Bool {
        guard let own = self.delegate, own !== delegate, !(own is TaskObserver) else { return false }
        return [ForwardingSessionDelegate.challengeOfTask, ForwardingSessionDelegate.challengeOfSession].contains {
            own.responds(to: NSSelectorFromString($0))
        }
    }
}

/// Receives the metrics of one task, for the session's delegate. For all other methods URLSession calls the session's
/// delegate.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class TaskObserver: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    private let delegate: PinnedSessionDelegate
    private let lock = NSLock()
    private var task: URLSessionTask?

    init(_ delegate: PinnedSessionDelegate) { self.delegate = delegate }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.delegate.urlSession(session, task: task, didFinishCollecting: metrics)
        self.lock.withLock { self.task = task }
    }

    /// The refusal of the task, as far as it is known.
    var refusal: PinningError? { self.lock.withLock { self.task }.flatMap { self.delegate.refusal(of: $0) } }

    /// The same for a response that arrived: if the metrics did not arrive before it, it is checked without them.
    func refusal(of response: URLResponse) -> PinningError? {
        if self.lock.withLock({ self.task }) != nil { return self.refusal }
        guard let target = SessionTarget(response.url) else { return nil }
        return self.delegate.check.provisionalRefusal(of: target).map { PinningError($0) }
    }
}
#endif

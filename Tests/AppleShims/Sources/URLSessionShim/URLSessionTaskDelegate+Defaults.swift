// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

// "Not implemented", as Apple documents it for a task's own delegate: the session's delegate gets the call.
extension URLSessionTaskDelegate {
    /// The session's delegate, when this one is the task's own.
    private func next(_ session: URLSession, _ task: URLSessionTask) -> (any URLSessionTaskDelegate)? {
        guard task.delegate === self, let next = session.delegate, next !== self else { return nil }
        return next as? any URLSessionTaskDelegate
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        self.next(session, task)?.urlSession(session, didCreateTask: task)
    }

    /// Not implemented: the session's delegate, or the task begins.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard let next = self.next(session, task) else { return completionHandler(.continueLoading, nil) }
        next.urlSession(
            session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        self.next(session, task)?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    /// Not implemented: the session's delegate, or the redirect is followed.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let next = self.next(session, task) else { return completionHandler(request) }
        next.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    /// Not implemented: the session's delegate, or default handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let next = self.next(session, task) else {
            return challenge.leaveUnanswered { completionHandler(.performDefaultHandling, nil) }
        }
        next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    /// Not implemented: the session's delegate, or no body.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let next = self.next(session, task) else { return completionHandler(nil) }
        next.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    /// Not implemented: the older method.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let next = self.next(session, task) else {
            return self.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        next.urlSession(
            session, task: task, needNewBodyStreamFrom: offset, completionHandler: completionHandler)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.next(session, task)?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        self.next(session, task)?.urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.next(session, task)?.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.next(session, task)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a data task or an upload tells and asks. Every method is optional on Apple's platforms, and has a default here.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// A response came.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The task became a download.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The task became a stream (iOS 9).
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// Some of the data came.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// A response would be kept; `nil` keeps none.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}

extension URLSessionDataDelegate {
    /// The session's delegate, when this one is the task's own.
    private func next(_ session: URLSession, _ task: URLSessionTask) -> (any URLSessionDataDelegate)? {
        guard task.delegate === self, let next = session.delegate, next !== self else { return nil }
        return next as? any URLSessionDataDelegate
    }

    /// Not implemented: the session's delegate, or the task goes on.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let next = self.next(session, dataTask) else { return completionHandler(.allow) }
        next.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        self.next(session, dataTask)?.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        self.next(session, dataTask)?.urlSession(session, dataTask: dataTask, didBecome: streamTask)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.next(session, dataTask)?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// Not implemented: the session's delegate, or what is proposed.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let next = self.next(session, dataTask) else { return completionHandler(proposedResponse) }
        next.urlSession(
            session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a stream task tells. Every method is optional on Apple's platforms, and has a default here.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Nothing more will come.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Nothing more can be sent.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better way to the host.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The task became a pair of streams.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
    /// The session's delegate, when this one is the task's own.
    private func next(_ session: URLSession, _ task: URLSessionTask) -> (any URLSessionStreamDelegate)? {
        guard task.delegate === self, let next = session.delegate, next !== self else { return nil }
        return next as? any URLSessionStreamDelegate
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        self.next(session, streamTask)?.urlSession(session, readClosedFor: streamTask)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        self.next(session, streamTask)?.urlSession(session, writeClosedFor: streamTask)
    }

    /// Not implemented: the session's delegate, or nothing. Never called by the shim.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        self.next(session, streamTask)?.urlSession(session, betterRouteDiscoveredFor: streamTask)
    }

    /// Not implemented: the session's delegate, or nothing. Never called by the shim.
    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        self.next(session, streamTask)?.urlSession(
            session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a WebSocket tells. Every method is optional on Apple's platforms, and has a default here.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The WebSocket is open.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// The WebSocket is closed.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionWebSocketDelegate {
    /// The session's delegate, when this one is the task's own.
    private func next(_ session: URLSession, _ task: URLSessionTask) -> (any URLSessionWebSocketDelegate)? {
        guard task.delegate === self, let next = session.delegate, next !== self else { return nil }
        return next as? any URLSessionWebSocketDelegate
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        self.next(session, webSocketTask)?.urlSession(
            session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    /// Not implemented: the session's delegate, or nothing.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        self.next(session, webSocketTask)?.urlSession(
            session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// A delegate of an app's own that follows tasks to their end.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionWebSocketDelegate, @unchecked Sendable
{
    /// The outcome of a task.
    struct Outcome {
        var response: URLResponse?
        var data = Data()
        var file: Data?
        var isOpen = false
        var error: (any Error)?
        var redirects = 0
    }

    private let lock = NSLock()
    private var outcomes: [Int: Outcome] = [:]
    private var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]

    /// Runs a task to its end.
    func run(_ task: URLSessionTask) async -> Outcome {
        await withCheckedContinuation { continuation in
            self.lock.withLock { self.waiting[task.taskIdentifier] = continuation }
            task.resume()
        }
    }

    private func note(_ task: URLSessionTask, _ change: (inout Outcome) -> Void) {
        self.lock.withLock { change(&self.outcomes[task.taskIdentifier, default: Outcome()]) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.note(dataTask) { $0.response = response }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.note(dataTask) { $0.data += data }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        self.note(task) { $0.redirects += 1 }
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let file = try? Data(contentsOf: location)
        self.note(downloadTask) { $0.file = file }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
    ) {
        self.note(webSocketTask) { $0.isOpen = true }
        webSocketTask.cancel(with: .normalClosure, reason: nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.note(task) { $0.error = error }
        let (outcome, continuation) = self.lock.withLock {
            (self.outcomes[task.taskIdentifier] ?? Outcome(), self.waiting.removeValue(forKey: task.taskIdentifier))
        }
        continuation?.resume(returning: outcome)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningURLSession

/// An app's delegate that runs tasks to their end, and notes what it is told.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class Recorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionWebSocketDelegate,
    @unchecked Sendable
{
    private let lock = NSLock()
    private var kept: [String] = []
    private var end: CheckedContinuation<(any Error)?, Never>?
    private var lastMetrics: URLSessionTaskMetrics?

    /// What was told, in its order.
    var told: [String] { self.with { self.kept } }
    /// The metrics of the last task.
    var metrics: URLSessionTaskMetrics? { self.with { self.lastMetrics } }

    private func with<Result>(_ body: () -> Result) -> Result {
        self.lock.lock()
        defer { self.lock.unlock() }
        return body()
    }

    private func note(_ text: String) { self.with { self.kept.append(text) } }

    /// Runs a task to its end.
    func run(_ task: URLSessionTask) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            self.with { self.end = continuation }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.note(String(decoding: [UInt8](data), as: UTF8.self))
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { self.note("file") }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
    ) {
        self.note("open")
        webSocketTask.cancel(with: .normalClosure, reason: nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.note("metrics")
        self.with { self.lastMetrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.note("end")
        let end = self.with {
            let end = self.end
            self.end = nil
            return end
        }
        end?.resume(returning: error)
    }
}

/// A subclass that adds the session's method for challenges, and trusts every server: it must never be called.
///
/// `@unchecked Sendable`: because it adds nothing that changes.
final class Careless: PinnedSessionDelegate, @unchecked Sendable {
    @objc(URLSession:didReceiveChallenge:completionHandler:) func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}

/// A delegate that declares less than it has, as Objective-C allows.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class Undeclared: NSObject, URLSessionDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var isTold = false

    /// Whether the method that was not declared was called.
    var wasTold: Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        return self.isTold
    }

    @objc(URLSession:task:didFinishCollectingMetrics:) func collected(
        _ session: URLSession, _ task: URLSessionTask, _ metrics: URLSessionTaskMetrics
    ) {
        self.lock.lock()
        self.isTold = true
        self.lock.unlock()
    }
}

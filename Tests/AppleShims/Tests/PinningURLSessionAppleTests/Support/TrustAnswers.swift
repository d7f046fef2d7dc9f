// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Security

/// A delegate that answers every challenge in one way, and notes what it is told.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
class TrustAnswers: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private let disposition: URLSession.AuthChallengeDisposition
    private var notes: [String] = []
    private var changes: [[String]] = []
    private var ends: [any Error] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isOver = false

    init(_ disposition: URLSession.AuthChallengeDisposition) { self.disposition = disposition }

    /// What was told, in its order.
    var told: [String] { self.lock.withLock { self.notes } }
    /// The error at the end.
    var error: (any Error)? { self.lock.withLock { self.ends.last } }

    func note(_ text: String) { self.lock.withLock { self.notes.append(text) } }

    /// Waits for the end of a task.
    func end() async {
        await withCheckedContinuation { continuation in
            let isOver = self.lock.withLock {
                if !self.isOver { self.waiting.append(continuation) }
                return self.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { self.note("created") }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        self.note("challenge")
        completionHandler(self.disposition, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        self.note("redirect \(response.statusCode)")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.note("data \(data.count)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        self.note("file \((try? Data(contentsOf: location))?.count ?? -1)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        let reused = metrics.transactionMetrics.map { $0.isReusedConnection ? "reused" : "new" }
        self.note("metrics \(reused.joined(separator: " "))")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.note("end \((error as? URLError)?.code.rawValue ?? 0)")
        let waiting = self.lock.withLock {
            if let error { self.ends.append(error) }
            self.isOver = true
            defer { self.waiting = [] }
            return self.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

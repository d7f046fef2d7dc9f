// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// A delegate of an app's own that has every method there is, and notes which were called.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class EveryMethod: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionStreamDelegate,
    URLSessionWebSocketDelegate, @unchecked Sendable
{
    private let lock = NSLock()
    private var names: [String] = []

    /// The methods that were called, in their order.
    var called: [String] { self.lock.withLock { self.names } }

    private func note(_ name: String) { self.lock.withLock { self.names.append(name) } }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { self.note("invalid") }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        self.note("challenge of the session")
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, URLCredential(user: "a", password: "b", persistence: .none))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { self.note("background events") }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { self.note("created") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        self.note("delayed")
        completionHandler(.cancel, nil)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { self.note("waiting") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        self.note("redirect")
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        self.note("challenge of the task")
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        self.note("body")
        completionHandler(InputStream(data: Data()))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        self.note("body from \(offset)")
        completionHandler(InputStream(data: Data()))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.note("sent \(bytesSent) \(totalBytesSent) \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) { self.note("informational") }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.note("complete")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.note("response")
        completionHandler(.becomeDownload)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) { self.note("became download") }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask) {
        self.note("became stream")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { self.note("data") }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        self.note("cache")
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { self.note("downloaded") }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { self.note("wrote \(bytesWritten) \(totalBytesWritten) \(totalBytesExpectedToWrite)") }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { self.note("resumed \(fileOffset) \(expectedTotalBytes)") }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) { self.note("read closed") }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        self.note("write closed")
    }

    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        self.note("better route")
    }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) { self.note("streams") }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
    ) { self.note("opened \(subprotocol ?? "")") }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { self.note("closed \(closeCode.rawValue)") }
}

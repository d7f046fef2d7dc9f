// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A session's delegate that forwards every call to another one, with the system's default where that has no method.
///
/// URLSession asks a delegate whether it has a method. This one has what a subclass implements, and of the rest what the
/// app's delegate has, so that URLSession behaves for a missing method as it does without pinning. It never has the
/// session's method for challenges, not even a subclass's: URLSession prefers that one, and a refusal belongs to a
/// task. A method that is newer than this library is not forwarded.
///
/// `@unchecked Sendable`: because it holds a delegate, which is Sendable, and nothing that changes.
open class ForwardingSessionDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionStreamDelegate, URLSessionWebSocketDelegate, @unchecked Sendable
{
    /// The app's own delegate, which a session would keep alive, too.
    public let forwarded: (any URLSessionDelegate)?

    /// Creates a delegate.
    public init(forwardingTo delegate: (any URLSessionDelegate)?) {
        self.forwarded = delegate
        super.init()
    }

    private typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    // Not by a cast: a delegate of Objective-C may have methods of protocols that it does not declare, and URLSession calls
    // them. `unsafeBitCast`, because a value of these protocols is the object and nothing else, and each of their methods is
    // optional: whether the object has it is asked when it is called.
    private var ofTasks: (any URLSessionTaskDelegate)? {
        unsafeBitCast(self.forwarded, to: (any URLSessionTaskDelegate)?.self)
    }
    private var ofData: (any URLSessionDataDelegate)? {
        unsafeBitCast(self.forwarded, to: (any URLSessionDataDelegate)?.self)
    }
    private var ofDownloads: (any URLSessionDownloadDelegate)? {
        unsafeBitCast(self.forwarded, to: (any URLSessionDownloadDelegate)?.self)
    }
    private var ofStreams: (any URLSessionStreamDelegate)? {
        unsafeBitCast(self.forwarded, to: (any URLSessionStreamDelegate)?.self)
    }
    private var ofWebSockets: (any URLSessionWebSocketDelegate)? {
        unsafeBitCast(self.forwarded, to: (any URLSessionWebSocketDelegate)?.self)
    }

    // MARK: The methods of the delegate

    static let challengeOfSession = "URLSession:didReceiveChallenge:completionHandler:"
    static let challengeOfTask = "URLSession:task:didReceiveChallenge:completionHandler:"

    #if canImport(FoundationNetworking)
    /// Whether there is a method, which URLSession asks before it calls one: a subclass's own, or one of the app's
    /// delegate.
    open func responds(to selector: Selector!) -> Bool { self.answers(selector, isImplemented: true) }
    #else
    /// Whether there is a method, which URLSession asks before it calls one: a subclass's own, or one of the app's
    /// delegate.
    open override func responds(to selector: Selector!) -> Bool {
        self.answers(selector, isImplemented: super.responds(to: selector))
    }
    #endif

    private func answers(_ selector: Selector?, isImplemented: Bool) -> Bool {
        guard let selector, isImplemented else { return false }
        let name = NSStringFromSelector(selector)
        guard name.hasPrefix("URLSession") else { return true }
        guard name != Self.challengeOfSession else { return false }
        // A method that is inherited from here only forwards.
        let inherited = class_getInstanceMethod(ForwardingSessionDelegate.self, selector)
        guard class_getInstanceMethod(type(of: self), selector) == inherited else { return true }
        guard let forwarded else { return false }
        if name == Self.challengeOfTask, forwarded.responds(to: NSSelectorFromString(Self.challengeOfSession)) {
            return true
        }
        return forwarded.responds(to: selector)
    }

    // MARK: Forwarded methods

    // Each method is taken as a value of a type that is written out: where a method is optional the value is, too, and
    // where it is not it becomes one. So the same lines compile for Objective-C's protocols and for others.

    /// Forwarded to the method that URLSession would have called: the session's for challenges of a connection, the
    /// task's for the rest. Without a method the system's default applies.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let forSession: ((URLSession, URLAuthenticationChallenge, @escaping ChallengeAnswer) -> Void)? =
            self.forwarded?.urlSession(_:didReceive:completionHandler:)
        if challenge.isOfSession, let forSession { return forSession(session, challenge, completionHandler) }
        let forTask: ((URLSession, URLSessionTask, URLAuthenticationChallenge, @escaping ChallengeAnswer) -> Void)? =
            self.ofTasks?.urlSession(_:task:didReceive:completionHandler:)
        guard let forTask else { return completionHandler(.performDefaultHandling, nil) }
        forTask(session, task, challenge, completionHandler)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let forward: ((URLSession, (any Error)?) -> Void)? =
            self.forwarded?.urlSession(_:didBecomeInvalidWithError:)
        forward?(session, error)
    }

    /// Forwarded.
    open func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        let forward: ((URLSession) -> Void)? =
            self.forwarded?.urlSessionDidFinishEvents(forBackgroundURLSession:)
        forward?(session)
    }

    /// Forwarded.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    open func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        let forward: ((URLSession, URLSessionTask) -> Void)? =
            self.ofTasks?.urlSession(_:didCreateTask:)
        forward?(session, task)
    }

    /// Forwarded; without a method the request begins as it was.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        let forward:
            (
                (
                    URLSession, URLSessionTask, URLRequest,
                    @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
                ) -> Void
            )? =
                self.ofTasks?.urlSession(_:task:willBeginDelayedRequest:completionHandler:)
        guard let forward else { return completionHandler(.continueLoading, nil) }
        forward(session, task, request, completionHandler)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        let forward: ((URLSession, URLSessionTask) -> Void)? =
            self.ofTasks?.urlSession(_:taskIsWaitingForConnectivity:)
        forward?(session, task)
    }

    /// Forwarded; without a method the redirect is followed.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let forward:
            (
                (URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void) ->
                    Void
            )? =
                self.ofTasks?.urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)
        guard let forward else { return completionHandler(request) }
        forward(session, task, response, request, completionHandler)
    }

    /// Forwarded; without a method there is no stream.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let forward: ((URLSession, URLSessionTask, @escaping @Sendable (InputStream?) -> Void) -> Void)? =
            self.ofTasks?.urlSession(_:task:needNewBodyStream:)
        guard let forward else { return completionHandler(nil) }
        forward(session, task, completionHandler)
    }

    /// Forwarded; a delegate without the method for the middle of a body is asked for its beginning.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let forward: ((URLSession, URLSessionTask, Int64, @escaping @Sendable (InputStream?) -> Void) -> Void)? =
            self.ofTasks?.urlSession(_:task:needNewBodyStreamFrom:completionHandler:)
        guard let forward else {
            guard offset == 0 else { return completionHandler(nil) }
            return self.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        forward(session, task, offset, completionHandler)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let forward: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? =
            self.ofTasks?.urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)
        forward?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    /// Forwarded.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        let forward: ((URLSession, URLSessionTask, HTTPURLResponse) -> Void)? =
            self.ofTasks?.urlSession(_:task:didReceiveInformationalResponse:)
        forward?(session, task, response)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let forward: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)? =
            self.ofTasks?.urlSession(_:task:didFinishCollecting:)
        forward?(session, task, metrics)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let forward: ((URLSession, URLSessionTask, (any Error)?) -> Void)? =
            self.ofTasks?.urlSession(_:task:didCompleteWithError:)
        forward?(session, task, error)
    }

    /// Forwarded; without a method the body follows.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let forward:
            (
                (
                    URLSession, URLSessionDataTask, URLResponse,
                    @escaping @Sendable (URLSession.ResponseDisposition) -> Void
                ) -> Void
            )? =
                self.ofData?.urlSession(_:dataTask:didReceive:completionHandler:)
        guard let forward else { return completionHandler(.allow) }
        forward(session, dataTask, response, completionHandler)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        let forward: ((URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)? =
            self.ofData?.urlSession(_:dataTask:didBecome:)
        forward?(session, dataTask, downloadTask)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        let forward: ((URLSession, URLSessionDataTask, URLSessionStreamTask) -> Void)? =
            self.ofData?.urlSession(_:dataTask:didBecome:)
        forward?(session, dataTask, streamTask)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let forward: ((URLSession, URLSessionDataTask, Data) -> Void)? =
            self.ofData?.urlSession(_:dataTask:didReceive:)
        forward?(session, dataTask, data)
    }

    /// Forwarded; without a method what was proposed is cached.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let forward:
            (
                (URLSession, URLSessionDataTask, CachedURLResponse, @escaping @Sendable (CachedURLResponse?) -> Void) ->
                    Void
            )? =
                self.ofData?.urlSession(_:dataTask:willCacheResponse:completionHandler:)
        guard let forward else { return completionHandler(proposedResponse) }
        forward(session, dataTask, proposedResponse, completionHandler)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let forward: ((URLSession, URLSessionDownloadTask, URL) -> Void)? =
            self.ofDownloads?.urlSession(_:downloadTask:didFinishDownloadingTo:)
        forward?(session, downloadTask, location)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        let forward: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? =
            self.ofDownloads?.urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)
        forward?(session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        let forward: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? =
            self.ofDownloads?.urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)
        forward?(session, downloadTask, fileOffset, expectedTotalBytes)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        let forward: ((URLSession, URLSessionStreamTask) -> Void)? =
            self.ofStreams?.urlSession(_:readClosedFor:)
        forward?(session, streamTask)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        let forward: ((URLSession, URLSessionStreamTask) -> Void)? =
            self.ofStreams?.urlSession(_:writeClosedFor:)
        forward?(session, streamTask)
    }

    /// Forwarded.
    open func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        let forward: ((URLSession, URLSessionStreamTask) -> Void)? =
            self.ofStreams?.urlSession(_:betterRouteDiscoveredFor:)
        forward?(session, streamTask)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        let forward: ((URLSession, URLSessionStreamTask, InputStream, OutputStream) -> Void)? =
            self.ofStreams?.urlSession(_:streamTask:didBecome:outputStream:)
        forward?(session, streamTask, inputStream, outputStream)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
    ) {
        let forward: ((URLSession, URLSessionWebSocketTask, String?) -> Void)? =
            self.ofWebSockets?.urlSession(_:webSocketTask:didOpenWithProtocol:)
        forward?(session, webSocketTask, subprotocol)
    }

    /// Forwarded.
    open func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        let forward: ((URLSession, URLSessionWebSocketTask, URLSessionWebSocketTask.CloseCode, Data?) -> Void)? =
            self.ofWebSockets?.urlSession(_:webSocketTask:didCloseWith:reason:)
        forward?(session, webSocketTask, closeCode, reason)
    }
}

extension URLAuthenticationChallenge {
    /// Whether a challenge is for the connection: then URLSession calls the session's method first.
    fileprivate var isOfSession: Bool {
        [
            NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        ].contains(self.protectionSpace.authenticationMethod)
    }
}
#endif

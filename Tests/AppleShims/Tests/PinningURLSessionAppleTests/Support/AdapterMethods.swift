// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import FoundationNetworking
import PinningURLSession

/// Which methods the adapter's delegates have, by their names in Objective-C: what its runtime would say.
enum AdapterMethods {
    /// What pinning needs to be asked for.
    static let pinned: Set<String> = [
        "URLSession:didCreateTask:", "URLSession:task:didReceiveChallenge:completionHandler:",
        "URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:",
        "URLSession:dataTask:didReceiveResponse:completionHandler:", "URLSession:dataTask:didReceiveData:",
        "URLSession:dataTask:willCacheResponse:completionHandler:",
        "URLSession:downloadTask:didFinishDownloadingToURL:", "URLSession:webSocketTask:didOpenWithProtocol:",
        "URLSession:task:didFinishCollectingMetrics:", "URLSession:task:didCompleteWithError:",
    ]
    /// What is forwarded, and asked for only where the app's delegate has it.
    static let forwarded: Set<String> = [
        "URLSession:didBecomeInvalidWithError:", "URLSessionDidFinishEventsForBackgroundURLSession:",
        "URLSession:task:willBeginDelayedRequest:completionHandler:", "URLSession:taskIsWaitingForConnectivity:",
        "URLSession:task:needNewBodyStream:", "URLSession:task:needNewBodyStreamFromOffset:completionHandler:",
        "URLSession:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:",
        "URLSession:task:didReceiveInformationalResponse:", "URLSession:dataTask:didBecomeDownloadTask:",
        "URLSession:dataTask:didBecomeStreamTask:",
        "URLSession:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:",
        "URLSession:downloadTask:didResumeAtOffset:expectedTotalBytes:", "URLSession:readClosedForStreamTask:",
        "URLSession:writeClosedForStreamTask:", "URLSession:betterRouteDiscoveredForStreamTask:",
        "URLSession:streamTask:didBecomeInputStream:outputStream:",
        "URLSession:webSocketTask:didCloseWithCode:reason:",
    ]
    /// What it never has.
    static let challengeOfSession = "URLSession:didReceiveChallenge:completionHandler:"

    private static let declared: Void = SimulatedMethods.declare(
        PinnedSessionDelegate.self, superclass: ForwardingSessionDelegate.self, Self.pinned)

    /// Tells the runtime that stands for Objective-C's, once.
    static func declare() { _ = self.declared }
}

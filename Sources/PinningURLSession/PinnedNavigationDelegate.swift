// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// WebKit exists on tvOS and watchOS, too, but without a web view for apps.
#if canImport(WebKit) && canImport(Security) && !os(tvOS) && !os(watchOS)
public import Foundation
public import PinListClient
public import WebKit

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A navigation delegate that pins the connections of a web view. An app with its own delegate calls
/// `Pinning.answer(_:isWebView:completionHandler:)` from it instead.
///
/// WebKit asks for each connection of the page, its subresources included. Failures of hosts that no entry covers are
/// never reported, because pages choose the hosts of a web view.
@MainActor
open class PinnedNavigationDelegate: NSObject, WKNavigationDelegate {
    /// The client whose rules apply.
    public let pinning: Pinning

    /// Creates a delegate; the web view does not keep it alive.
    public init(by pinning: Pinning) {
        self.pinning = pinning
        super.init()
    }

    /// Answers challenges for a server's trust; others are left to WebKit.
    open func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isOurs = self.pinning.answer(challenge, isWebView: true) { disposition, _ in
            Task { @MainActor in completionHandler(disposition, nil) }
        }
        if !isOurs { completionHandler(.performDefaultHandling, nil) }
    }
}
#endif

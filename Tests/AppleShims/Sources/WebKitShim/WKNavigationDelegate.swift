// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import Foundation
public import URLSessionShim

/// What a web view tells and asks. Every method is optional on Apple's platforms, and has a default here.
@MainActor
public protocol WKNavigationDelegate: NSObjectProtocol {
    /// May this navigation go on?
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void)

    /// May this navigation go on, and what may its page do (iOS 13)?
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void)

    /// May this response become a page?
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void)

    /// A page begins to load.
    func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!)

    /// The server sent it elsewhere.
    func webView(
        _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!)

    /// It failed before there was content.
    func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error)

    /// Content comes.
    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!)

    /// The page is there.
    func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!)

    /// It failed after there was content.
    func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error)

    /// A challenge.
    func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The process with the page ended (iOS 9).
    func webViewWebContentProcessDidTerminate(_ webView: WKWebView)

    /// May an old version of TLS be spoken (iOS 14)?
    func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void)

    /// A navigation became a download (iOS 14.5).
    func webView(
        _ webView: WKWebView, navigationAction: WKNavigationAction, didBecome download: WKDownload)

    /// A response became a download (iOS 14.5).
    func webView(
        _ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload)
}

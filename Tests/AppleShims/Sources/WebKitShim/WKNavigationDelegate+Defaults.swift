// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import URLSessionShim

// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

// "Not implemented", as Apple documents it.
extension WKNavigationDelegate {
    /// Not implemented: it goes on.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    ) {
        decisionHandler(.allow)
    }

    /// Not implemented: the method without preferences is asked.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        preferences: WKWebpagePreferences,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy, WKWebpagePreferences) -> Void
    ) {
        self.webView(webView, decidePolicyFor: navigationAction) { decisionHandler($0, preferences) }
    }

    /// Not implemented: it becomes a page.
    public func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        decisionHandler(.allow)
    }

    /// Not implemented: nothing happens.
    public func webView(_ webView: WKWebView, didStartProvisionalNavigation navigation: WKNavigation!) {}

    /// Not implemented: nothing happens.
    public func webView(
        _ webView: WKWebView, didReceiveServerRedirectForProvisionalNavigation navigation: WKNavigation!
    ) {}

    /// Not implemented: nothing happens.
    public func webView(
        _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
    ) {}

    /// Not implemented: nothing happens.
    public func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {}

    /// Not implemented: nothing happens.
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {}

    /// Not implemented: nothing happens.
    public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {}

    /// Not implemented: `rejectProtectionSpace`, as the documentation says.
    public func webView(
        _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.rejectProtectionSpace, nil)
    }

    /// Not implemented: nothing happens.
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {}

    /// Not implemented: it may not. Never called by the shim.
    public func webView(
        _ webView: WKWebView, authenticationChallenge challenge: URLAuthenticationChallenge,
        shouldAllowDeprecatedTLS decisionHandler: @escaping @MainActor @Sendable (Bool) -> Void
    ) {
        decisionHandler(false)
    }

    /// Not implemented: nothing happens. Never called by the shim.
    public func webView(
        _ webView: WKWebView, navigationAction: WKNavigationAction, didBecome download: WKDownload
    ) {}

    /// Not implemented: nothing happens. Never called by the shim.
    public func webView(
        _ webView: WKWebView, navigationResponse: WKNavigationResponse, didBecome download: WKDownload
    ) {}
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SecurityShim
public import URLSessionShim

/// What is not Apple's: pages that a web view loads from servers that a test makes.
@MainActor
public enum SimulatedNavigation {
    /// The outcome of a challenge.
    public struct Reply: Sendable {
        /// What the delegate said.
        public let disposition: URLSession.AuthChallengeDisposition
        /// Whether it gave a credential with a trust object.
        public let hasTrust: Bool
        /// How often it had answered when the first answer was taken: more than one is a mistake.
        public let answers: Int
    }

    /// Delivers a challenge for server trust to the view's delegate, and waits for its answer.
    ///
    /// - Returns: `nil` when what is presented cannot be read: there is no challenge then.
    public static func challenge(
        _ webView: WKWebView, host: String, port: Int = 443, presented: [[UInt8]]
    ) async -> Reply? {
        guard let trust = self.trust(host: host, presented: presented) else { return nil }
        return await self.deliver(
            URLProtectionSpace(
                host: host, port: port, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                authenticationMethod: NSURLAuthenticationMethodServerTrust, proxyType: nil, serverTrust: trust),
            to: webView)
    }

    /// Delivers a challenge of another kind.
    public static func challenge(_ webView: WKWebView, space: URLProtectionSpace) async -> Reply {
        await self.deliver(space, to: webView)
    }

    /// Loads a page: the policy, the challenge, and then commit and finish, or a failure.
    ///
    /// - Returns: Whether there was a page.
    public static func load(_ request: URLRequest, in webView: WKWebView, presented: [[UInt8]]) async -> Bool {
        guard let url = request.url, let host = url.host else { return false }
        let delegate = webView.navigationDelegate
        let action = WKNavigationAction(request: request)
        let policy: WKNavigationActionPolicy = await withCheckedContinuation { continuation in
            guard let delegate else { return continuation.resume(returning: .allow) }
            delegate.webView(webView, decidePolicyFor: action, preferences: WKWebpagePreferences()) { policy, _ in
                continuation.resume(returning: policy)
            }
        }
        guard policy == .allow else { return false }
        let navigation = webView.load(request)
        delegate?.webView(webView, didStartProvisionalNavigation: navigation)
        var isAccepted = url.scheme != "https"
        if !isAccepted,
            let reply = await self.challenge(webView, host: host, port: url.port ?? 443, presented: presented)
        {
            switch reply.disposition {
            case .useCredential where reply.hasTrust: isAccepted = true
            case .cancelAuthenticationChallenge: isAccepted = false
            case .useCredential, .performDefaultHandling, .rejectProtectionSpace:
                isAccepted =
                    self.trust(host: host, presented: presented).map { SecTrustEvaluateWithError($0, nil) } ?? false
            }
        }
        guard isAccepted else {
            let error = URLError(.serverCertificateUntrusted, userInfo: [NSURLErrorFailingURLErrorKey: url])
            delegate?.webView(webView, didFailProvisionalNavigation: navigation, withError: error)
            return false
        }
        delegate?.webView(webView, didCommit: navigation)
        delegate?.webView(webView, didFinish: navigation)
        return true
    }

    private static func trust(host: String, presented: [[UInt8]]) -> SecTrust? {
        let certificates = presented.compactMap { SecCertificate(der: $0) }
        guard !certificates.isEmpty, certificates.count == presented.count else { return nil }
        var trust: SecTrust?
        SecTrustCreateWithCertificates(
            certificates as CFArray, SecPolicyCreateSSL(true, NSString(string: host)), &trust)
        return trust
    }

    private static func deliver(_ space: URLProtectionSpace, to webView: WKWebView) async -> Reply {
        let challenge = URLAuthenticationChallenge(space)
        let count = Count()
        let (disposition, hasTrust): (URLSession.AuthChallengeDisposition, Bool) = await withCheckedContinuation {
            continuation in
            guard let delegate = webView.navigationDelegate else {
                return continuation.resume(returning: (.rejectProtectionSpace, false))
            }
            delegate.webView(webView, didReceive: challenge) { disposition, credential in
                count.value += 1
                if count.value == 1 { continuation.resume(returning: (disposition, credential?.trust != nil)) }
            }
        }
        return Reply(disposition: disposition, hasTrust: hasTrust, answers: count.value)
    }

    /// Counts answers.
    private final class Count {
        var value = 0
    }
}

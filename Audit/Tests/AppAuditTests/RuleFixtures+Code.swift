// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension RuleFixture {
    private static func handler(_ body: String) -> String {
        """
        final class Delegate: NSObject, URLSessionDelegate {
            func urlSession(_ s: URLSession, didReceive challenge: URLAuthenticationChallenge, completionHandler: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        \(body)
            }
        }
        """
    }

    private static let pin = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="

    /// Swift.
    static let swift: [RuleFixture] = [
        RuleFixture(
            "cleartext-url", "A.swift", fires: #"let a = "http://api.acme.com/v1""#,
            quiet:
                "let a = \"http://localhost:8080\"\nlet b = \"http://www.w3.org/2000/svg\"\nlet c = \"http://api.example.com\"\n// \"http://api.acme.com\"\nlet d = \"http://\""
        ),
        RuleFixture(
            "cleartext-url", "B.swift", fires: #"let a = "ws://chat.acme.com""#,
            quiet: #"let a = "wss://chat.acme.com""#),
        RuleFixture(
            "trust-unevaluated", "A.swift",
            fires: handler(
                "completionHandler(.useCredential, URLCredential(trust: challenge.protectionSpace.serverTrust!))"),
            quiet: handler(
                "guard let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil) else { return }\ncompletionHandler(.useCredential, URLCredential(trust: trust))"
            )),
        RuleFixture(
            "trust-exceptions", "A.swift", fires: "func f(t: SecTrust, d: CFData) { SecTrustSetExceptions(t, d) }",
            quiet: "func f(t: SecTrust) { SecTrustSetExceptions(t, nil) }"),
        RuleFixture(
            "trust-anchors", "A.swift",
            fires: "func f(t: SecTrust, a: CFArray) { SecTrustSetAnchorCertificates(t, a) }",
            quiet:
                "func f(t: SecTrust, a: CFArray) { SecTrustSetAnchorCertificates(t, a)\nSecTrustSetAnchorCertificatesOnly(t, true) }"
        ),
        RuleFixture(
            "trust-anchors", "B.swift",
            fires:
                "func f(t: SecTrust, a: CFArray) { SecTrustSetAnchorCertificates(t, a)\nSecTrustSetAnchorCertificatesOnly(t, false) }",
            quiet:
                "func f(t: SecTrust, a: CFArray) { SecTrustSetAnchorCertificates(t, a)\nSecTrustSetAnchorCertificatesOnly(t, isPrivate) }"
        ),
        RuleFixture(
            "trust-result-misread", "A.swift",
            fires: "func f(r: SecTrustResultType) -> Bool { return r == .proceed || r == .recoverableTrustFailure }",
            quiet: "func f(r: SecTrustResultType) -> Bool { return r == .proceed || r == .unspecified }"),
        RuleFixture(
            "trust-result-misread", "B.swift",
            fires:
                "func f(r: SecTrustResultType) -> Bool { switch r { case .proceed, .recoverableTrustFailure: return true\ndefault: return false } }",
            quiet:
                "func f(r: SecTrustResultType) -> Bool { switch r { case .proceed: return true\ncase .recoverableTrustFailure: return false\ndefault: return false } }"
        ),
        RuleFixture(
            "trust-evaluation-ignored", "A.swift",
            fires: "func f(t: SecTrust) -> Bool { _ = SecTrustEvaluateWithError(t, nil)\nreturn true }",
            quiet: "func f(t: SecTrust) -> Bool { SecTrustEvaluateWithError(t, nil) }"),
        RuleFixture(
            "trust-evaluation-ignored", "B.swift",
            fires: "func f(t: SecTrust) -> Bool { SecTrustEvaluate(t, nil)\nreturn true }",
            quiet:
                "func f(t: SecTrust) -> Bool { var result = SecTrustResultType.invalid\nSecTrustEvaluate(t, &result)\nreturn result == .proceed }"
        ),
        RuleFixture(
            "trust-continue-without-credential", "A.swift",
            fires: "func f(c: URLAuthenticationChallenge) { c.sender?.continueWithoutCredential(for: c) }",
            quiet: "func f(c: URLAuthenticationChallenge) { c.sender?.cancel(c) }"),
        RuleFixture(
            "trust-evaluator-disabled", "A.swift", fires: "let e = [\"a\": DisabledTrustEvaluator()]",
            quiet: "let e = [\"a\": DefaultTrustEvaluator()]\nfinal class DisabledTrustEvaluator {}"),
        RuleFixture(
            "trust-invalid-certificates", "A.swift", fires: "func f() { policy.allowInvalidCertificates = true }",
            quiet: "func f() { policy.allowInvalidCertificates = false }"),
        RuleFixture(
            "trust-invalid-certificates", "B.swift",
            fires: "let s = [kCFStreamSSLValidatesCertificateChain as String: false]",
            quiet: "let s = [kCFStreamSSLValidatesCertificateChain as String: true]"),
        RuleFixture(
            "trust-host-name-unchecked", "A.swift", fires: "func f() { policy.validatesDomainName = false }",
            quiet: "func f() { policy.validatesDomainName = true }"),
        RuleFixture(
            "trust-host-name-unchecked", "B.swift", fires: "let p = SecPolicyCreateSSL(true, nil)",
            quiet: "let p = SecPolicyCreateSSL(true, host as CFString)"),
        RuleFixture(
            "trust-verify-block-accepts", "A.swift",
            fires: "func f() { sec_protocol_options_set_verify_block(o, { _, _, complete in complete(true) }, q) }",
            quiet:
                "func f() { sec_protocol_options_set_verify_block(o, { _, trust, complete in complete(SecTrustEvaluateWithError(ref(trust), nil)) }, q) }"
        ),
        RuleFixture(
            "trust-verify-block-accepts", "B.swift",
            fires:
                "func f() { sec_protocol_options_set_verify_block(o, { (_: sec_protocol_metadata_t, _: sec_trust_t, complete: @escaping sec_protocol_verify_complete_t) in complete(true) }, q) }",
            quiet:
                "func f() { sec_protocol_options_set_verify_block(o, { (_: sec_protocol_metadata_t, t: sec_trust_t, complete: @escaping sec_protocol_verify_complete_t) in complete(isPinned(t)) }, q) }"
        ),
        RuleFixture(
            "trust-challenge-ignored", "A.swift",
            fires: handler(
                "completionHandler(.useCredential, URLCredential(user: \"a\", password: \"b\", persistence: .none))"),
            quiet: handler(
                "if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust { completionHandler(.performDefaultHandling, nil) } else { completionHandler(.useCredential, URLCredential(user: \"a\", password: \"b\", persistence: .none)) }"
            )),
        RuleFixture(
            "surface-urlsession-shared", "A.swift",
            fires: "func f() async { _ = try? await URLSession.shared.data(from: u) }",
            quiet: "func f() async { _ = try? await UserDefaults.shared.data(from: u) }"),
        RuleFixture(
            "surface-urlsession-shared", "B.swift", fires: "init(session: URLSession = .shared) {}",
            quiet: "init(session: Store = .shared) {}"),
        RuleFixture(
            "surface-urlsession-without-delegate", "A.swift", fires: "let s = URLSession(configuration: .default)",
            quiet: "let s = URLSession(configuration: .default, delegate: make(), delegateQueue: nil)"),
        RuleFixture(
            "surface-urlsession-without-delegate", "B.swift",
            fires:
                "final class D: NSObject, URLSessionDelegate {}\nlet s = URLSession(configuration: .default, delegate: D(), delegateQueue: nil)",
            quiet: handler("if SecTrustEvaluateWithError(t, nil), pinned(t) {}")
                + "\nlet s = URLSession(configuration: .default, delegate: Delegate(), delegateQueue: nil)"),
        RuleFixture(
            "surface-wkwebview", "A.swift", fires: "let w = WKWebView()",
            quiet: "func f() { let w = WKWebView()\nw.navigationDelegate = PinnedNavigationDelegate(by: p) }"),
        RuleFixture(
            "surface-safari", "A.swift", fires: "let s = SFSafariViewController(url: u)",
            quiet: "let s = UIViewController()"),
        RuleFixture(
            "surface-web-authentication", "A.swift",
            fires: "let s = ASWebAuthenticationSession(url: u, callbackURLScheme: nil) { _, _ in }",
            quiet: "let s = ASAuthorizationController(authorizationRequests: [])"),
        RuleFixture(
            "surface-avplayer", "A.swift",
            fires: "let p = AVPlayer(url: URL(string: \"https://media.acme.com/a.m3u8\")!)",
            quiet: "let p = AVPlayer(url: Bundle.main.url(forResource: \"a\", withExtension: \"mp4\")!)"),
        RuleFixture(
            "surface-nwconnection", "A.swift", fires: "let c = NWConnection(host: h, port: 443, using: .tls)",
            quiet: "let c = NWConnection(host: h, port: 80, using: .udp)"),
        RuleFixture(
            "surface-nwconnection", "B.swift",
            fires:
                "import Network\nfunc f() { let o = NWProtocolTLS.Options()\nlet c = NWConnection(to: e, using: NWParameters(tls: o)) }",
            quiet:
                "import Network\nfunc f() { let o = NWProtocolTLS.Options()\nsec_protocol_options_set_verify_block(o.securityProtocolOptions, { _, t, c in c(evaluate(t)) }, q)\nlet c = NWConnection(to: e, using: NWParameters(tls: o)) }"
        ),
        RuleFixture(
            "surface-cfstream", "A.swift",
            fires: "func f() { CFStreamCreatePairWithSocketToHost(nil, h, 443, &r, &w) }",
            quiet: "func f() { CFStreamCreateBoundPair(nil, &r, &w, 1) }"),
        RuleFixture(
            "surface-nsurlconnection", "A.swift", fires: "let c = NSURLConnection(request: r, delegate: self)",
            quiet: "let c = NSXPCConnection(serviceName: \"a\")"),
        RuleFixture(
            "surface-urlprotocol", "A.swift", fires: "final class P: URLProtocol {}",
            quiet: "final class P: NSObject {}"),
        RuleFixture(
            "surface-contents-of-url", "A.swift",
            fires: "let d = try Data(contentsOf: URL(string: \"https://api.acme.com/a\")!)",
            quiet: "let d = try Data(contentsOf: URL(fileURLWithPath: \"/tmp/a\"))"),
        RuleFixture(
            "surface-async-image", "A.swift", fires: "var body: some View { AsyncImage(url: u) }",
            quiet: "var body: some View { Image(name) }"),
        RuleFixture(
            "surface-alamofire", "A.swift", fires: "import Alamofire\nfunc f() { AF.request(u) }",
            quiet: "import Alamofire\nlet s = Session(serverTrustManager: manager)"),
        RuleFixture(
            "surface-starscream", "A.swift", fires: "import Starscream\nlet w = WebSocket(request: r)",
            quiet: "import Starscream\nlet w = WebSocket(request: r, certPinner: pinner)"),
        RuleFixture("surface-image-library", "A.swift", fires: "import SDWebImage", quiet: "import UIKit"),
        RuleFixture("surface-firebase", "A.swift", fires: "import FirebaseAuth", quiet: "import LocalAuthentication"),
        RuleFixture(
            "surface-grpc", "A.swift", fires: "import GRPCCore\nlet c = GRPCClient(transport: t)",
            quiet:
                "import GRPCCore\nlet c = GRPCClient(transport: try .http2NIOPosix(target: t, transportSecurity: .tls(.pinned(by: p))))"
        ),
        RuleFixture(
            "surface-async-http-client", "A.swift", fires: "import AsyncHTTPClient\nlet c = HTTPClient.shared",
            quiet: "import PinningNIO\nlet c = PinnedHTTPClient(by: p)"),
        RuleFixture("surface-network-library", "A.swift", fires: "import Apollo", quiet: "import Combine"),
        RuleFixture(
            "pin-in-source", "A.swift", fires: "let pinnedKeys = [\"api.acme.com\": [\"\(pin)\"]]",
            quiet: "let checksum = \"\(pin)\""),
        RuleFixture(
            "trustkit-not-enforced", "A.swift", fires: "let c = [kTSKEnforcePinning: false]",
            quiet: "let c = [kTSKEnforcePinning: true]"),
        RuleFixture(
            "trustkit-no-backup", "A.swift", fires: "let c = [\"api.acme.com\": [kTSKPublicKeyHashes: [\"\(pin)\"]]]",
            quiet:
                "let c = [\"api.acme.com\": [kTSKPublicKeyHashes: [\"\(pin)\", \"CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=\"]]]"
        ),
        RuleFixture(
            "list-missing", "A.swift",
            fires: "let p = try Pinning(root: .bundled(\"tumbler-root\"), list: .bundled(\"tumbler-pins\"))",
            quiet: "let p = try Pinning(root: .bundled(\"tumbler-root\"), list: held)"),
        RuleFixture(
            "allow-without-reason", "A.swift", fires: "let a = 1 // tumbler:allow surface-wkwebview",
            quiet: "let a = 1 // tumbler:allow surface-wkwebview a page of the app itself"),
        RuleFixture("source-errors", "A.swift", fires: "func f( {", quiet: "func f() {}"),
    ]

    /// Kotlin and Java.
    static let others: [RuleFixture] = [
        RuleFixture(
            "android-trusts-all", "A.java",
            fires: "class A { public void checkServerTrusted(X[] c, String t) throws E { } }",
            quiet: "class A { public void checkServerTrusted(X[] c, String t) throws E { check(c); } }"),
        RuleFixture(
            "android-trusts-all", "A.kt", fires: "override fun checkServerTrusted(c: Array<X>, t: String) {}",
            quiet: "override fun checkServerTrusted(c: Array<X>, t: String) { check(c) }"),
        RuleFixture(
            "android-trusts-all", "B.kt",
            fires: "override fun checkServerTrusted(c: Array<X>, t: String) = Unit\noverride fun f() = check(c)",
            quiet: "override fun checkServerTrusted(c: Array<X>, t: String) = check(c)\noverride fun f() = Unit"),
        RuleFixture(
            "android-trusts-all", "C.kt",
            fires: "override fun checkServerTrusted(c: Array<X>, t: String): Unit =\n    Unit\nval known = check(c)",
            quiet:
                "override fun checkServerTrusted(c: Array<X>, t: String): Unit =\n    Unit\n        .also { check(c) }"),
        RuleFixture(
            "android-trusts-all", "D.kt",
            fires:
                "val m = object : M { override fun checkServerTrusted(c: Array<X>, t: String) = Log.d(\"a\", \"b\") }",
            quiet: "interface M { fun checkServerTrusted(c: Array<X>, t: String)\nfun reset() {} }"),
        RuleFixture(
            "android-host-name-unchecked", "A.kt", fires: "val v = HostnameVerifier { _, _ -> true }",
            quiet: "val v = HostnameVerifier { host, _ -> host.equals(known) }"),
        RuleFixture(
            "android-webview-proceeds", "A.kt",
            fires: "override fun onReceivedSslError(v: WebView, h: SslErrorHandler, e: SslError) { h.proceed() }",
            quiet: "override fun onReceivedSslError(v: WebView, h: SslErrorHandler, e: SslError) { h.cancel() }"),
        RuleFixture(
            "android-webview-proceeds", "B.kt",
            fires: "override fun onReceivedSslError(v: V, h: H, e: E) = h.proceed()",
            quiet: "override fun onReceivedSslError(v: V, h: H, e: E) = h.cancel()\nfun f(h: H) = h.proceed()"),
        RuleFixture(
            "android-webview-proceeds", "C.kt",
            fires: "override fun onReceivedSslError(v: V, h: H, e: E) = h\n    .apply { proceed() }\n    .toString()",
            quiet:
                "override fun onReceivedSslError(v: V, h: H, e: E) =\n    if (known(e)) h.proceed()\n    else h.cancel()"
        ),
        RuleFixture(
            "surface-android-client", "A.kt", fires: "val c = OkHttpClient.Builder().build()",
            quiet: "val c = OkHttpClient.Builder().certificatePinner(p).build()"),
        RuleFixture(
            "surface-android-webview", "A.kt", fires: "val w = WebView(context)", quiet: "val w = TextView(context)"),
    ]
}

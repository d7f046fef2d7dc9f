// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The forms that a rule has beside its first one: other names of the same, other ways to write it.
extension RuleFixture {
    private static let pin = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    private static let hexadecimal = String(repeating: "07", count: 32)
    private static let colons = Array(repeating: "0A", count: 32).joined(separator: ":")

    // MARK: Swift

    private static let imageLibraries: [RuleFixture] = [
        "SDWebImage", "SDWebImageSwiftUI", "Kingfisher", "Nuke", "NukeUI", "AlamofireImage", "PINRemoteImage",
    ].map { RuleFixture("surface-image-library", "\($0).swift", fires: "import \($0)", quiet: "import \($0)Nothing") }

    private static let networkLibraries: [RuleFixture] = [
        "Apollo", "Moya", "SocketIO", "Supabase", "Amplify", "Ably", "PubNub", "CocoaMQTT",
    ].map { RuleFixture("surface-network-library", "\($0).swift", fires: "import \($0)", quiet: "import \($0)Nothing") }

    private static let players: [RuleFixture] = [
        "AVPlayer", "AVPlayerItem", "AVURLAsset", "AVAsset", "AVQueuePlayer", "VideoPlayer",
    ].map {
        RuleFixture(
            "surface-avplayer", "\($0).swift",
            fires: "let p = \($0)(url: URL(string: \"https://media.acme.com/a.m3u8\")!)",
            quiet: "let p = \($0)(url: URL(fileURLWithPath: path))")
    }

    private static let contents: [RuleFixture] = [
        "Data", "NSData", "String", "NSString", "NSDictionary", "NSArray", "XMLParser", "UIImage",
    ].map {
        RuleFixture(
            "surface-contents-of-url", "\($0).swift",
            fires: "let d = \($0)(contentsOf: URL(string: \"https://api.acme.com/a\")!)",
            quiet: "let d = \($0)(contentsOf: URL(fileURLWithPath: path))")
    }

    /// Swift.
    static let swiftForms = Self.imageLibraries + Self.networkLibraries + Self.players + Self.contents + Self.otherSwift

    private static let otherSwift: [RuleFixture] = [
        RuleFixture(
            "trust-unevaluated", "B.swift",
            fires:
                "func f(c: URLAuthenticationChallenge) async -> (D, URLCredential?) { (.useCredential, .init(trust: c.protectionSpace.serverTrust!)) }",
            quiet:
                "func f(c: URLAuthenticationChallenge) async -> (D, URLCredential?) { let t = c.protectionSpace.serverTrust!\nguard SecTrustEvaluateWithError(t, nil) else { return (.cancelAuthenticationChallenge, nil) }\nreturn (.useCredential, .init(trust: t)) }"
        ),
        RuleFixture(
            "trust-unevaluated", "C.swift",
            fires: "func f(t: SecTrust) { let c: URLCredential = .init(trust: t)\nanswer(c) }",
            quiet: "func f(t: Level) -> Peer { .init(trust: t) }"),
        // What spins and what is invalidated are no look at a certificate.
        RuleFixture(
            "trust-unevaluated", "D.swift",
            fires:
                "func f(t: SecTrust) { wheel.isSpinning = false\ntimer.invalidate()\nanswer(URLCredential(trust: t)) }",
            quiet: "func f(t: SecTrust) { validate(t)\nanswer(URLCredential(trust: t)) }"),
        RuleFixture(
            "trust-result-misread", "C.swift",
            fires:
                "func f(t: SecTrust) -> Bool { var r: SecTrustResultType = .invalid\nSecTrustEvaluate(t, &r)\nreturn r != .deny }",
            quiet: "func f(p: Permission) -> Bool { p != .deny }"),
        RuleFixture(
            "surface-urlsession-shared", "C.swift", fires: "let s = Foundation.URLSession.shared",
            quiet: "let s = Store.URLSession.shared"),
        RuleFixture(
            "surface-urlsession-without-delegate", "D.swift",
            fires: "final class A { var s: URLSession? = .init(configuration: .default) }",
            quiet: "final class A { var s: Store? = .init(configuration: .default) }"),
        RuleFixture(
            "surface-wkwebview", "B.swift", fires: "let w: WKWebView = .init(frame: .zero)",
            quiet: "let w: UIView = .init(frame: .zero)"),
        RuleFixture(
            "pin-in-source", "Short.swift", fires: "let pinHex = \"\(hexadecimal)\"",
            quiet: "let pinchHex = \"\(hexadecimal)\""),
        RuleFixture(
            "surface-web-authentication", "B.swift",
            fires: "let s = SFAuthenticationSession(url: u, callbackURLScheme: nil) { _, _ in }",
            quiet: "var s: SFAuthenticationSession?"),
        RuleFixture(
            "surface-cfstream", "B.swift",
            fires: "func f() { CFStreamCreatePairWithSocketToCFHost(nil, h, 443, &r, &w) }",
            quiet: "func f() { CFHostCreateWithName(nil, h) }"),
        RuleFixture(
            "surface-alamofire", "B.swift", fires: "import Alamofire\nlet s = SessionManager()",
            quiet: "import Alamofire\nlet s = SessionManager(serverTrustPolicyManager: m)"),
        RuleFixture(
            "surface-grpc", "B.swift", fires: "import GRPC\nlet c = ClientConnection(configuration: c)",
            quiet: "import GRPC\nlet c = ClientConnection(configuration: .default(tls: .pinned(by: p)))"),
        RuleFixture(
            "surface-grpc", "C.swift", fires: "import GRPCCore\ntry await withGRPCClient(transport: t) { c in }",
            quiet:
                "import GRPCCore\nlet t = PinnedTLS(by: p)\ntry await withGRPCClient(transport: t) { c in }"),
        RuleFixture(
            "surface-async-http-client", "B.swift",
            fires: "import AsyncHTTPClient\nlet c = HTTPClient(eventLoopGroupProvider: .singleton)",
            quiet:
                "import AsyncHTTPClient\nlet k = HTTPClient.Configuration.pinned(by: p, for: h)\nlet c = HTTPClient(configuration: k)"
        ),
        RuleFixture(
            "surface-nio-ssl", "B.swift",
            fires: "import NIOSSL\nlet h = try NIOSSLClientHandler(context: c, serverHostname: n)",
            quiet:
                "import NIOSSL\nlet h = try NIOSSLClientHandler(context: c, serverHostname: n, customVerificationCallback: v)"
        ),
        RuleFixture(
            "surface-urlsession-without-delegate", "C.swift",
            fires:
                "final class D: NSObject, URLSessionDelegate {}\nlet s = URLSession(configuration: c, delegate: D(), delegateQueue: nil)",
            quiet:
                "final class D: PinnedSessionDelegate {}\nlet s = URLSession(configuration: c, delegate: D(), delegateQueue: nil)"
        ),
        RuleFixture(
            "trust-evaluator-disabled", "B.swift", fires: "let e = [\"a\": DisabledEvaluator()]",
            quiet: "let e = [\"a\": RevocationTrustEvaluator()]"),
        RuleFixture(
            "trust-evaluator-disabled", "C.swift", fires: "import Alamofire\nlet p = [\"a\": .disableEvaluation]",
            quiet: "let p = [\"a\": .disableEvaluation]"),
        RuleFixture(
            "surface-alamofire", "B.swift", fires: "import Alamofire\nlet r = Session.default.request(u)",
            quiet: "let r = Session.default.request(u)"),
        RuleFixture(
            "surface-alamofire", "C.swift", fires: "import Alamofire\nlet r = SessionManager.default.request(u)",
            quiet: "let r = SessionManager.default.request(u)"),
        RuleFixture(
            "surface-alamofire", "D.swift", fires: "import Alamofire\ninit(session: Session = .default) {}",
            quiet: "import Alamofire\ninit(session: Store = .default) {}"),
        RuleFixture(
            "surface-alamofire", "E.swift", fires: "import Alamofire\nlet r = Alamofire.AF.request(u)",
            quiet: "import Alamofire\nlet r = Store.AF.request(u)"),
        RuleFixture(
            "surface-starscream", "B.swift",
            fires: "import Starscream\nlet w = WebSocket(request: r, certPinner: FoundationSecurity())",
            quiet: "import Starscream\nlet w = WebSocket(request: r, certPinner: OwnPinner())"),
        RuleFixture(
            "trust-invalid-certificates", "D.swift",
            fires:
                "import Starscream\nlet w = WebSocket(request: r, certPinner: FoundationSecurity(allowSelfSigned: true))",
            quiet:
                "import Starscream\nlet w = WebSocket(request: r, certPinner: FoundationSecurity(allowSelfSigned: false))"
        ),
        RuleFixture(
            "trust-continue-without-credential", "B.swift",
            fires: "func f() { c.sender.continueWithoutCredentialForAuthenticationChallenge(c) }",
            quiet: "func f() { c.sender.cancelAuthenticationChallenge(c) }"),
        RuleFixture(
            "trust-invalid-certificates", "C.swift",
            fires: "func f() { NSURLRequest.setAllowsAnyHTTPSCertificate(true, forHost: h) }",
            quiet: "func f() { NSURLRequest.allowsAnyHost(h) }"),
        RuleFixture(
            "surface-urlprotocol", "B.swift", fires: "final class P: NSURLProtocol {}",
            quiet: "final class P: NSProxy {}"),
        RuleFixture(
            "trustkit-expired", "A.swift",
            fires: "let c = [kTSKPinnedDomains: [\"api.acme.com\": [kTSKExpirationDate: \"2026-11-23\"]]]",
            quiet: "let c = [kTSKPinnedDomains: [\"api.acme.com\": [kTSKExpirationDate: \"2026-11-24\"]]]"),
        RuleFixture(
            "trustkit-swizzling", "A.swift", fires: "let c = [kTSKSwizzleNetworkDelegates: true]",
            quiet: "let c = [kTSKSwizzleNetworkDelegates: false]"),
        RuleFixture(
            "pin-in-source", "Hexadecimal.swift", fires: "let pinnedKey = \"\(hexadecimal)\"",
            quiet: "let checksum = \"\(hexadecimal)\""),
        RuleFixture(
            "pin-in-source", "Colons.swift", fires: "let pinnedKey = \"\(colons)\"",
            quiet: "let pinnedKey = \"\(colons)-\""),
        // 64 bytes of 63 characters are no digest, and no end of the process.
        RuleFixture(
            "pin-in-source", "Odd.swift", fires: "let pinnedKey = \"SHA256:\(hexadecimal)\"",
            quiet: "let pinnedKey = \"\(hexadecimal.dropLast(2))é\""),
        RuleFixture(
            "pin-in-source", "Curl.swift", fires: "let a = \"sha256//\(pin)\"", quiet: "let a = \"sha256///\(pin)\""),
        RuleFixture(
            "pin-in-source", "Slash.swift", fires: "let a = \"sha256//\(pin.dropFirst())\"",
            quiet: "let a = \"/\(pin.dropFirst())\""),
        RuleFixture(
            "unreadable", "A.swift", fires: String(repeating: "(", count: 300), quiet: "let a = ((1))"),
    ]

    // MARK: Objective-C

    private static func method(_ body: String) -> String { "- (void)f { \(body) }" }

    private static let objectiveCPlayers: [RuleFixture] = [
        "[AVPlayer playerWithURL:", "[AVAsset assetWithURL:", "[AVURLAsset URLAssetWithURL:",
        "[AVPlayerItem playerItemWithURL:", "[[AVPlayer alloc] initWithURL:",
    ].map {
        RuleFixture(
            "surface-avplayer", "A.m", fires: method("\($0)[NSURL URLWithString:@\"https://media.acme.com/a\"]];"),
            quiet: method("\($0)[[NSBundle mainBundle] URLForResource:@\"a\" withExtension:@\"mp4\"]];"))
    }

    /// Objective-C.
    static let objectiveCForms = Self.objectiveCPlayers + Self.otherObjectiveC

    private static let otherObjectiveC: [RuleFixture] = [
        RuleFixture(
            "surface-urlsession-shared", "B.m", fires: method("NSURLSession *s = NSURLSession.sharedSession;"),
            quiet: method("Store *s = Store.sharedSession;")),
        RuleFixture(
            "surface-avplayer", "B.m", fires: method("[[AVPlayer alloc] initWithURL:u];"),
            quiet: method("[[NSURLRequest alloc] initWithURL:u];")),
        RuleFixture(
            "surface-wkwebview", "A.m", fires: method("WKWebView *w = [[WKWebView alloc] initWithFrame:r];"),
            quiet: method("WKWebView *w = [[WKWebView alloc] initWithFrame:r]; w.navigationDelegate = self;")),
        RuleFixture(
            "surface-wkwebview", "B.m", fires: method("WKWebView *w = [WKWebView new];"),
            quiet: method("[WKWebView handlesURLScheme:s];")),
        RuleFixture(
            "surface-safari", "A.m", fires: method("[[SFSafariViewController alloc] initWithURL:u];"),
            quiet: method("if ([v isKindOfClass:[SFSafariViewController class]]) { [v close]; }")),
        RuleFixture(
            "surface-web-authentication", "A.m",
            fires: method(
                "[[ASWebAuthenticationSession alloc] initWithURL:u callbackURLScheme:s completionHandler:h];"),
            quiet: method("[[ASAuthorizationController alloc] initWithAuthorizationRequests:r];")),
        RuleFixture(
            "surface-cfstream", "A.m", fires: method("CFStreamCreatePairWithSocketToHost(NULL, h, 443, &i, &o);"),
            quiet: method("CFStreamCreateBoundPair(NULL, &i, &o, 1);")),
        RuleFixture(
            "surface-cfstream", "B.m", fires: method("CFReadStreamCreateForHTTPRequest(NULL, m);"),
            quiet: method("CFReadStreamCreateWithFile(NULL, u);")),
        RuleFixture(
            "surface-cfstream", "C.m",
            fires: method("[NSStream getStreamsToHostWithName:h port:443 inputStream:&i outputStream:&o];"),
            quiet: method("[NSInputStream inputStreamWithFileAtPath:p];")),
        RuleFixture(
            "surface-contents-of-url", "A.m",
            fires: method("[NSData dataWithContentsOfURL:[NSURL URLWithString:@\"https://api.acme.com/a\"]];"),
            quiet: method("[NSData dataWithContentsOfURL:[NSURL fileURLWithPath:@\"/tmp/a\"]];")),
        RuleFixture(
            "surface-contents-of-url", "B.m",
            fires: method(
                "[NSString stringWithContentsOfURL:[[NSURL alloc] initWithString:@\"https://api.acme.com/a\"] encoding:e error:nil];"
            ),
            quiet: method(
                "[NSString stringWithContentsOfURL:[[NSURL alloc] initFileURLWithPath:@\"/tmp/a\"] encoding:e error:nil];"
            )),
        RuleFixture(
            "surface-network-library", "A.m", fires: method("[AFHTTPSessionManager manager];"),
            quiet: method(
                "[AFHTTPSessionManager manager].securityPolicy = [AFSecurityPolicy policyWithPinningMode:AFSSLPinningModePublicKey];"
            )),
        RuleFixture(
            "surface-network-library", "B.m",
            fires: method("[[AFURLSessionManager alloc] initWithSessionConfiguration:c];"),
            quiet: method(
                "[[AFURLSessionManager alloc] init].securityPolicy = [AFSecurityPolicy policyWithPinningMode:AFSSLPinningModeCertificate];"
            )),
        RuleFixture(
            "surface-nwconnection", "C.m",
            fires: "void f() { nw_parameters_create_secure_udp(NW_PARAMETERS_DEFAULT_CONFIGURATION, c); }",
            quiet: "void f() { nw_parameters_create_secure_udp(NW_PARAMETERS_DISABLE_PROTOCOL, c); }"),
        RuleFixture(
            "surface-nwconnection", "D.m",
            fires: "void f() { nw_parameters_create_quic(^(nw_protocol_options_t o) { }); }",
            quiet:
                "void f() { nw_parameters_create_quic(^(nw_protocol_options_t o) { sec_protocol_options_set_verify_block(nw_quic_copy_sec_protocol_options(o), v, q); }); }"
        ),
        RuleFixture(
            "pin-in-source", "A.m", fires: "static NSString *const pinnedKey = @\"\(pin)\";",
            quiet:
                "static NSString *const pinnedHost = @\"api.acme.com\";\nstatic NSString *const checksum = @\"\(pin)\";"
        ),
        RuleFixture(
            "pin-in-source", "B.m", fires: "static const char *pins[] = { \"\(colons)\" };",
            quiet: "static const char *sums[] = { \"\(colons)\" };"),
        RuleFixture(
            "trust-continue-without-credential", "A.m",
            fires: method("[c.sender continueWithoutCredentialForAuthenticationChallenge:c];"),
            quiet:
                "- (void)continueWithoutCredentialForAuthenticationChallenge:(NSURLAuthenticationChallenge *)c { [s respondsToSelector:@selector(continueWithoutCredentialForAuthenticationChallenge:)]; }"
        ),
        RuleFixture(
            "trust-invalid-certificates", "C.m", fires: method("[policy setAllowInvalidCertificates:YES];"),
            quiet: method("[policy setAllowInvalidCertificates:NO];")),
        RuleFixture(
            "trust-invalid-certificates", "D.m", fires: method("operation.allowsInvalidSSLCertificate = YES;"),
            quiet: method("operation.allowsInvalidSSLCertificate = NO;")),
        RuleFixture(
            "trust-invalid-certificates", "E.m",
            fires: "+ (BOOL)allowsAnyHTTPSCertificateForHost:(NSString *)host { return YES; }",
            quiet: "+ (BOOL)allowsHost:(NSString *)host { return YES; }"),
        RuleFixture(
            "trust-invalid-certificates", "F.m",
            fires: method("s = @{ (id)kCFStreamSSLValidatesCertificateChain : @NO };"),
            quiet: method("s = @{ (id)kCFStreamSSLValidatesCertificateChain : @YES };")),
        RuleFixture(
            "trust-host-name-unchecked", "B.m", fires: method("policy.validatesDomainName = NO;"),
            quiet: method("policy.validatesDomainName = YES;")),
        RuleFixture(
            "trust-host-name-unchecked", "C.m", fires: method("SecPolicyCreateSSL(true, NULL);"),
            quiet: method("SecPolicyCreateSSL(true, (__bridge CFStringRef)host);")),
        RuleFixture(
            "trustkit-swizzling", "A.m",
            fires: method("[TrustKit initSharedInstanceWithConfiguration:@{ kTSKSwizzleNetworkDelegates : @YES }];"),
            quiet: method("[TrustKit initSharedInstanceWithConfiguration:@{ kTSKSwizzleNetworkDelegates : @NO }];")),
    ]

    // MARK: Kotlin and Java

    private static func java(_ body: String) -> String { "class A { void f() { \(body) } }" }

    /// Kotlin and Java.
    static let androidForms: [RuleFixture] = [
        RuleFixture(
            "cleartext-url", "A.kt", fires: "val a = \"http://api.acme.com\"", quiet: "val a = \"http://10.0.2.2:8080\""
        ),
        RuleFixture(
            "surface-android-client", "B.kt", fires: "val c = URL(a).openConnection() as HttpsURLConnection",
            quiet: "override fun openConnection(u: URL): URLConnection = handler(u)"),
        RuleFixture(
            "surface-android-client", "B.java", fires: java("URLConnection c = u.openConnection();"),
            quiet: "class A extends URLStreamHandler { protected URLConnection openConnection(URL u) { return null; } }"
        ),
        RuleFixture(
            "surface-android-client", "C.kt", fires: "val e = CronetEngine.Builder(context).build()",
            quiet: "val e = CronetEngine.Builder(context).addPublicKeyPins(host, pins, true, end).build()"),
        RuleFixture(
            "surface-android-client", "C.java", fires: java("new CronetEngine.Builder(context).build();"),
            quiet: "class A { void f(CronetEngine.Builder builder) { builder.enableHttp2(true); } }"),
        RuleFixture(
            "android-host-name-unchecked", "A.java",
            fires: java("f.setHostnameVerifier(SSLSocketFactory.ALLOW_ALL_HOSTNAME_VERIFIER);"),
            quiet: java("f.setHostnameVerifier(SSLSocketFactory.STRICT_HOSTNAME_VERIFIER);")),
        RuleFixture(
            "android-host-name-unchecked", "B.java",
            fires: java("c.setHostnameVerifier(new AllowAllHostnameVerifier());"),
            quiet: "class AllowAllHostnameVerifier extends Base { }"),
        RuleFixture(
            "android-host-name-unchecked", "C.java", fires: java("c.setHostnameVerifier((host, session) -> true);"),
            quiet: java("c.setHostnameVerifier((host, session) -> host.equals(known));")),
        RuleFixture(
            "android-host-name-unchecked", "B.kt",
            fires: "val c = builder.setSSLHostnameVerifier(NoopHostnameVerifier.INSTANCE)",
            quiet: "import org.apache.http.conn.ssl.NoopHostnameVerifier"),
        RuleFixture(
            "android-host-name-unchecked", "C.kt", fires: "val c = builder.hostnameVerifier { _, _ -> true }",
            quiet: "val c = builder.hostnameVerifier { host, _ -> if (host == known) true else check(host) }"),
        RuleFixture(
            "pin-in-source", "A.kt",
            fires: "val p = CertificatePinner.Builder().add(\"api.acme.com\", \"sha256/\(pin)\").build()",
            quiet: "val checksum = \"\(pin)\""),
        RuleFixture(
            "pin-in-source", "A.java", fires: "class A { String pinnedKey = \"\(hexadecimal)\"; }",
            quiet: "class A { String pinnedHost = \"api.acme.com\"; String checksum = \"\(hexadecimal)\"; }"),
    ]
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Testing

@Suite("Each rule")
struct RuleTests {
    /// The attribute of a pin-set that ends on a day, and what is in it.
    private static func pinSet(_ day: String) -> String {
        "\(day)\"><pin digest=\"SHA-256\">BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=</pin>"
    }

    @Test(
        "a rule fires on the fixture that it is for", arguments: RuleFixture.all)
    func aRuleFiresOnTheFixtureThatItIsFor(_ fixture: RuleFixture) {
        #expect(RuleFixture.rules(fixture.path, fixture.fires).contains(fixture.rule))
    }

    @Test(
        "a rule is silent about the fixture that looks alike", arguments: RuleFixture.all)
    func aRuleIsSilentAboutTheFixtureThatLooksAlike(_ fixture: RuleFixture) {
        #expect(!RuleFixture.rules(fixture.path, fixture.quiet).contains(fixture.rule))
    }

    @Test("every rule has a fixture, or a test of its own that names it")
    func everyRuleHasAFixtureOrATestOfItsOwn() {
        let fixed = Set(RuleFixture.all.map(\.rule))
        let elsewhere: Set<String> = [
            // ListTests
            "ats-exception-for-pinned-host", "ats-pinned-domains-differ", "android-pins-differ", "pin-not-in-list",
            "trustkit-pins-differ",
            "list-unverified", "list-expired", "list-expiring", "list-age",
            // CertificateTests
            "pin-of-raw-key", "certificate-in-app", "certificate-expired", "certificate-expiring",
            // ArtifactTests
            "own-tls-stack",
        ]
        #expect(Set(AuditRule.all.map(\.id)) == fixed.union(elsewhere))
        #expect(fixed.isDisjoint(with: elsewhere))
    }

    @Test("an error in debug builds alone is a warning")
    func anErrorInDebugBuildsAloneIsAWarning() {
        let text =
            "func f() {\n#if DEBUG\npolicy.validatesDomainName = false\n#else\npolicy.validatesDomainName = false\n#endif\n}"
        let found = RuleFixture.findings([("A.swift", Array(text.utf8))])
        #expect(found.map(\.severity) == [.warning, .error])
        #expect(found.map(\.line) == [3, 5])
    }

    @Test(
        "what may be compiled for a release keeps its errors, however the condition is written",
        arguments: [
            ("#if DEBUG", [true, false]), ("#if !DEBUG", [false, true]), ("#if !(DEBUG)", [false, true]),
            ("#if !DEBUG || STAGING", [false, true]), ("#if DEBUG || STAGING", [false, false]),
            ("#if DEBUG && os(iOS) // only !here", [true, false]), ("#if !(DEBUG && os(iOS))", [false, true]),
            ("#if !(!DEBUG)", [true, false]), ("#if canImport(DEBUG)", [false, false]),
            ("#if MY_DEBUG_MENU", [false, false]),
            ("#if STAGING\nlet a = 1\n#elseif DEBUG", [true, false]),
            ("#if STAGING\nlet a = 1\n#elseif !DEBUG", [false, true]),
            ("#if DEBUG\nlet a = 1\n#elseif STAGING", [false, false]),
        ] as [(String, [Bool])])
    func whatMayBeCompiledForAReleaseKeepsItsErrors(_ condition: String, _ isDebug: [Bool]) {
        let text =
            "\(condition)\nlet a = SecPolicyCreateSSL(true, nil)\n#else\nlet a = SecPolicyCreateSSL(true, nil)\n#endif"
        let found = RuleFixture.findings([("A.swift", Array(text.utf8))])
        #expect(found.map { $0.severity == .warning } == isDebug)
    }

    @Test(
        "conditions of the preprocessor are read like those of Swift, and NDEBUG is what a release defines",
        arguments: [
            ("#ifdef DEBUG", [true, false]), ("#ifndef DEBUG", [false, true]), ("#if DEBUG == 1", [true, false]),
            ("#if DEBUG == 0", [false, true]), ("#if defined(DEBUG) && DEBUG", [true, false]),
            ("#if !defined DEBUG", [false, true]), ("#ifdef NDEBUG", [false, true]), ("#ifndef NDEBUG", [true, false]),
            ("#if !(DEBUG) /* release */", [false, true]), ("#if 0\n#elif DEBUG", [true, false]),
            ("#if 0\n#elif !DEBUG", [false, true]), ("#if defined(DEBUG) || 1", [false, false]),
        ] as [(String, [Bool])])
    func conditionsOfThePreprocessorAreReadLikeThoseOfSwift(_ condition: String, _ isDebug: [Bool]) {
        let line = "void f() { SecPolicyCreateSSL(true, NULL); }"
        let found = RuleFixture.findings([("A.m", Array("\(condition)\n\(line)\n#else\n\(line)\n#endif".utf8))])
        #expect(found.map { $0.severity == .warning } == isDebug)
    }

    @Test("conditions without an end are read in bounded time", arguments: ["!", "(", "DEBUG && ", "defined(", "a("])
    func conditionsWithoutAnEndAreReadInBoundedTime(_ part: String) {
        let text =
            "#if " + String(repeating: part, count: 900) + "\nvoid f() { SecPolicyCreateSSL(true, NULL); }\n#endif"
        #expect(RuleFixture.rules("A.m", text) == ["trust-host-name-unchecked"])
    }

    private static let options = "import Network\nfunc f() {\nlet o = NWProtocolTLS.Options()\n"
    private static let block =
        "sec_protocol_options_set_verify_block(o.securityProtocolOptions, { _, t, c in c(evaluate(t)) }, q)\n"

    private static let pin = "o.pin(by: pinning, host: h)\n"

    /// A session and its delegate, which answers with a credential after some lines.
    private static func delegate(_ lines: String) -> String {
        """
        final class D: NSObject, URLSessionDelegate {
            func urlSession(_ s: URLSession, didReceive c: URLAuthenticationChallenge, completionHandler h: H) {
                guard let t = c.protectionSpace.serverTrust else { return }
                \(lines)
                h(.useCredential, URLCredential(trust: t))
            }
        }
        let s = URLSession(configuration: c, delegate: D(), delegateQueue: nil)
        """
    }

    private static let evaluation = "guard SecTrustEvaluateWithError(t, nil) else { return }"

    @Test(
        "pins that are seen are pins, and what is not seen is never pinned",
        arguments: [
            ("let pinned = true\nlet c = NWConnection(host: h, port: 443, using: .tls)", .unpinned),
            ("let c = NWConnection(host: h, port: 443, using: NWParameters(tls: .pinned(by: p)))", .ownCode),
            (
                "import Network\nlet o = NWProtocolTLS.Options.pinned(by: p)\nlet n = NWParameters(tls: o)\nlet c = NWConnection(to: e, using: n)",
                .ownCode
            ),
            ("\(RuleTests.options)\(RuleTests.pin)let c = NWConnection(to: e, using: NWParameters(tls: o)) }", .pinned),
            (
                "import Network\nstruct A {\nlet o = NWProtocolTLS.Options()\nfunc f() {\nself.\(RuleTests.pin)let c = NWConnection(to: e, using: NWParameters(tls: self.o)) } }",
                .pinned
            ),
            ("\(RuleTests.options)\(RuleTests.pin)let c = NWConnection(to: e, using: .tls) }", .unpinned),
            (
                "\(RuleTests.options)\(RuleTests.pin)}\nfunc g() { let c = NWConnection(to: e, using: NWParameters(tls: o)) }",
                .unknown
            ),
            (
                "import Network\nstruct A {\nlet o = NWProtocolTLS.Options()\nfunc b() {\n\(RuleTests.block)}\nfunc f() {\nself.\(RuleTests.pin)let c = NWConnection(to: e, using: NWParameters(tls: self.o)) } }",
                .ownCode
            ),
            // The block that is set last is the one that counts.
            (
                "\(RuleTests.options)\(RuleTests.block)\(RuleTests.pin)let c = NWConnection(to: e, using: NWParameters(tls: o)) }",
                .pinned
            ),
            (
                "\(RuleTests.options)\(RuleTests.pin)\(RuleTests.block)let c = NWConnection(to: e, using: NWParameters(tls: o)) }",
                .ownCode
            ),
            (
                "import Network\nfunc g() {\nlet o = NWProtocolTLS.Options.pinned(by: p) }\nfunc f() {\nlet c = NWConnection(to: e, using: n(NWProtocolTLS.Options())) }",
                .unknown
            ),
            (
                "\(RuleTests.options)\(RuleTests.block)let c = NWConnection(to: e, using: NWParameters(tls: o)) }",
                .ownCode
            ),
            ("\(RuleTests.options)\(RuleTests.block)let c = NWConnection(to: e, using: .tls) }", .unpinned),
            ("\(RuleTests.options)let c = NWConnection(to: e, using: NWParameters(tls: o)) }", .unpinned),
            (
                "\(RuleTests.options)\(RuleTests.block)}\nfunc g() { let c = NWConnection(to: e, using: NWParameters(tls: o)) }",
                .unknown
            ),
            ("import GRPCCore\nlet pinned = true\nlet c = GRPCClient(transport: t)", .unpinned),
            ("import GRPCCore\nlet t = T.pinned(by: p)\nlet c = GRPCClient(transport: t)", .pinned),
            ("import GRPCCore\nlet o = T.pinned(by: p)\nlet c = GRPCClient(transport: t)", .unknown),
            (
                "struct P { func makeCoordinator() -> PinnedNavigationDelegate { d }\nfunc f(context: Context) {\nlet w = WKWebView()\nw.navigationDelegate = context.coordinator } }",
                .pinned
            ),
            (
                "let d = PinnedNavigationDelegate(by: p)\nfunc f(context: Context) {\nlet w = WKWebView()\nw.navigationDelegate = context.coordinator }",
                .unknown
            ),
            (
                "let s = URLSession(configuration: c, delegate: PinnedSessionDelegate(by: p), delegateQueue: nil)",
                .pinned
            ),
            ("let s = URLSession(configuration: c, delegate: PinnedByHand(), delegateQueue: nil)", .unknown),
            (
                "final class D: PinnedSessionDelegate {}\nlet s = URLSession(configuration: c, delegate: D(), delegateQueue: nil)",
                .unknown
            ),
            // What the system decides alone looks at no pins.
            (RuleTests.delegate(RuleTests.evaluation), .unpinned),
            (RuleTests.delegate("\(RuleTests.evaluation)\nguard matchesPin(t) else { return }"), .ownCode),
            (RuleTests.delegate("\(RuleTests.evaluation)\ncompare(SecTrustCopyCertificateChain(t))"), .ownCode),
            (
                RuleTests.delegate(
                    "SecTrustSetAnchorCertificates(t, a)\nSecTrustSetAnchorCertificatesOnly(t, true)\n\(RuleTests.evaluation)"
                ),
                .ownCode
            ),
            (
                "import Alamofire\nlet s = Session(serverTrustManager: ServerTrustManager(evaluators: [h: DefaultTrustEvaluator()]))",
                .unknown
            ),
            ("import Alamofire\nlet s = Session(serverTrustManager: manager)", .unknown),
            (
                "import Alamofire\nstruct A {\nlet s = Session(serverTrustManager: ServerTrustManager(evaluators: all))\nlet all = [h: PublicKeysTrustEvaluator(keys: k)] }",
                .pinned
            ),
            (
                "import Alamofire\nlet s = SessionManager(serverTrustPolicyManager: M(policies: [h: .pinPublicKeys(publicKeys: k)]))",
                .pinned
            ),
            ("import Starscream\nlet w = WebSocket(request: r, certPinner: FoundationSecurity())", .unpinned),
            (
                "import Starscream\nlet p = FoundationSecurity()\nlet w = WebSocket(request: r, certPinner: p)",
                .unpinned
            ),
            ("import Starscream\nlet w = WebSocket(request: r, certPinner: OwnPinner())", .ownCode),
            ("import Starscream\nlet w = WebSocket(request: r, certPinner: pinner)", .unknown),
        ] as [(String, NetworkSurface.Pinning)])
    func pinsThatAreSeenArePinsAndWhatIsNotSeenIsNeverPinned(_ text: String, _ pinning: NetworkSurface.Pinning) {
        let kinds = ["Alamofire", "NWConnection", "Starscream", "URLSession", "WKWebView", "gRPC"]
        let found = RuleFixture.report([("A.swift", Array(text.utf8))]).surfaces.filter { kinds.contains($0.kind) }
        #expect(found.map(\.pinning).contains(pinning), "\(found)")
        #expect(pinning == .pinned || !found.contains { $0.pinning == .pinned && $0.kind != "URLSession" }, "\(found)")
    }

    @Test("of two web views and one delegate that pins, none is said to be pinned")
    func ofTwoWebViewsAndOneDelegateThatPinsNoneIsSaidToBePinned() {
        let text =
            "func f() {\nlet a = WKWebView()\nlet b = WKWebView()\na.navigationDelegate = PinnedNavigationDelegate(by: p) }"
        let surfaces = RuleFixture.report([("A.swift", Array(text.utf8))]).surfaces
        #expect(surfaces.map(\.pinning) == [.unknown, .unknown])
    }

    @Test(
        "of Android's clients those are pinned whose own chain of calls sets pins, and what the file sets elsewhere is unknown",
        arguments: [
            ("val c = OkHttpClient.Builder().dns(d).certificatePinner(p).build()", [.pinned]),
            ("val c = OkHttpClient.Builder().apply { certificatePinner(p) }.build()", [.pinned]),
            ("val c = OkHttpClient().newBuilder().certificatePinner(p).build()", [.pinned]),
            (
                "val c = OkHttpClient.Builder().certificatePinner(p).build()\nval d = OkHttpClient()",
                [.pinned, .unknown]
            ),
            ("val b = OkHttpClient.Builder()\nb.certificatePinner(p)", [.unknown]),
            ("import okhttp3.CertificatePinner\nval c = OkHttpClient.Builder().build()", [.unpinned]),
            (
                "val e = CronetEngine.Builder(c).addPublicKeyPins(h, p, true, end).build()\nval f = CronetEngine.Builder(c).build()",
                [.pinned, .unknown]
            ),
        ] as [(String, [NetworkSurface.Pinning])])
    func ofAndroidsClientsThoseArePinnedWhoseOwnChainOfCallsSetsPins(
        _ text: String, _ pinning: [NetworkSurface.Pinning]
    ) {
        #expect(RuleFixture.report([("A.kt", Array(text.utf8))]).surfaces.map(\.pinning) == pinning)
    }

    @Test(
        "TrustKit's switches in code are found in each form that a dictionary takes",
        arguments: [
            ("A.swift", "kCFBooleanFalse", "kCFBooleanTrue"), ("A.swift", "kCFBooleanFalse as Any", "kCFBooleanTrue!"),
            ("A.swift", "NSNumber(value: false)", "NSNumber(value: true)"),
            ("A.swift", "false as NSNumber", "true as NSNumber"), ("A.swift", "0", "1"),
            ("A.swift", "\"NO\"", "\"YES\""), ("A.m", "@(NO)", "@(YES)"), ("A.m", "@0", "@1"),
            ("A.m", "(__bridge id)kCFBooleanFalse", "(__bridge id)kCFBooleanTrue"), ("A.m", "@false", "@true"),
            ("A.m", "@\"NO\"", "@\"YES\""), ("A.m", "[NSNumber numberWithBool:NO]", "[NSNumber numberWithBool:YES]"),
        ])
    func trustKitsSwitchesInCodeAreFoundInEachFormThatADictionaryTakes(_ path: String, _ off: String, _ on: String) {
        func rules(_ key: String, _ value: String) -> [String] {
            let text =
                path.hasSuffix(".m")
                ? "void f() { NSDictionary *c = @{ \(key) : \(value), other : a }; }" : "let c = [\(key): \(value)]"
            return RuleFixture.rules(path, text)
        }
        #expect(rules("kTSKEnforcePinning", off) == ["trustkit-not-enforced"])
        #expect(rules("kTSKEnforcePinning", on).isEmpty)
        #expect(rules("kTSKSwizzleNetworkDelegates", on) == ["trustkit-swizzling"])
        #expect(rules("kTSKSwizzleNetworkDelegates", off).isEmpty)
        // Only the running app knows.
        for unknown in ["isEnforced", path.hasSuffix(".m") ? "@(a ? NO : YES)" : "!isReporting"] {
            #expect(rules("kTSKEnforcePinning", unknown).isEmpty)
            #expect(rules("kTSKSwizzleNetworkDelegates", unknown).isEmpty)
        }
    }

    @Test(
        "pins of a configuration that are switched off, or have ended, are not counted among the pinned",
        arguments: [
            ("Info.plist", "<key>TSKEnforcePinning</key><true/>", "<key>TSKEnforcePinning</key><false/>"),
            (
                "Info.plist", "<key>TSKEnforcePinning</key><string>YES</string>",
                "<key>TSKEnforcePinning</key><string>NO</string>"
            ),
            (
                "Info.plist", "<key>TSKExpirationDate</key><string>2027-01-01</string>",
                "<key>TSKExpirationDate</key><string>2025-01-01</string>"
            ),
            ("A.swift", "kTSKEnforcePinning: true", "kTSKEnforcePinning: false"),
            ("network_security_config.xml", Self.pinSet("2027-01-01"), Self.pinSet("2025-01-01")),
            ("network_security_config.xml", Self.pinSet("2027-1-1"), Self.pinSet("2025-9-1")),
            ("network_security_config.xml", Self.pinSet("2027-01-01"), "2027-01-01\">"),
        ])
    func pinsOfAConfigurationThatAreSwitchedOffOrHaveEnded(_ path: String, _ good: String, _ bad: String) {
        func pinning(_ setting: String) -> [NetworkSurface.Pinning] {
            let text =
                switch path {
                case "A.swift": "let c = [kTSKPinnedDomains: [\"api.acme.com\": [\(setting)]]]"
                case "Info.plist":
                    propertyList(
                        "<key>TSKConfiguration</key><dict><key>TSKPinnedDomains</key><dict><key>api.acme.com</key><dict>\(setting)</dict></dict></dict>"
                    )
                default:
                    networkSecurity(
                        "<domain-config><domain>api.acme.com</domain><pin-set expiration=\"\(setting)</pin-set></domain-config>"
                    )
                }
            return RuleFixture.report([(path, Array(text.utf8))]).surfaces.map(\.pinning)
        }
        #expect(pinning(good) == [.pinned])
        #expect(pinning(bad) == [.unpinned])
    }

    /// A configuration of one host, on a line of its own.
    private static func domain(_ host: String, _ parts: String...) -> String {
        "\n<domain-config><domain>\(host)</domain>\(parts.joined())\n</domain-config>"
    }

    private static func anchors(_ attribute: String) -> String {
        "<trust-anchors><certificates src=\"@raw/own\" \(attribute)/></trust-anchors>"
    }

    private static let pins = "<pin-set><pin>BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=</pin></pin-set>"
    private static let exempt = anchors("overridePins=\"true\"")
    private static let base = "<base-config>\(exempt)</base-config>"

    /// The parts of a configuration, the surfaces in it, and the number of findings about overridePins.
    private static let overrides: [([String], [NetworkSurface.Pinning], Int)] = [
        ([domain("acme.com", pins, exempt)], [.unpinned], 1),
        ([domain("acme.com", pins, anchors("overridePins=\"TRUE\""))], [.unpinned], 1),
        ([domain("acme.com", pins, anchors("overridePins=\"false\""))], [.pinned], 0),
        ([base, domain("acme.com", pins)], [.unpinned], 2),
        ([domain("acme.com", pins), base], [.unpinned], 2),
        ([base, domain("acme.com", pins, anchors(""))], [.pinned], 1),
        ([base, domain("acme.com", pins, "<trust-anchors/>")], [.pinned], 1),
        ([domain("acme.com", exempt, domain("api.acme.com", pins))], [.unpinned], 2),
        ([domain("acme.com", domain("api.acme.com", pins), exempt)], [.unpinned], 2),
        ([domain("acme.com", pins, domain("api.acme.com", exempt))], [.pinned, .unpinned], 1),
        ([domain("acme.com", pins, domain("api.acme.com", anchors("")))], [.pinned, .pinned], 0),
        ([domain("acme.com", pins, domain("api.acme.com", "<pin-set/>"))], [.pinned, .unpinned], 0),
        (["<debug-overrides>\(exempt)</debug-overrides>", domain("acme.com", pins)], [.pinned], 0),
        (["<debug-overrides>\(anchors(""))</debug-overrides>", domain("acme.com", pins)], [.pinned], 0),
    ]

    @Test(
        "a host of Android is not pinned where an anchor of release builds has overridePins, its own or an inherited one",
        arguments: overrides)
    func aHostOfAndroidWhosePinsAnAnchorOverridesIsNotPinned(
        _ parts: [String], _ pinning: [NetworkSurface.Pinning], _ count: Int
    ) {
        let text = networkSecurity(parts.joined())
        let report = RuleFixture.report([("network_security_config.xml", Array(text.utf8))])
        #expect(report.surfaces.map(\.pinning) == pinning)
        #expect(report.findings.count { $0.rule.id == "android-override-pins" } == count, "\(report.findings)")
    }

    @Test(
        "the hash of a PIN code, its salt and what is spinning are no pins of a certificate",
        arguments: [
            ("pinCodeHash", false), ("pinSalt", false), ("userPin", false), ("unlockPin", false), ("pinSetup", false),
            ("PinSettings", false), ("enteredPin", false), ("isSpinning", false), ("pinHash", true),
            ("pinDigest", true), ("serverPin", true), ("backupPin", true), ("isPinning", true), ("pinSet", true),
            ("userSPKIPin", true), ("cardServicePin", true), ("userAPIPin", true),
        ])
    func theHashOfAPINCodeIsNoPin(_ name: String, _ isPin: Bool) {
        let digest = String(repeating: "07", count: 32)
        for (path, text) in [
            ("A.swift", "let \(name) = \"\(digest)\""), ("A.swift", "let a = f(\(name): \"\(digest)\")"),
            ("A.swift", "let a = [\"\(name)\": \"\(digest)\"]"),
            ("A.m", "static NSString *const \(name) = @\"\(digest)\";"), ("A.kt", "val \(name) = \"\(digest)\""),
        ] {
            #expect(RuleFixture.rules(path, text) == (isPin ? ["pin-in-source"] : []), "\(text)")
        }
    }

    @Test(
        "a result that is not bad and, by && or a comma, a good one is read rightly; one that is not bad or a good one is not",
        arguments: [
            ("guard r != .invalid, r == .proceed else { return false }", true),
            ("guard r == .proceed || r == .unspecified, r != .invalid else { return false }", true),
            ("if r != .deny && r == .proceed { return true }", true),
            ("if (r != .deny) && (r == .proceed) { return true }", true),
            ("if (r != .deny && isOn), (.unspecified == r) { return true }", true),
            ("let isGood = r != .deny && (r == .proceed || r == .unspecified)", true),
            ("let isGood = isOn ? false : r != .deny && r == .proceed", true),
            ("if (r != .deny || isOn) && r == SecTrustResultType.proceed { return true }", true),
            ("guard r != .invalid else { return false }", false),
            ("guard r != .invalid, isOn else { return false }", false),
            ("guard r != .invalid, other == .proceed else { return false }", false),
            ("if r != .deny || r == .proceed { return true }", false),
            ("if r != .deny && (r == .proceed || isOn) { return true }", false),
            ("if r != .deny && r != .proceed { return true }", false),
            ("if !(r != .deny && r == .proceed) { return true }", false),
            ("if !(r == .proceed), r != .deny { return true }", false),
            ("let isGood = r != .deny ? r == .proceed : isOn", false),
            ("if r != .deny, isOn ? true : isOn && r == .proceed { return true }", false),
            ("if r != .deny && (isOn ? true : isOn && r == .proceed) { return true }", false),
            ("if (r != .deny && r == .proceed) == false { return true }", false),
        ])
    func aResultThatIsNotBadAndAGoodOneIsReadRightly(_ statement: String, _ isRight: Bool) {
        let text = "func f(r: SecTrustResultType, other: SecTrustResultType) -> Bool {\n\(statement)\nreturn false }"
        #expect(RuleFixture.rules("A.swift", text) == (isRight ? [] : ["trust-result-misread"]))
    }

    @Test(
        "in Objective-C a result that is not bad and, by &&, a good one is read rightly",
        arguments: [
            ("if (r != BAD && r == GOOD) { return YES; }", true), ("return r != BAD && r == GOOD;", true),
            ("return (r != BAD) && (r == GOOD || kSecTrustResultUnspecified == r);", true),
            ("if ((self.r != BAD || isOn) && self.r == GOOD) { return YES; }", true),
            ("return r != BAD;", false), ("if (r != BAD || r == GOOD) { return YES; }", false),
            ("return r != BAD && (r == GOOD || isOn);", false), ("return r != BAD && other == GOOD;", false),
            ("return !(r != BAD && r == GOOD);", false), ("return r != BAD && !(r == GOOD);", false),
            ("return r == GOOD && isOn ? YES : r != BAD;", false), ("done(r != BAD, isOn && r == GOOD);", false),
            ("BOOL isOn = r != BAD, isGood = isOff && r == GOOD;", false),
            ("return r != BAD && (isOn ? YES : isOff && r == GOOD);", false),
            ("return p->r != BAD && r == GOOD;", false), ("return (r != BAD && r == GOOD) == NO;", false),
            ("return r != BAD && r == GOOD", false), ("((((((((r != BAD && r == GOOD", false),
        ])
    func inObjectiveCAResultThatIsNotBadAndAGoodOneIsReadRightly(_ statement: String, _ isRight: Bool) {
        let text = statement.replacing("BAD", with: "kSecTrustResultInvalid")
            .replacing("GOOD", with: "kSecTrustResultProceed")
        #expect(RuleFixture.rules("A.m", "BOOL f() {\n\(text)\n}") == (isRight ? [] : ["trust-result-misread"]))
    }

    @Test("a finding is allowed at its line and the line above, with a reason, and counts no more")
    func aFindingIsAllowedAtItsLineAndTheLineAbove() {
        let text = """
            let a = WKWebView() // tumbler:allow surface-wkwebview shows a page of the bundle
            // tumbler:allow surface-wkwebview shows a page of the bundle
            let b = WKWebView()
            let c = WKWebView() // tumbler:allow surface-safari it is another rule
            """
        let report = RuleFixture.report([("A.swift", Array(text.utf8))])
        #expect(report.open.map(\.line) == [4])
        #expect(report.findings.count == 3)
        #expect(report.findings.first?.reason == "shows a page of the bundle")
    }

    @Test("a finding of the baseline no longer counts, also when its line has moved; a new one does")
    func findingOfTheBaselineNoLongerCountsAlsoWhenItsLineHasMovedANewOneDoes() {
        let before = RuleFixture.report([("A.swift", Array("let a = URLSession.shared\n".utf8))])
        let known = Set(before.findings.map(\.fingerprint))
        let after = RuleFixture.report(
            [
                (
                    "A.swift",
                    Array("\n\nlet a = URLSession.shared\nlet b = URLSession.shared\nlet a = URLSession.shared\n".utf8)
                )
            ], known: known)
        #expect(after.findings.map(\.suppression) == [.known, nil, nil])
    }

    @Test(
        "validation that is switched off by an argument is found as by an assignment, and a server that asks for no certificate is none"
    )
    func validationThatIsSwitchedOffByAnArgumentIsFound() {
        let argument = "let a = HTTPClient.Configuration(certificateVerification: .none)"
        #expect(RuleFixture.rules("A.swift", argument) == ["trust-invalid-certificates"])
        #expect(
            RuleFixture.rules("A.swift", "let a = HTTPClient.Configuration(certificateVerification: .fullVerification)")
                .isEmpty)
        #expect(
            RuleFixture.rules("A.swift", "clientConfig.certificateVerification = .none") == [
                "trust-invalid-certificates"
            ])
        // What clients of gRPC make of a server's certificate; `clientCertificateVerification` is a server's.
        let member = "serverCertificateVerification"
        for (value, rule) in [
            (".noVerification", "trust-invalid-certificates"), (".noHostnameVerification", "trust-host-name-unchecked"),
        ] {
            #expect(RuleFixture.rules("A.swift", "config.\(member) = \(value)") == [rule])
            #expect(RuleFixture.rules("A.swift", "let a = T.tls { $0.\(member) = \(value) }") == [rule])
            #expect(RuleFixture.rules("A.swift", "let a = TLS(\(member): \(value))") == [rule])
        }
        for quiet in [
            "config.serverCertificateVerification = .fullVerification",
            "config.clientCertificateVerification = .noVerification",
        ] {
            #expect(RuleFixture.rules("A.swift", quiet).isEmpty)
        }
        #expect(RuleFixture.rules("A.swift", "serverConfig.certificateVerification = .none").isEmpty)
        #expect(RuleFixture.rules("A.swift", "serverConfig.certificateVerification = .noHostnameVerification").isEmpty)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension RuleFixture {
    private static func handler(_ body: String) -> String {
        "- (void)URLSession:(NSURLSession *)s didReceiveChallenge:(NSURLAuthenticationChallenge *)c completionHandler:(void (^)(NSInteger, NSURLCredential *))h { \(body) }"
    }

    private static let credential =
        "h(NSURLSessionAuthChallengeUseCredential, [NSURLCredential credentialWithUser:@\"a\" password:@\"b\" persistence:0]);"

    private static func connection(_ configuration: String) -> String {
        "void f() { nw_parameters_t p = nw_parameters_create_secure_tcp(\(configuration), NW_PARAMETERS_DEFAULT_CONFIGURATION); nw_connection_t c = nw_connection_create(e, p); }"
    }

    private static func verifyBlock(_ body: String) -> String {
        "^(nw_protocol_options_t o) { sec_protocol_options_set_verify_block(nw_tls_copy_sec_protocol_options(o), ^(sec_protocol_metadata_t m, sec_trust_t t, sec_protocol_verify_complete_t complete) { \(body) }, q); }"
    }

    private static func trustKit(_ body: String) -> String {
        "void f() { [TrustKit initSharedInstanceWithConfiguration:@{ kTSKPinnedDomains : @{ @\"api.acme.com\" : @{ \(body) } } }]; }"
    }

    /// Objective-C.
    static let objectiveC: [RuleFixture] = [
        RuleFixture(
            "cleartext-url", "A.m", fires: "NSString *a = @\"http://api.acme.com\";",
            quiet: "// http://api.acme.com\nNSString *a = @\"https://api.acme.com\";"),
        RuleFixture(
            "trust-unevaluated", "A.m", fires: "- (void)f { handler(use, [NSURLCredential credentialForTrust:t]); }",
            quiet:
                "- (void)f { if (SecTrustEvaluateWithError(t, nil)) { handler(use, [NSURLCredential credentialForTrust:t]); } }"
        ),
        RuleFixture(
            "trust-exceptions", "A.m", fires: "void f() { SecTrustSetExceptions(t, d); }",
            quiet: "void f() { SecTrustCopyExceptions(t); }"),
        RuleFixture(
            "trust-invalid-certificates", "A.m", fires: "void f() { policy.allowInvalidCertificates = YES; }",
            quiet: "void f() { policy.allowInvalidCertificates = NO; }"),
        RuleFixture(
            "trust-invalid-certificates", "B.m",
            fires: "void f() { [NSURLRequest setAllowsAnyHTTPSCertificate:YES forHost:h]; }",
            quiet: "void f() { [NSURLRequest requestWithURL:u]; }"),
        RuleFixture(
            "trust-host-name-unchecked", "A.m", fires: "void f() { [p setValidatesDomainName:NO]; }",
            quiet: "void f() { [p setValidatesDomainName:YES]; }"),
        RuleFixture(
            "trust-result-misread", "A.m", fires: "int f() { return r == kSecTrustResultRecoverableTrustFailure; }",
            quiet: "int f() { return r == kSecTrustResultProceed; }"),
        RuleFixture(
            "surface-urlsession-shared", "A.m", fires: "void f() { [[NSURLSession sharedSession] dataTaskWithURL:u]; }",
            quiet: "void f() { [[Store sharedSession] load]; }"),
        RuleFixture(
            "surface-urlsession-without-delegate", "A.m",
            fires: "void f() { s = [NSURLSession sessionWithConfiguration:[C d]]; }",
            quiet: "void f() { s = [NSURLSession sessionWithConfiguration:[C d] delegate:self delegateQueue:nil]; }"),
        RuleFixture(
            "surface-nsurlconnection", "A.m",
            fires: "void f() { [NSURLConnection sendSynchronousRequest:r returningResponse:nil error:nil]; }",
            quiet: "void f() { [NSXPCConnection new]; }"),
        RuleFixture(
            "surface-urlprotocol", "A.m", fires: "@interface P : NSURLProtocol\n@end",
            quiet: "@interface P : NSObject\n@end"),
        RuleFixture(
            "trust-anchors", "A.m", fires: "void f() { SecTrustSetAnchorCertificates(t, a); }",
            quiet: "void f() { SecTrustSetAnchorCertificates(t, a); SecTrustSetAnchorCertificatesOnly(t, YES); }"),
        RuleFixture(
            "trust-anchors", "B.m",
            fires: "void f() { SecTrustSetAnchorCertificates(t, a); SecTrustSetAnchorCertificatesOnly(t, NO); }",
            quiet: "void f() { SecTrustSetPolicies(t, p); }"),
        RuleFixture(
            "trust-challenge-ignored", "A.m", fires: handler(credential),
            quiet: handler(
                "if ([c.protectionSpace.authenticationMethod isEqualToString:NSURLAuthenticationMethodServerTrust]) { h(1, nil); } else { \(credential) }"
            )),
        RuleFixture(
            "trust-evaluation-ignored", "A.m", fires: "void f() { SecTrustEvaluateWithError(t, NULL); use(t); }",
            quiet: "void f() { if (SecTrustEvaluateWithError(t, NULL)) { use(t); } }"),
        RuleFixture(
            "trust-evaluation-ignored", "B.m", fires: "void f() { (void)SecTrustEvaluate(t, NULL); use(t); }",
            quiet:
                "void f() { SecTrustResultType r; SecTrustEvaluate(t, &r); if (r == kSecTrustResultProceed) use(t); }"),
        RuleFixture(
            "trust-verify-block-accepts", "A.m", fires: connection(verifyBlock("complete(true);")),
            quiet: connection(verifyBlock("complete(SecTrustEvaluateWithError(sec_trust_copy_ref(t), NULL));"))),
        RuleFixture(
            "surface-nwconnection", "A.m", fires: connection("NW_PARAMETERS_DEFAULT_CONFIGURATION"),
            quiet: connection(verifyBlock("complete(SecTrustEvaluateWithError(sec_trust_copy_ref(t), NULL));"))),
        RuleFixture(
            "surface-nwconnection", "B.m", fires: connection("^(nw_protocol_options_t o) { }"),
            quiet: connection("NW_PARAMETERS_DISABLE_PROTOCOL")),
        RuleFixture(
            "trustkit-expired", "A.m", fires: trustKit("kTSKExpirationDate : @\"2026-11-23\""),
            quiet: trustKit("kTSKExpirationDate : @\"2026-11-24\"")),
        RuleFixture(
            "trustkit-no-backup", "A.m", fires: trustKit("kTSKPublicKeyHashes : @[ @\"a\" ]"),
            quiet: trustKit("kTSKPublicKeyHashes : @[ @\"a\", @\"b\" ]")),
        RuleFixture(
            "trustkit-no-backup", "B.m", fires: trustKit("kTSKPublicKeyHashes : @[ ]"),
            quiet: trustKit("kTSKPublicKeyHashes : @[ first, second ]")),
        RuleFixture(
            "trustkit-not-enforced", "A.m", fires: trustKit("kTSKEnforcePinning : @NO"),
            quiet: trustKit("kTSKEnforcePinning : @YES")),
    ]
}

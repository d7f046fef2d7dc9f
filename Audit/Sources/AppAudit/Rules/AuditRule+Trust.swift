// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Code that takes certificates which it should refuse.
extension AuditRule {
    static let ofTrust = [
        unevaluatedTrust, trustExceptions, trustAnchors, trustResult, ignoredEvaluation, withoutCredential,
        disabledEvaluator, invalidCertificates, hostNameUnchecked, acceptingVerifyBlock, ignoredChallenge,
    ]

    static let unevaluatedTrust = AuditRule(
        "trust-unevaluated", .error,
        "A challenge is answered with URLCredential(trust:) and nothing evaluates that trust: every certificate is taken.",
        "Evaluate first (SecTrustEvaluateWithError, then the pins), or answer with .performDefaultHandling.")
    static let trustExceptions = AuditRule(
        "trust-exceptions", .error,
        "SecTrustSetExceptions makes an evaluation pass that failed, for this certificate, every time.",
        "Remove it. For a private CA give its certificate to SecTrustSetAnchorCertificates.")
    static let trustAnchors = AuditRule(
        "trust-anchors", .warning,
        "The app adds trust anchors of its own: certificates that the system would refuse are taken.",
        "Call SecTrustSetAnchorCertificatesOnly(trust, true) when only these may vouch, and say in a comment why they may."
    )
    static let trustResult = AuditRule(
        "trust-result-misread", .error,
        "A failed evaluation is read as a good one: recoverable trust failures are expired, self-signed and foreign certificates.",
        "Take .proceed and .unspecified alone, or use SecTrustEvaluateWithError.")
    static let ignoredEvaluation = AuditRule(
        "trust-evaluation-ignored", .error, "The trust is evaluated, and the outcome is thrown away.",
        "Refuse the connection when SecTrustEvaluateWithError gives false.")
    static let withoutCredential = AuditRule(
        "trust-continue-without-credential", .error,
        "continueWithoutCredential goes on after a challenge without an evaluation of the server's certificate.",
        "Answer server-trust challenges with an evaluation, or with .performDefaultHandling.")
    static let disabledEvaluator = AuditRule(
        "trust-evaluator-disabled", .error, "Alamofire's DisabledTrustEvaluator takes every certificate.",
        "Use DefaultTrustEvaluator, or one that pins.")
    static let invalidCertificates = AuditRule(
        "trust-invalid-certificates", .error, "A setting of a library or of the system takes every certificate.",
        "Remove the setting. For a private CA give its certificate as an anchor.")
    static let hostNameUnchecked = AuditRule(
        "trust-host-name-unchecked", .error,
        "The name in the certificate is not compared with the host: any certificate of any site is taken.",
        "Evaluate with SecPolicyCreateSSL(true, host), and leave the check of names on.")
    static let acceptingVerifyBlock = AuditRule(
        "trust-verify-block-accepts", .error,
        "The block of sec_protocol_options_set_verify_block always completes with true.",
        "Evaluate the sec_trust_t in it, or leave the block out: the system's evaluation is then in force.")
    static let ignoredChallenge = AuditRule(
        "trust-challenge-ignored", .warning,
        "A delegate answers challenges and does not look at those of server trust (NSURLAuthenticationMethodServerTrust).",
        "Handle server trust, where pins belong, and give all else to .performDefaultHandling.")
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import CertificatePinning
import Testing

@Suite("Certificates")
struct CertificateTests {
    /// Python's cryptography: a P-256 key, valid from 2026-11-01 to 2027-03-01.
    private static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBGzCBwaADAgECAgEFMAoGCCqGSM49BAMCMBcxFTATBgNVBAMMDGFwaS5hY21l
        LmNvbTAeFw0yNjExMDEwMDAwMDBaFw0yNzAzMDEwMDAwMDBaMBcxFTATBgNVBAMM
        DGFwaS5hY21lLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJrhMNoJO+Ae
        0a02OXEPkWHw8v2F++jCpXKuXhISnuskjwNUjTLpfBc1WQbK1TqrOZRnA7V3Tp66
        tRPcc161kR0wCgYIKoZIzj0EAwIDSQAwRgIhAIfxgU2UcdSDJPH53R1i4EVdELx/
        WkzZPgGT+JEoIMtqAiEAxE0dUEKAVqqd6wHF0gwb38V7Q7IGPUXamP83xKCiVMM=
        -----END CERTIFICATE-----
        """
    /// The SHA-256 of its point (Encoding.X962).
    private static let rawPin = "hJ0egXlOxP+o28SMNlJCDmi0GLZHLI5SevbD5UPmr/A="
    /// The SHA-256 of its SubjectPublicKeyInfo.
    private static let pin = "skY2aS+rgWE+s4pC9S++5nqkOzRIj+TJWUgl+crlxOc="

    private func rules(at time: Timestamp) -> [String] {
        RuleFixture.findings([("api.pem", Array(Self.pem.utf8))], at: time).map(\.rule.id)
    }

    @Test("a certificate in an app is said with its end: far, near and past")
    func aCertificateInAnAppIsSaidWithItsEnd() {
        #expect(self.rules(at: auditTime) == ["certificate-in-app"])
        #expect(self.rules(at: auditTime.moved(days: 60)) == ["certificate-expiring"])
        #expect(self.rules(at: auditTime.moved(days: 100)) == ["certificate-expired"])
    }

    @Test(
        "a certificate that does not read is a finding, alone and in a store; a file of keys alone is none",
        arguments: [
            ("a.cer", "\u{1}\u{2}\u{3}"), ("a.der", ""), ("a.pem", "no block"),
            ("a.crt", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"),
            ("a.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
            ("a.pem", "-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----"),
            ("a.pem", "\(pem)\n-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----"),
            ("a.pem", "\(pem)\n-----BEGIN CERTIFICATE-----"),
        ])
    func aCertificateThatDoesNotReadIsAFinding(_ path: String, _ text: String) {
        let report = RuleFixture.report([(path, Array(text.utf8))])
        #expect(report.findings.map(\.rule.id) == ["unreadable"])
        #expect(report.exitCode == 2)
        let key = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"
        #expect(RuleFixture.rules("a.pem", key).isEmpty)
        #expect(RuleFixture.rules("a.pem", "\(key)\n\(Self.pem)") == ["certificate-in-app"])
        // Keys in DER: an Ed25519 key's SubjectPublicKeyInfo, and the beginning of PKCS #1.
        let head: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        let keys: [[UInt8]] = [head + [UInt8](repeating: 7, count: 32), [0x30, 3, 2, 1, 3]]
        for key in keys { #expect(RuleFixture.report([("a.der", key)]).findings.isEmpty) }
        #expect(RuleFixture.report([("a.der", Array(keys[0].dropLast()))]).findings.map(\.rule.id) == ["unreadable"])
    }

    @Test("of a store with more certificates than are read, that is said")
    func ofAStoreWithMoreCertificatesThanAreReadThatIsSaid() {
        func rules(_ count: Int) -> [String] {
            RuleFixture.rules("a.pem", String(repeating: Self.pem + "\n", count: count))
        }
        #expect(rules(1_000) == ["certificate-in-app"])
        #expect(rules(1_001) == ["certificate-in-app", "unreadable"])
    }

    @Test("the hash of a raw key is recognised by the certificate beside it; that of the SubjectPublicKeyInfo is none")
    func theHashOfARawKeyIsRecognised() {
        func rules(_ pin: String) -> [String] {
            let source = Array("let pinned = [\"\(pin)\"]".utf8)
            return RuleFixture.findings([("api.pem", Array(Self.pem.utf8)), ("A.swift", source)]).map(\.rule.id)
        }
        #expect(rules(Self.rawPin) == ["pin-of-raw-key", "certificate-in-app"])
        #expect(rules(Self.pin) == ["pin-in-source", "certificate-in-app"])
    }
}

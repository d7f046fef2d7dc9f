// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import TestData
import Testing

@_spi(Tools) @testable import CertificateTransparency

/// The vectors of rustls/sct.rs: timestamps over the certificate `cert`, as the TLS extension has them.
@Suite(
    "Timestamps of rustls/sct.rs",
    .enabled(if: SharedData.holds(SharedData.transparency), "../shared/data/transparency is not beside the checkout"))
struct TimestampVectorTests {
    private static let cert = Array("cert".utf8)

    /// What a log signs of a certificate that is no precertificate: `x509_entry` (RFC 6962, section 3.2).
    private static func entry(_ certificate: [UInt8]) -> [UInt8] {
        [0, 0] + bigEndian(UInt64(certificate.count), 3) + certificate
    }

    private static func log(_ key: [UInt8]) -> TransparencyLog {
        TransparencyLog(
            id: LogID(ofKey: key), name: "", operatorName: "A script", previousOperators: [], kind: .rfc6962,
            state: .usable, interval: nil, key: LogKey(subjectPublicKeyInfo: key))
    }

    private static func vector(_ name: String) throws -> [UInt8] {
        try PublishedVectors.bytes("sct-rs/testdata/\(name)")
    }

    /// The keys are there without the frame that says what they are.
    private static func logs() throws -> LogList {
        let p256 = TestLeaf.element(
            0x30,
            [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01] + [
                0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
            ])
        let p384 = TestLeaf.element(
            0x30, [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01] + [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22])
        let rsa = TestLeaf.element(
            0x30, [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00])
        let keys = [
            ("ecdsa-prime256v1-pub.raw", p256), ("ecdsa-secp384r1-pub.raw", p384), ("rsa-2048-pub.raw", rsa),
            ("rsa-3072-pub.raw", rsa), ("rsa-4096-pub.raw", rsa), ("google-pilot-pubkey.bin", p256),
            ("symantec-log-pubkey.bin", p256),
        ]
        return LogList(
            try keys.map { name, algorithm in
                self.log(
                    TestLeaf.element(0x30, algorithm + TestLeaf.element(0x03, [0] + (try self.vector(name)))))
            }, timestamp: nil)
    }

    /// What becomes of a timestamp; `nil` for one that is passed over.
    private static func status(
        _ bytes: [UInt8], over certificate: [UInt8] = Self.cert, at seconds: Int64 = 1_800_000_000
    ) throws -> TransparencyEvaluation.Status? {
        let finding: TransparencyEvidence.Finding
        switch SignedCertificateTimestamp.read(bytes[...]) {
        case .otherVersion: return nil
        case .malformed: finding = .malformed
        case .timestamp(let timestamp):
            finding = TransparencyEvidence.Finding(timestamp, over: self.entry(certificate), try self.logs())
        }
        let evidence = TransparencyEvidence(
            defect: nil, unknownVersions: 0, findings: [finding], notAfter: Timestamp(secondsSince1970: 0), lifetime: 1)
        return evidence.evaluation(under: .chrome, at: Timestamp(secondsSince1970: seconds)).timestamps.first?.status
    }

    @Test(
        "each negative has a status of its own",
        arguments: [
            ("basic", "valid"), ("wrongtime", "invalid-signature"), ("wrongcert", "invalid-signature"),
            ("wrongext", "invalid-signature"), ("junk", "malformed"), ("wrongid", "unknown-log"),
            // sct.rs calls this an invalid signature.
            ("badsigalg", "unsupported"), ("future", "valid"), ("short", "valid"),
        ])
    func eachNegativeHasAStatusOfItsOwn(name: String, expected: String) throws {
        #expect(try Self.status(try Self.vector("ecdsa_p256-\(name)-sct.bin"))?.description == expected)
    }

    @Test("a timestamp of another version is passed over")
    func timestampOfAnotherVersionIsPassedOver() throws {
        #expect(try Self.status(try Self.vector("ecdsa_p256-version-sct.bin")) == nil)
    }

    @Test("a timestamp from later is in the future from five minutes on, to the millisecond")
    func timestampFromLaterIsInTheFutureFromFiveMinutesOnToTheMillisecond() throws {
        // Its time is 1.234 s after the epoch.
        let bytes = try Self.vector("ecdsa_p256-future-sct.bin")
        #expect(try Self.status(bytes, at: 1 - 300) == .inTheFuture)
        #expect(try Self.status(bytes, at: 2 - 300) == .valid)
        #expect(try Self.status(bytes, at: .min) == .inTheFuture)
        #expect(try Self.status(bytes, at: .max) == .valid)
    }

    @Test("a timestamp that is cut anywhere is malformed, and so is one with a byte more")
    func timestampThatIsCutAnywhereIsMalformedAndSoIsOneWithAByteMore() throws {
        let bytes = try Self.vector("ecdsa_p256-short-sct.bin")
        for length in 0..<bytes.count { #expect(try Self.status(Array(bytes.prefix(length))) == .malformed) }
        #expect(try Self.status(bytes + [0]) == .malformed)
    }

    @Test("a log with a key of P-384 is unsupported", arguments: ["basic", "wrongtime", "wrongcert"])
    func logWithAKeyOfP384IsUnsupported(name: String) throws {
        #expect(try Self.status(try Self.vector("ecdsa_p384-\(name)-sct.bin")) == .unsupported)
    }

    @Test("logs with RSA keys are verified where the trait NIO is on, with SHA-256 as RFC 6962 has it")
    func logsWithRSAKeysAreVerifiedWhereTheTraitNIOIsOnWithSHA256AsRFC6962HasIt() throws {
        #if NIO
        let expected = ["valid", "invalid-signature", "invalid-signature"]
        #else
        let expected = ["unsupported", "unsupported", "unsupported"]
        #endif
        for (name, expected) in zip(["basic", "wrongtime", "wrongcert"], expected) {
            #expect(try Self.status(try Self.vector("rsa2048-\(name)-sct.bin"))?.description == expected)
            // These are hashed with SHA-384.
            for size in ["3072", "4096"] {
                #expect(try Self.status(try Self.vector("rsa\(size)-\(name)-sct.bin")) == .unsupported)
            }
        }
    }

    @Test("an RSA key without the frame that says what it is, or with a byte behind it, is unsupported")
    func rsaKeyWithoutTheFrameThatSaysWhatItIsOrWithAByteBehindItIsUnsupported() throws {
        let bare = try Self.vector("rsa-2048-pub.raw")
        guard
            case .timestamp(let timestamp) = SignedCertificateTimestamp.read(
                try Self.vector("rsa2048-basic-sct.bin")[...])
        else {
            Issue.record("not a timestamp")
            return
        }
        let algorithm = TestLeaf.element(
            0x30, [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00])
        let framed = TestLeaf.element(0x30, algorithm + TestLeaf.element(0x03, [0] + bare))
        for key in [bare, framed + [0]] {
            #expect(
                LogKey(subjectPublicKeyInfo: key).verify(
                    timestamp.signature, algorithm: timestamp.algorithm,
                    over: { timestamp.signedBytes(over: Self.entry(Self.cert)) }) == .unsupported)
        }
    }

    @Test("two timestamps of google.com of 2017 hold")
    func twoTimestampsOfGoogleComOf2017Hold() throws {
        let certificate = try Self.vector("google-cert.bin")
        for name in ["google-sct0.bin", "google-sct1.bin"] {
            #expect(try Self.status(try Self.vector(name), over: certificate) == .valid)
        }
    }
}

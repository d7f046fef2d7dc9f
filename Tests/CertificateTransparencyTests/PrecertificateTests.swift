// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import TestData
import Testing

@_spi(Tools) @testable import CertificateTransparency

/// What logs signed, byte for byte.
@Suite("What logs signed of a certificate")
struct PrecertificateTests {
    private static let isPresent = SharedData.holds(SharedData.transparency)
    private static let missing: Comment = "../shared/data/transparency is not beside the checkout"

    @Test("it is what pyca's certificate has as its precertificate", .enabled(if: Self.isPresent, Self.missing))
    func itIsWhatPycasCertificateHasAsItsPrecertificate() throws {
        let pem = try PublishedVectors.bytes("pyca/cryptography-scts.pem")
        let certificate = try #require(try PEMBlock.blocks(in: pem).first).bytes
        let logged = try LoggedCertificate(certificate)
        #expect(logged.toBeSigned == (try PublishedVectors.bytes("pyca/cryptography-scts-tbs-precert.der")))
        #expect(logged.notBefore.description == "2018-09-26T19:56:33Z")
        #expect(logged.notAfter.description == "2018-12-25T19:56:33Z")
        #expect(try SignedCertificateTimestamp.readList(try #require(logged.timestamps)).count == 2)
    }

    @Test(
        "the leaf of Google's own test log has the expected hash, and its signature holds",
        .enabled(if: Self.isPresent, Self.missing))
    func leafOfGooglesOwnTestLogHasTheExpectedHashAndItsSignatureHolds() throws {
        let source = String(decoding: try PublishedVectors.bytes("ct-go/testdata/certs.go"), as: UTF8.self)
        let keys = String(decoding: try PublishedVectors.bytes("ct-go/testdata/keys.go"), as: UTF8.self)
        let certificate = try Self.certificate("TestEmbeddedCertPEM", in: source)
        let invalid = try Self.certificate("TestInvalidEmbeddedCertPEM", in: source)
        let issuer = try Self.certificate("CACertPEM", in: source)
        let text = try #require(keys.components(separatedBy: "LogPublicKeyB64 = \"").last?.split(separator: "\"").first)
        let key = try #require(Base64.decode(text.utf8))
        let log = TransparencyLog(
            id: LogID(ofKey: key), name: "", operatorName: "Google", previousOperators: [], kind: .rfc6962,
            state: .usable, interval: nil, key: LogKey(subjectPublicKeyInfo: key))
        let logs = LogList([log], timestamp: nil)

        let evidence = TransparencyEvidence(of: certificate, issuedBy: issuer, logs: logs)
        guard case .verified(let timestamp, _)? = evidence.findings.first, evidence.findings.count == 1 else {
            Issue.record("\(evidence)")
            return
        }
        // A leaf of the tree has the same form as what is signed (RFC 6962, sections 2.1 and 3.4).
        let entry = try LoggedCertificate(certificate).entry(issuedBy: try Pin(publicKeyOf: issuer))
        let leaf = SHA256.hash(data: [0] + timestamp.signedBytes(over: entry))
        #expect(Base64.encode(Array(leaf)) == "mbk+d5FDW3oNZJCbOi828rqC3hf+qhigTWVGcXEZq1U=")
        let refused = TransparencyEvidence(of: invalid, issuedBy: issuer, logs: logs)
            .evaluation(under: .chrome, at: Timestamp(secondsSince1970: 1_780_000_000))
        #expect(refused.timestamps.map(\.status) == [.invalidSignature])
    }

    /// A certificate in a constant of Go's source.
    private static func certificate(_ name: String, in source: String) throws -> [UInt8] {
        let constant = try #require(source.components(separatedBy: "\t\(name) = ").last)
        let text = constant.components(separatedBy: "-----END CERTIFICATE-----").first ?? ""
        let pem = text.replacingOccurrences(of: "\\n\" +", with: "").replacingOccurrences(of: "\"", with: "")
            .replacingOccurrences(of: "\t", with: "")
        return try #require(try PEMBlock.blocks(in: "\(pem)-----END CERTIFICATE-----\n".utf8).first).bytes
    }

    @Test(
        "timestamps that say they were hashed or signed with nothing are unsupported",
        .enabled(if: Self.isPresent, Self.missing))
    func timestampsThatSayTheyWereHashedOrSignedWithNothingAreUnsupported() throws {
        for (file, algorithm) in [("badssl-sct-none-hash", [0, 3]), ("badssl-sct-anonymous-sig", [4, 0])]
            as [(String, [UInt8])]
        {
            let logged = try LoggedCertificate(try PublishedVectors.bytes("pyca/\(file).der"))
            guard
                case .timestamp(let timestamp) = try SignedCertificateTimestamp.readList(
                    try #require(logged.timestamps)
                ).first
            else {
                Issue.record("\(file) has no timestamp")
                continue
            }
            #expect(timestamp.algorithm == algorithm)
            #expect(
                TestLog().log.key.verify(timestamp.signature, algorithm: timestamp.algorithm, over: { [] })
                    == .unsupported)
        }
    }

    @Test("where the timestamps were the only extension, the place for extensions goes, too")
    func whereTheTimestampsWereTheOnlyExtensionThePlaceForExtensionsGoesToo() throws {
        var leaf = TestLeaf()
        leaf.before = []
        leaf.after = []
        leaf.timestamps = TestLeaf.element(0x04, timestampList([[0]]))
        #expect(try LoggedCertificate(leaf.der).toBeSigned == leaf.toBeSigned(extensions: []))
    }

    @Test("lengths around it are mended wherever their form changes")
    func lengthsAroundItAreMendedWhereverTheirFormChanges() throws {
        for size in Array(0...300) + [64_900] {
            for listLength in [1, 130, 300] {
                var leaf = TestLeaf()
                leaf.after = [TestLeaf.wrapped([0x55, 0x1d, 0x0e], [UInt8](repeating: 0x2a, count: size))]
                leaf.timestamps = TestLeaf.element(0x04, timestampList([[UInt8](repeating: 0, count: listLength)]))
                let logged = try LoggedCertificate(leaf.der)
                #expect(logged.toBeSigned == leaf.toBeSigned(extensions: leaf.before + leaf.after))
            }
        }
    }

    @Test("a certificate without timestamps is what it is")
    func certificateWithoutTimestampsIsWhatItIs() throws {
        let leaf = TestLeaf()
        let logged = try LoggedCertificate(leaf.der)
        #expect(logged.timestamps == nil)
        #expect(logged.toBeSigned == leaf.toBeSigned(extensions: leaf.before + leaf.after))
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Parsers) @testable import AppAttestation
import CertificatePinning
import Foundation
import Testing

/// Receipts that Apple would never sign, made by the kit.
@Suite("Receipts")
struct ReceiptTests {
    let kit: ReceiptKit

    init() throws { self.kit = try ReceiptKit() }

    private func verify(_ receipt: [UInt8], appID: String? = AttestationKit.appID) async throws -> Receipt {
        try await ReceiptVerifier(appID: appID, anchor: .root(self.kit.root.der)).verify(
            receipt, at: Timestamp(secondsSince1970: KitCertificate.time))
    }

    private func isRefused(_ change: (inout ReceiptKit.Form) -> Void) async throws -> Bool {
        let receipt = try self.kit.receipt(change)
        return try await refusedStep { try await self.verify(receipt) } == nil
    }

    @Test(
        "receipts in DER and in BER, their content in one piece or many, with and without signed attributes, are accepted",
        arguments: [true, false], [true, false])
    func receiptsInDERAndInBERTheirContentInOnePieceOrMany(isIndefinite: Bool, hasAttributes: Bool) async throws {
        for pieces in [1, 2, 40] {
            let receipt = try await self.verify(
                self.kit.receipt {
                    $0.isIndefinite = isIndefinite
                    $0.hasAttributes = hasAttributes
                    $0.pieces = pieces
                })
            #expect(receipt.appID == AttestationKit.appID && receipt.kind == .attestation)
            #expect(receipt.created == (try Timestamp("2026-11-18T10:26:40Z")))
            #expect(receipt.expires == (try Timestamp("2027-02-16T10:26:40Z")))
            #expect(receipt.riskMetric == nil && receipt.notBefore == nil && receipt.clientHash == [1, 2, 3])
        }
    }

    @Test("a metric and its time are read from Apple's server's receipts")
    func metricAndItsTimeAreReadFromApplesServersReceipts() async throws {
        let receipt = try await self.verify(
            self.kit.receipt {
                $0.fields[4].1 = Array("RECEIPT".utf8)
                $0.fields += [(17, Array("12".utf8)), (19, Array("2026-11-19T00:00:00Z".utf8)), (99, [0xff])]
            })
        #expect(receipt.kind == .receipt && receipt.riskMetric == 12)
        #expect(receipt.notBefore == (try Timestamp("2026-11-19T00:00:00Z")))
    }

    @Test("a receipt signed by a developer, whose certificate is under the same root, is refused under Apple's rule")
    func receiptSignedByADeveloperWhoseCertificateIsUnderTheSameRoot() async throws {
        let time = Timestamp(secondsSince1970: KitCertificate.time)
        let anchor = ReceiptAnchor(root: self.kit.root.der, signerExtension: ReceiptAnchor.apple.signerExtension)
        let verifier = ReceiptVerifier(appID: nil, anchor: anchor)
        _ = try await verifier.verify(self.kit.receipt(), at: time)
        let forged = try self.kit.receipt { $0.isByDeveloper = true }
        #expect(try await refusedStep { try await verifier.verify(forged, at: time) } == nil)
    }

    @Test("attributes that have another digest are refused, with any signature")
    func attributesThatHaveAnotherDigestAreRefusedWithAnySignature() async throws {
        #expect(
            try await self.isRefused {
                $0.hasAttributes = true
                $0.digest = [UInt8](repeating: 0, count: 32)
            })
    }

    @Test("no certificates, no signer, two signers and another algorithm are refused")
    func noCertificatesNoSignerTwoSignersAndAnotherAlgorithmAreRefused() async throws {
        #expect(try await self.isRefused { $0.withCertificates = false })
        #expect(try await self.isRefused { $0.signers = 0 })
        #expect(try await self.isRefused { $0.signers = 2 })
        // ECDSA with SHA-1.
        #expect(
            try await self.isRefused { $0.signatureAlgorithm = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01] })
    }

    @Test("a field that is missing, stands twice or is not what it must be is refused")
    func fieldThatIsMissingStandsTwiceOrIsNotWhatItMustBeIsRefused() async throws {
        for index in [0, 1, 4, 6, 7] {
            #expect(try await self.isRefused { $0.fields.remove(at: index) }, "without \(self.kit.fields[index].0)")
        }
        #expect(try await self.isRefused { $0.fields.append((2, Array(AttestationKit.appID.utf8))) })
        #expect(try await self.isRefused { $0.fields[0].1 = Array("ABCDE12345.com.example.other".utf8) })
        #expect(try await self.isRefused { $0.fields[4].1 = Array("OTHER".utf8) })
        #expect(try await self.isRefused { $0.fields[6].1 = Array("yesterday".utf8) })
        #expect(try await self.isRefused { $0.fields[7].1 = Array("2026-11-18T10:26:40Z".utf8) }, "it has ended")
        for metric in ["", "-1", "1.5", "1000000000", "x"] {
            #expect(try await self.isRefused { $0.fields.append((17, Array(metric.utf8))) }, "metric \(metric)")
        }
    }

    @Test("bytes that are cut off, go on, or are nested without end are refused")
    func bytesThatAreCutOffGoOnOrAreNestedWithoutEndAreRefused() async throws {
        let receipt = try self.kit.receipt()
        for bytes in [
            [], Array(receipt.dropLast()), receipt + [0], [UInt8](repeating: 0x30, count: 65_537),
            (0..<30_000).flatMap { _ in [0x30, 0x80] as [UInt8] }, [0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            [0x30, 0x89] + [UInt8](repeating: 0xff, count: 9), [0x04, 0x80, 0, 0],
            [0x30, 0x82, 0xff, 0x00] + [UInt8](repeating: 5, count: 0), [0xbf, 0xff, 0xff, 0xff, 0xff, 0x7f, 0],
            [0x30, 0x82, 0x4e, 0x20] + (0..<10_000).flatMap { _ in [0x05, 0x00] as [UInt8] },
        ] as [[UInt8]] {
            #expect(try await refusedStep { try await self.verify(bytes) } == nil)
        }
        for length in stride(from: 1, to: receipt.count, by: 13) {
            #expect(try await refusedStep { try await self.verify(Array(receipt.prefix(length))) } == nil)
        }
    }

    @Test("times with and without a fraction are read, and others are not")
    func timesWithAndWithoutAFractionAreReadAndOthersAreNot() throws {
        let time = try Timestamp("2026-11-18T10:26:40Z")
        for text in ["2026-11-18T10:26:40Z", "2026-11-18T10:26:40.1Z", "2026-11-18T10:26:40.999999999Z"] {
            #expect(try Timestamp(roundingDownText: text) == time)
        }
        for text in [
            "", "2026-11-18T10:26:40.Z", "2026-11-18T10:26:40.1", "2026-11-18T10:26:40.1+00:00",
            "2026-11-18T10:26:40.1234567890Z", "2026-11-18T10:26:40,1Z", "2026-11-31T10:26:40.1Z",
            "2026-11-18T10:26:40.-1Z",
        ] {
            #expect(throws: InputError.self) { try Timestamp(roundingDownText: text) }
        }
    }
}
#endif

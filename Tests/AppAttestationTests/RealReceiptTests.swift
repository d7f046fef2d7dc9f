// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Parsers) @testable import AppAttestation
import CertificatePinning
import Foundation
import TestData
import Testing

/// Receipts that Apple signed, 18 of 20 with indefinite lengths.
@Suite("Receipts that Apple signed", .enabled(if: RealVectors.areThere, RealVectors.missing))
struct RealReceiptTests {
    let receipts: [RealVectors.SignedReceipt]

    init() throws { self.receipts = try RealVectors.load().receipts }

    @Test("twenty are verified, and say what others read in them")
    func twentyAreVerifiedAndSayWhatOthersReadInThem() async throws {
        #expect(self.receipts.count == 20)
        #expect(self.receipts.count { $0.receipt.starts(with: [0x30, 0x80]) } == 18)
        for vector in self.receipts {
            let key = try #require(AttestedKey(subjectPublicKeyInfo: try keyBytes(inPEM: vector.publicKeyPem)))
            let created = try vectorTime(vector.properties.creationTime)
            let receipt = try await ReceiptVerifier(appID: vector.appId).verify(
                Array(vector.receipt), of: key, at: created)
            #expect(receipt.appID == vector.appId && receipt.key == key)
            #expect(receipt.kind.rawValue == vector.properties.type)
            #expect(receipt.environment == vector.properties.environment)
            #expect(receipt.token == vector.properties.token)
            #expect(receipt.clientHash.map(Base64.encode) == vector.properties.clientHashBase64)
            #expect(receipt.created == created)
            #expect(try receipt.expires == vectorTime(vector.properties.expirationTime))
            #expect(try receipt.notBefore == vector.properties.notBefore.map(vectorTime))
            #expect(receipt.riskMetric == vector.properties.riskMetric.flatMap(Int.init))
        }
    }

    @Test("one of another app, of another key, that has ended, and under another root is refused")
    func oneOfAnotherAppOfAnotherKeyThatHasEndedAndUnderAnotherRootIsRefused() async throws {
        let (vector, other) = (self.receipts[0], self.receipts[5])
        let bytes = Array(vector.receipt)
        let created = try vectorTime(vector.properties.creationTime)
        let key = try #require(AttestedKey(subjectPublicKeyInfo: try keyBytes(inPEM: other.publicKeyPem)))
        func isRefused(_ verifier: ReceiptVerifier, of key: AttestedKey? = nil, at time: Timestamp) async throws -> Bool
        {
            try await refusedStep { try await verifier.verify(bytes, of: key, at: time) } == nil
        }
        #expect(try await isRefused(ReceiptVerifier(appID: "A.b"), at: created))
        #expect(try await isRefused(ReceiptVerifier(appID: nil), of: key, at: created))
        #expect(
            try await isRefused(
                ReceiptVerifier(appID: nil), at: Timestamp(secondsSince1970: created.secondsSince1970 + 91 * 86_400)))
        #expect(
            try await isRefused(ReceiptVerifier(appID: nil, anchor: .root(AppleRoot.appAttestation)), at: created))
    }

    @Test("a receipt with any one bit of its content changed is refused")
    func receiptWithAnyOneBitOfItsContentChangedIsRefused() async throws {
        let vector = self.receipts[0]
        let bytes = Array(vector.receipt)
        let created = try vectorTime(vector.properties.creationTime)
        for offset in stride(from: 54, to: 1_142, by: 17) {
            var changed = bytes
            changed[offset] ^= 0x10
            let verifier = ReceiptVerifier(appID: nil)
            #expect(
                try await refusedStep { try await verifier.verify(changed, at: created) } == nil, "byte \(offset)")
        }
    }
}
#endif

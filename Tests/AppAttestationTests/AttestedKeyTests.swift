// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@testable import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import Testing

/// Keys come from certificates, databases and command lines.
@Suite("A key that was attested")
struct AttestedKeyTests {
    private let key = P256.Signing.PrivateKey().publicKey

    @Test("a point and a SubjectPublicKeyInfo are the same key, with the SHA-256 of the point as its id")
    func pointAndASubjectPublicKeyInfoAreTheSameKeyWithTheSHA256OfThePointAsItsId() throws {
        let point = Array(self.key.x963Representation)
        let byPoint = try #require(AttestedKey(x963: point))
        #expect(byPoint == AttestedKey(subjectPublicKeyInfo: Array(self.key.derRepresentation)))
        #expect(byPoint.subjectPublicKeyInfo == Array(self.key.derRepresentation))
        #expect(byPoint.id == Array(SHA256.hash(data: point)))
    }

    @Test("a point that is not on the curve, compressed, cut off or of another curve is no key")
    func pointThatIsNotOnTheCurveCompressedCutOffOrOfAnotherCurveIsNoKey() {
        let point = Array(self.key.x963Representation)
        var off = point
        off[64] ^= 1
        let other = P384.Signing.PrivateKey().publicKey
        for bytes in [
            off, Array(point.dropLast()), point + [0], Array(point.dropFirst()),
            [0x04] + [UInt8](repeating: 0, count: 64),
            Array(self.key.compressedRepresentation), Array(other.x963Representation), [], [0x00],
        ] as [[UInt8]] {
            #expect(AttestedKey(x963: bytes) == nil)
        }
        let info = Array(self.key.derRepresentation)
        for bytes in [Array(info.dropLast()), info + [0], Array(other.derRepresentation), point, []] as [[UInt8]] {
            #expect(AttestedKey(subjectPublicKeyInfo: bytes) == nil)
        }
    }

    @Test("Apple's root keeps its rule for signers of receipts, however it is named")
    func applesRootKeepsItsRuleForSignersOfReceiptsHoweverItIsNamed() {
        #expect(ReceiptAnchor.root(AppleRoot.g3).signerExtension != nil)
        #expect(ReceiptAnchor.root(AppleRoot.appAttestation).signerExtension == nil)
    }
}
#endif

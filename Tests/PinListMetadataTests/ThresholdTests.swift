// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("Thresholds count distinct public keys")
struct ThresholdTests {
    @Test("one key that signs twice, three times, or under other hints counts once")
    func oneKeyThatSignsTwiceThreeTimesOrUnderOtherHintsCountsOnce() throws {
        var repository = try Story.repository(pinsKeys: (3, 2))
        var client = try repository.client()
        let keys = repository.pinsKeys
        let twice = try repository.publishList(signedBy: [keys[0], keys[0], keys[0]])
        let refused = try #require(try refusal { try client.accept(list: twice, at: Story.start) })
        #expect(refused.code == .thresholdNotMet)
        #expect(!refused.isSigned)

        var hinted = Envelope(payloadType: Envelope.payloadType(of: .pins), payload: repository.list.payload)
        for key in keys { try hinted.sign(by: keys[0], hint: key.keyID) }
        #expect(try code { try client.accept(list: hinted.bytes, at: Story.start) } == .thresholdNotMet)
        try hinted.sign(by: keys[2], hint: "")
        #expect(try client.accept(list: hinted.bytes, at: Story.start) == .newer)
    }

    @Test("hints decide nothing: wrong, swapped, absent or another's", arguments: ["", "x", "swapped"])
    func hintsDecideNothingWrongSwappedAbsentOrAnothers(hint: String) throws {
        var repository = try Story.repository(pinsKeys: (2, 2))
        var client = try repository.client()
        try repository.publishList()
        var envelope = Envelope(payloadType: Envelope.payloadType(of: .pins), payload: repository.list.payload)
        let keys = repository.pinsKeys
        try envelope.sign(by: keys[0], hint: hint == "swapped" ? keys[1].keyID : hint)
        try envelope.sign(by: keys[1], hint: hint == "swapped" ? keys[0].keyID : hint)
        #expect(try client.accept(list: envelope.bytes, at: Story.start) == .newer)
    }

    @Test("an envelope without the member keyid, as DSSE allows")
    func envelopeWithoutTheMemberKeyidAsDSSEAllows() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let text = String(decoding: try repository.publishList(), as: UTF8.self)
            .replacingOccurrences(of: "\"keyid\":\"\(repository.pinsKeys[0].keyID)\",", with: "")
        #expect(!text.contains("keyid"))
        #expect(try client.accept(list: Array(text.utf8), at: Story.start) == .newer)
    }

    @Test("signatures by keys that the root does not know are ignored, so one list may be signed for two roots")
    func signaturesByKeysThatTheRootDoesNotKnowAreIgnored() throws {
        var first = try Story.repository(seed: 1)
        let second = try Story.repository(seed: 2)
        let list = try first.publishList(signedBy: second.pinsKeys + first.pinsKeys)
        for repository in [first, second] {
            var client = try repository.client()
            #expect(try client.accept(list: list, at: Story.start) == .newer)
        }
    }

    @Test("one key in two encodings: the second one is no key")
    func oneKeyInTwoEncodingsTheSecondOneIsNoKey() throws {
        let repository = try Story.repository(pinsKeys: (2, 2))
        let p256 = repository.pinsKeys[0].publicKey.subjectPublicKeyInfo
        let x = Array(p256[27..<59])
        let isOdd = p256[90] & 1 == 1
        // The same point: compressed; hybrid; as explicit parameters say nothing of it; with a longer length byte.
        let compressed = [0x30, 0x39] + Array(p256[2..<24]) + [0x22, 0x00, isOdd ? 3 : 2] + x
        let hybrid = Array(p256[..<26]) + [isOdd ? 7 : 6] + Array(p256[27...])
        let longForm = [0x30, 0x81, 0x59] + Array(p256[2...])
        let trailing = p256 + [0]
        let bare = Array(p256[26...])
        for encoding in [compressed, hybrid, longForm, trailing, bare, []] {
            #expect(MetadataKey(subjectPublicKeyInfo: encoding) == nil)
        }
        #expect(MetadataKey(subjectPublicKeyInfo: p256)?.keyID == repository.pinsKeys[0].keyID)

        let ed25519 = repository.pinsKeys[1].publicKey.subjectPublicKeyInfo
        let withParameters = [0x30, 0x2C, 0x30, 0x07] + Array(ed25519[4..<9]) + [0x05, 0x00] + Array(ed25519[9...])
        for encoding in [withParameters, ed25519 + [0], Array(ed25519[12...]), Array(ed25519.dropLast())] {
            #expect(MetadataKey(subjectPublicKeyInfo: encoding) == nil)
        }
        #expect(MetadataKey(subjectPublicKeyInfo: ed25519)?.algorithm == .ed25519)
    }

    @Test("an Ed25519 point is written with a y below the prime, and is not of small order")
    func ed25519PointIsWrittenWithAYBelowThePrimeAndIsNotOfSmallOrder() throws {
        let prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        let high = [UInt8](repeating: 0xFF, count: 30)
        // 2^255 - 19 + n stands for n, and n - 1 for the small orders that are written straight.
        for low in UInt8(0xEC)...0xFF {
            for last in [0x7F, 0xFF] as [UInt8] {
                #expect(MetadataKey(subjectPublicKeyInfo: prefix + [low] + high + [last]) == nil)
            }
        }
        for first in [0, 1] as [UInt8] {
            for last in [0, 0x80] as [UInt8] {
                let point = [first] + [UInt8](repeating: 0, count: 30) + [last]
                #expect(MetadataKey(subjectPublicKeyInfo: prefix + point) == nil)
            }
        }
    }

    @Test("a P-256 point that is not on the curve is no key")
    func p256PointThatIsNotOnTheCurveIsNoKey() throws {
        let repository = try Story.repository()
        var der = repository.pinsKeys[0].publicKey.subjectPublicKeyInfo
        der[90] ^= 1
        #expect(MetadataKey(subjectPublicKeyInfo: der) == nil)
    }

    @Test("raising the threshold supersedes what carries too few signatures; lowering it revokes no signer")
    func raisingTheThresholdSupersedesWhatCarriesTooFewSignatures() throws {
        var repository = try Story.repository(pinsKeys: (2, 1))
        var client = try repository.client()
        let keys = repository.pinsKeys
        try _ = client.accept(list: try repository.publishList(signedBy: [keys[0]]), at: Story.start)
        repository.pinsThreshold = 2
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.chain.revokedBefore == nil)
        #expect(client.inForce?.held.status == .current, "the shipped list has both signatures")
        #expect(client.inForce?.source == .bundled)
        #expect(client.outside?.status == .superseded)
        repository.pinsThreshold = 1
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.outside?.status == .current)
        #expect(client.inForce?.held.list.version == 2)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("Forgery: what carries a signature, but not over this")
struct ForgeryTests {
    @Test("a list of another name, signed by the same keys")
    func listOfAnotherNameSignedByTheSameKeys() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let list = try repository.publishList { $0.name = "com.example.other" }
        let root = try repository.publishRoot { $0.name = "com.example.other" }
        let refused = try #require(try refusal { try client.accept(list: list, at: Story.start) })
        #expect(refused.code == .wrongName)
        #expect(refused.isSigned)
        #expect(try code { try client.accept(root: root, at: Story.start) } == .wrongName)
    }

    @Test("a list of another name than the shipped root is an error when the client is made")
    func listOfAnotherNameThanTheShippedRootIsAnErrorWhenTheClientIsMade() throws {
        var repository = try Story.repository()
        let list = try repository.publishList { $0.name = "com.example.App" }
        #expect(
            try code { try TrustState(bundledRoot: repository.roots[0], bundledList: list) } == .wrongName)
    }

    @Test("a root where a list is expected, and the other way round, by the payload type that is signed")
    func rootWhereAListIsExpectedAndTheOtherWayRoundByThePayloadTypeThatIsSigned() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        #expect(try code { try client.accept(list: repository.roots[0], at: Story.start) } == .wrongType)
        let list = try repository.publishList()
        #expect(try code { try client.accept(root: list, at: Story.start) } == .wrongType)
        #expect(try code { try TrustState(bundledRoot: list, bundledList: nil) } == .wrongType)
    }

    @Test("the payload type swapped on the way: the signature covers it")
    func payloadTypeSwappedOnTheWayTheSignatureCoversIt() throws {
        // One key has both roles, so that only the type tells the two apart.
        var repository = try Story.repository()
        repository.pinsKeys = repository.rootKeys
        try repository.publishRoot()
        var client = try repository.client()
        try client.accept(root: repository.roots[1], at: Story.start)
        let root = try Envelope(repository.roots[1], of: .root, limits: MetadataLimits())
        let swapped = Envelope(
            payloadType: Envelope.payloadType(of: .pins), payload: root.payload, signatures: root.signatures)
        #expect(try code { try client.accept(list: swapped.bytes, at: Story.start) } == .unsigned)
        let list = try Envelope(try repository.publishList(), of: .pins, limits: MetadataLimits())
        let other = Envelope(
            payloadType: Envelope.payloadType(of: .root), payload: list.payload, signatures: list.signatures)
        #expect(try code { try client.accept(root: other.bytes, at: Story.start) } == .unsigned)
    }

    @Test("a payload of the other type, signed as this one")
    func payloadOfTheOtherTypeSignedAsThisOne() throws {
        let repository = try Story.repository()
        var client = try repository.client()
        let list = try repository.signed(repository.root.payload)
        #expect(try code { try client.accept(list: list, at: Story.start) } == .wrongType)
        let root = try Envelope(of: .root, payload: repository.list.payload, signedBy: repository.rootKeys)
        #expect(try code { try client.accept(root: root.bytes, at: Story.start) } == .wrongType)
    }

    @Test("a signature over the parsed and rewritten payload does not hold for the bytes that are there")
    func signatureOverTheParsedAndRewrittenPayloadDoesNotHoldForTheBytesThatAreThere() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let envelope = try Envelope(try repository.publishList(), of: .pins, limits: MetadataLimits())
        // The same value with a blank more, or with an escape for a letter: other bytes.
        let text = String(decoding: envelope.payload, as: UTF8.self)
        let variants = [text + " ", " " + text, text.replacingOccurrences(of: "\"type\"", with: "\"\\u0074ype\"")]
        for variant in variants {
            #expect(variant != text)
            #expect(try PinList(payload: Array(variant.utf8)) == PinList(payload: envelope.payload))
            let forged = Envelope(
                payloadType: envelope.payloadType, payload: Array(variant.utf8), signatures: envelope.signatures)
            #expect(try code { try client.accept(list: forged.bytes, at: Story.start) } == .unsigned)
        }
        #expect(try client.accept(list: envelope.bytes, at: Story.start) == .newer)
    }

    @Test("what was signed with blanks and escapes is trusted as it stands")
    func whatWasSignedWithBlanksAndEscapesIsTrustedAsItStands() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try repository.publishList()
        let text =
            " "
            + String(decoding: repository.list.payload, as: UTF8.self)
            .replacingOccurrences(of: "\"type\"", with: "\n\"\\u0074ype\" ")
        #expect(try client.accept(list: try repository.signed(Array(text.utf8)), at: Story.start) == .newer)
    }

    @Test("every bit of an envelope's payload counts")
    func everyBitOfAnEnvelopesPayloadCounts() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let envelope = try Envelope(try repository.publishList(), of: .pins, limits: MetadataLimits())
        for index in envelope.payload.indices {
            var payload = envelope.payload
            payload[index] ^= 1 << UInt8(index % 8)
            let forged = Envelope(
                payloadType: envelope.payloadType, payload: payload, signatures: envelope.signatures)
            #expect(try code { try client.accept(list: forged.bytes, at: Story.start) } == .unsigned)
        }
    }

    @Test("a root after a gap is refused")
    func rootAfterAGapIsRefused() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try repository.publishRoot()
        let third = try repository.publishRoot()
        #expect(try code { try client.accept(root: third, at: Story.start) } == .rootGap)
        #expect(try code { try client.load(root: third) } == .rootGap)
        #expect(client.chain.newest.version == 1)
        try client.accept(root: repository.roots[1], at: Story.start)
        try client.accept(root: third, at: Story.start)
        #expect(client.chain.newest.version == 3)
    }

    @Test("a root that the old keys did not sign, and one that its own did not")
    func rootThatTheOldKeysDidNotSignAndOneThatItsOwnDidNot() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let old = repository.rootKeys
        repository.rootKeys = [repository.newKey(.ed25519)]
        let byNew = try repository.publishRoot(signedBy: repository.rootKeys)
        #expect(try code { try client.accept(root: byNew, at: Story.start) } == .unsigned)
        let payload = repository.root.payload
        let byOld = try Envelope(of: .root, payload: payload, signedBy: old).bytes
        #expect(try code { try client.accept(root: byOld, at: Story.start) } == .thresholdNotMet)
        let byBoth = try Envelope(of: .root, payload: payload, signedBy: old + repository.rootKeys).bytes
        try client.accept(root: byBoth, at: Story.start)
        #expect(client.chain.newest.version == 2)
    }

    @Test("the keys that sign lists sign no roots, and the other way round")
    func keysThatSignListsSignNoRootsAndTheOtherWayRound() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let root = try repository.publishRoot(signedBy: repository.pinsKeys)
        #expect(try code { try client.accept(root: root, at: Story.start) } == .unsigned)
        let list = try repository.publishList(signedBy: repository.rootKeys)
        #expect(try code { try client.accept(list: list, at: Story.start) } == .unsigned)
    }

    @Test("a shipped root that did not sign itself, or ships with a list of another signer, makes no client")
    func shippedRootThatDidNotSignItselfOrShipsWithAListOfAnotherSignerMakesNoClient() throws {
        var repository = try Story.repository()
        let other = try Story.repository(seed: 2)
        let root = try Envelope(of: .root, payload: repository.root.payload, signedBy: []).bytes
        #expect(try code { try TrustState(bundledRoot: root, bundledList: nil) } == .unsigned)
        #expect(
            try code { try TrustState(bundledRoot: repository.roots[0], bundledList: other.lists[0]) } == .unsigned)
        let empty = try repository.publishList(signedBy: [])
        #expect(try code { try TrustState(bundledRoot: repository.roots[0], bundledList: empty) } == .unsigned)
    }
}

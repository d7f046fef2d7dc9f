// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@Suite("Equivocation, and the same payload in another envelope")
struct EquivocationTests {
    @Test("two lists of one version, both signed: refused, with the envelope as evidence")
    func twoListsOfOneVersionBothSignedRefusedWithTheEnvelopeAsEvidence() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        let other = try repository.publishList {
            $0.version = 2
            $0.domains = []
        }
        let refused = try #require(try refusal { try client.accept(list: other, at: Story.start) })
        #expect(refused.code == .equivocation)
        #expect(refused.isSigned)
        #expect(client.inForce?.held.list.domains.count == 1)
    }

    @Test("an unsigned one is no equivocation, and no evidence")
    func unsignedOneIsNoEquivocationAndNoEvidence() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        let stranger = repository.newKey()
        let forged = try repository.publishList(signedBy: [stranger]) {
            $0.version = 2
            $0.domains = []
        }
        let refused = try #require(try refusal { try client.accept(list: forged, at: Story.start) })
        #expect(refused.code == .unsigned)
        #expect(!refused.isSigned)
    }

    @Test("the very bytes that are held are nothing new")
    func veryBytesThatAreHeldAreNothingNew() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let list = try repository.publishList()
        try _ = client.accept(list: list, at: Story.start)
        #expect(try client.accept(list: list, at: Story.start) == .unchanged)
        // Neither a freeze nor a rollback: also when it has expired meanwhile.
        #expect(try client.accept(list: list, at: Story.after(days: 365)) == .unchanged)
        #expect(try client.accept(list: list, at: Story.after(days: 5_000)) == .unchanged)
    }

    @Test("the same payload with a second signer's signature replaces the envelope, so that the next root finds it")
    func samePayloadWithASecondSignersSignatureReplacesTheEnvelope() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let old = repository.pinsKeys
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        let new = repository.newKey()
        let both = try repository.republishList(signedBy: old + [new])
        #expect(try client.accept(list: both, at: Story.start) == .resigned)
        #expect(client.inForce?.held.bytes == both)
        #expect(client.outside?.digest == Envelope.digest(of: both))

        repository.pinsKeys = [new]
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.inForce?.held.status == .current)
        #expect(client.inForce?.held.list.version == 2)
    }

    @Test("the shipped payload in a newer envelope is in force in that envelope")
    func shippedPayloadInANewerEnvelopeIsInForceInThatEnvelope() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let both = try repository.republishList(signedBy: repository.pinsKeys + [repository.newKey()])
        #expect(try client.accept(list: both, at: Story.start) == .resigned)
        #expect(client.inForce?.source == .outside)
        #expect(!client.hasConflictingLists)
        let again = try repository.restarted(client)
        #expect(again.inForce?.held.bytes == both)
    }

    @Test("junk signatures added on the way change nothing of what is trusted")
    func junkSignaturesAddedOnTheWayChangeNothingOfWhatIsTrusted() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let list = try repository.publishList()
        var envelope = try Envelope(list, of: .pins, limits: MetadataLimits())
        for number in 0..<31 {
            let junk = [UInt8](repeating: UInt8(number), count: number)
            envelope.signatures.insert(
                Envelope.Signature(keyID: repository.pinsKeys[0].keyID, bytes: junk), at: 0)
        }
        #expect(try client.accept(list: envelope.bytes, at: Story.start) == .newer)
        // Any of it may be the signature of a signer to come, so it stays until the next version.
        #expect(try client.accept(list: list, at: Story.start) == .signatureLost)
        #expect(client.inForce?.held.list.version == 2)
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
    }

    @Test("a stored list of the shipped version that differs: the shipped one is in force, and that is known")
    func storedListOfTheShippedVersionThatDiffersTheShippedOneIsInForce() throws {
        var repository = try Story.repository()
        let other = try repository.publishList {
            $0.version = 1
            $0.domains = []
        }
        var client = try repository.client()
        #expect(!client.hasConflictingLists)
        try client.load(list: other)
        #expect(client.hasConflictingLists)
        #expect(client.inForce?.source == .bundled)
        #expect(try code { try client.accept(list: other, at: Story.start) } == .equivocation)
        #expect(try client.accept(list: try repository.publishList { $0.version = 2 }, at: Story.start) == .newer)
        #expect(!client.hasConflictingLists)
    }

    @Test("two roots of one version")
    func twoRootsOfOneVersion() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        let other = try repository.publishRoot {
            $0.version = 2
            $0.expiresAt = Story.after(days: 1)
        }
        let refused = try #require(try refusal { try client.accept(root: other, at: Story.start) })
        #expect(refused.code == .equivocation)
        #expect(refused.kind == .root)
        #expect(refused.isSigned)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 3.3: signatures are not lost.
@Suite("A signature is cut off: the payload that is held, in an envelope that is worth less")
struct CutSignatureTests {
    /// A change of signers as docs/operations/replacing-a-signer.md has it: lists 2 and 3 are signed by the old signer
    /// and by the new one, whom no root has yet; then the root that takes the old one away.
    private struct Change {
        var repository: RepositorySimulator
        let old: [SigningKey]
        let new: SigningKey
        /// Signed by both, and older than ``third``.
        let second: [UInt8]
        let third: [UInt8]
        /// The third list with the new signer's signature cut off.
        let cut: [UInt8]
        let root: [UInt8]

        init() throws {
            var repository = try Story.repository()
            self.old = repository.pinsKeys
            self.new = repository.newKey()
            self.second = try repository.publishList(signedBy: self.old + [self.new])
            self.third = try repository.publishList(signedBy: self.old + [self.new]) { $0.domains = [] }
            self.cut = try CutSignatureTests.edited(self.third) { $0.removeLast() }
            repository.pinsKeys = [self.new]
            self.root = try repository.publishRoot()
            self.repository = repository
        }
    }

    /// An envelope with other signatures.
    private static func edited(_ list: [UInt8], _ edit: (inout [Envelope.Signature]) -> Void) throws -> [UInt8] {
        var envelope = try Envelope(list, of: .pins, limits: MetadataLimits())
        edit(&envelope.signatures)
        return envelope.bytes
    }

    @Test("version 2 after version 3: the new signer's signature is cut off before the root that removes the old one")
    func version2AfterVersion3TheNewSignersSignatureIsCutOff() throws {
        let change = try Change()
        var client = try change.repository.client()
        #expect(try client.accept(list: change.third, at: Story.start) == .newer)
        #expect(try code { try client.accept(list: change.second, at: Story.start) } == .rollback)
        #expect(try client.accept(list: change.cut, at: Story.start) == .signatureLost)
        #expect(client.outside?.bytes == change.third)

        try client.accept(root: change.root, at: Story.start)
        #expect(client.inForce?.held.status == .current)
        #expect(try code { try client.accept(list: change.second, at: Story.start) } == .rollback)
        #expect(client.inForce?.held.list.version == 3)
    }

    @Test("the same against a shipped list, which is held as well")
    func sameAgainstAShippedListWhichIsHeldAsWell() throws {
        let change = try Change()
        var client = try TrustState(bundledRoot: change.repository.roots[0], bundledList: change.third)
        #expect(try client.accept(list: change.cut, at: Story.start) == .signatureLost)
        #expect(client.outside == nil)
    }

    @Test(
        "a signature of an unknown signer must stay byte for byte: another one of that signer, or its hint, does not count"
    )
    func signatureOfAnUnknownSignerMustStayByteForByteAnotherOneOfThatSignerOrItsHint() throws {
        let change = try Change()
        var client = try change.repository.client()
        try _ = client.accept(list: change.third, at: Story.start)
        let elsewhere = try change.new.signature(over: [])
        for replacement in [[UInt8](repeating: 0, count: 64), [], elsewhere] {
            let forged = try Self.edited(change.third) { signatures in
                signatures[1] = Envelope.Signature(keyID: signatures[1].keyID, bytes: replacement)
            }
            #expect(try client.accept(list: forged, at: Story.start) == .signatureLost)
        }
        // The signer's own second signature: it cannot be verified here.
        let envelope = try Envelope(change.third, of: .pins, limits: MetadataLimits())
        let again = try change.new.signature(over: envelope.signedBytes)
        let resigned = try Self.edited(change.third) {
            $0[1] = Envelope.Signature(keyID: change.new.keyID, bytes: again)
        }
        #expect(resigned != change.third)
        #expect(try client.accept(list: resigned, at: Story.start) == .signatureLost)
        // It may stand beside the first one; hints and the order are not protected.
        let both = try Self.edited(change.third) { signatures in
            signatures.append(Envelope.Signature(keyID: change.new.keyID, bytes: again))
            signatures[1] = Envelope.Signature(keyID: "", bytes: signatures[1].bytes)
            signatures.reverse()
        }
        #expect(try client.accept(list: both, at: Story.start) == .resigned)
        #expect(client.outside?.bytes == both)
    }

    @Test(
        "a signer of the newest root may sign anew, and may not be left out, although the threshold is met without him"
    )
    func signerOfTheNewestRootMaySignAnewAndMayNotBeLeftOut() throws {
        var repository = try Story.repository(pinsKeys: (2, 1))
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        let anew = try repository.republishList()
        #expect(try client.accept(list: anew, at: Story.start) == .resigned)
        for key in repository.pinsKeys {
            let one = try repository.republishList(signedBy: [key])
            #expect(try client.accept(list: one, at: Story.start) == .signatureLost)
        }
        #expect(client.outside?.bytes == anew)
    }

    @Test("a key of the newest root that signs lists only after the next one may not be left out either")
    func keyOfTheNewestRootThatSignsListsOnlyAfterTheNextOneMayNotBeLeftOutEither() throws {
        var repository = try Story.repository()
        let old = repository.pinsKeys
        var client = try repository.client()
        let both = try repository.publishList(signedBy: old + repository.rootKeys)
        try _ = client.accept(list: both, at: Story.start)
        let one = try repository.republishList(signedBy: old)
        #expect(try client.accept(list: one, at: Story.start) == .signatureLost)
        repository.pinsKeys = repository.rootKeys
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.inForce?.held.status == .current)
    }

    @Test("signatures that hold only under keys of older roots may go: they are not needed any more")
    func signaturesThatHoldOnlyUnderKeysOfOlderRootsMayGoTheyAreNotNeededAnyMore() throws {
        let change = try Change()
        var client = try change.repository.client()
        try _ = client.accept(list: change.third, at: Story.start)
        try client.accept(root: change.root, at: Story.start)
        let tidied = try Self.edited(change.third) { $0.removeFirst() }
        #expect(try client.accept(list: tidied, at: Story.start) == .resigned)
        #expect(client.outside?.bytes == tidied)
        #expect(try client.accept(list: change.third, at: Story.start) == .resigned, "and they may come back")
        // The new signer's may not go, although the old one's is there.
        #expect(try code { try client.accept(list: change.cut, at: Story.start) } == .unsigned)
    }

    @Test("a held list that is not current bounds nothing")
    func heldListThatIsNotCurrentBoundsNothing() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let old = repository.pinsKeys
        let stranger = repository.newKey()
        try _ = client.accept(list: try repository.publishList(signedBy: old + [stranger]), at: Story.start)
        repository.pinsKeys = [repository.newKey()]
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.inForce?.held.status == .superseded)
        let list = try repository.republishList()
        #expect(try client.accept(list: list, at: Story.start) == .newer)
        #expect(client.outside?.bytes == list)
    }

    @Test("what stays: at the very first delivery a signature can be cut off; the full envelope mends it")
    func whatStaysAtTheVeryFirstDeliveryASignatureCanBeCutOffTheFullEnvelopeMendsIt() throws {
        let change = try Change()
        var client = try change.repository.client()
        #expect(try client.accept(list: change.cut, at: Story.start) == .newer)
        var mended = client
        #expect(try mended.accept(list: change.third, at: Story.start) == .resigned)
        try mended.accept(root: change.root, at: Story.start)
        #expect(try code { try mended.accept(list: change.second, at: Story.start) } == .rollback)
        // A client that never gets the full one does not notice.
        try client.accept(root: change.root, at: Story.start)
        #expect(client.inForce?.held.status == .superseded)
        #expect(try client.accept(list: change.second, at: Story.start) == .newer)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 3: a key of a later algorithm cuts no client off.
@Suite("Keys and signatures of unknown algorithms")
struct UnknownKeyTests {
    private static let later = MetadataKey.Algorithm(rawValue: "slh-dsa-sha2-128s")

    /// A root's payload with one more key, as the text of its member, and one more key id in the role of lists.
    private func payload(_ root: Root, key: String, keyID: String, inRole: Bool = true) throws -> [UInt8] {
        let text = String(decoding: root.payload, as: UTF8.self)
        var edited = text.replacingOccurrences(of: #""keys":{"#, with: #""keys":{"\#(keyID)":\#(key),"#)
        if inRole {
            edited = edited.replacingOccurrences(
                of: #""pins":{"keyids":["#, with: #""pins":{"keyids":["\#(keyID)","#)
        }
        try #require(edited != text)
        return Array(edited.utf8)
    }

    private func keyID(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }

    @Test("a root with a key of an algorithm to come is followed, and lists are taken as before")
    func rootWithAKeyOfAnAlgorithmToComeIsFollowedAndListsAreTakenAsBefore() throws {
        var repository = try Story.repository(pinsKeys: (2, 1))
        var client = try repository.client()
        let later = repository.newKey(Self.later)
        repository.pinsKeys.append(later)
        repository.rootKeys.append(repository.newKey(Self.later))
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.chain.newest.version == 2)
        #expect(client.chain.newest.keys[later.keyID]?.algorithm == Self.later)
        #expect(client.chain.newest.keys[later.keyID]?.isVerifiable == false)
        #expect(client.inForce?.held.status == .current)
        // Signed by all: the signature that cannot be verified is ignored, at any length.
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
        #expect(try repository.restarted(client).inForce?.held.list.version == 2)
        // The next root again.
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(client.chain.newest.version == 3)
    }

    @Test(
        "the id of such a key is the SHA-256 of its bytes, else the root is malformed; nothing else of it is looked at"
    )
    func idOfSuchAKeyIsTheSHA256OfItsBytesElseTheRootIsMalformed() throws {
        let repository = try Story.repository()
        for bytes in [[UInt8](repeating: 7, count: 1_974), [0x30], []] {
            let member = #"{"algorithm":"x","publicKey":"\#(Base64.encode(bytes))"}"#
            let payload = try self.payload(repository.root, key: member, keyID: self.keyID(bytes))
            let root = try Root(payload: payload)
            #expect(root.keys[self.keyID(bytes)]?.subjectPublicKeyInfo == bytes)
            #expect(try Root(payload: root.payload) == root, "it is written as it was read")
            let wrong = try self.payload(repository.root, key: member, keyID: self.keyID(bytes + [0]))
            #expect(try code { try Root(payload: wrong) } == .malformed)
        }
        for member in [
            #"{"algorithm":"x"}"#, #"{"algorithm":"x","publicKey":"AA"}"#, #"{"publicKey":""}"#,
            #"{"algorithm":7,"publicKey":""}"#,
        ] {
            let payload = try self.payload(repository.root, key: member, keyID: self.keyID([]))
            #expect(try code { try Root(payload: payload) } == .malformed, "\(member)")
        }
    }

    @Test("a threshold that only unknown keys could reach: what is signed is unsigned, or lacks signatures")
    func thresholdThatOnlyUnknownKeysCouldReachWhatIsSignedIsUnsigned() throws {
        var repository = try Story.repository()
        let client = try repository.client()
        let known = repository.pinsKeys
        let unknown = [repository.newKey(Self.later), repository.newKey(Self.later)]
        for (keys, threshold, expected) in [
            (unknown, 1, MetadataError.Code.unsigned), (known + unknown, 2, .thresholdNotMet),
            (known + unknown, 3, .thresholdNotMet),
        ] {
            var story = repository
            story.pinsKeys = keys
            story.pinsThreshold = threshold
            var copy = client
            try copy.accept(root: try story.publishRoot(), at: Story.start)
            #expect(copy.inForce?.held.status == .superseded)
            let list = try story.publishList()
            #expect(try code { try copy.accept(list: list, at: Story.start) } == expected)
        }
        // Above the number of key ids it is malformed as ever.
        repository.pinsKeys = known + unknown
        repository.pinsThreshold = 4
        let root = repository.nextRoot()
        #expect(try code { try Root(payload: root.payload) } == .malformed)
    }

    @Test("a root whose own role only unknown keys could meet is not followed: its clients would stop there")
    func rootWhoseOwnRoleOnlyUnknownKeysCouldMeetIsNotFollowed() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        repository.rootKeys = [repository.newKey(Self.later)]
        #expect(try code { try client.accept(root: try repository.publishRoot(), at: Story.start) } == .thresholdNotMet)
        #expect(client.chain.newest.version == 1)
    }

    @Test("one key's bytes under another algorithm: what held under the first holds no longer, asked in either order")
    func oneKeysBytesUnderAnotherAlgorithmWhatHeldUnderTheFirstHoldsNoLonger() throws {
        var repository = try Story.repository()
        let signer = repository.pinsKeys[0]
        let disguised = try #require(
            MetadataKey(algorithm: Self.later, publicKey: signer.publicKey.subjectPublicKeyInfo))
        #expect(disguised.keyID == signer.keyID)
        #expect(disguised != signer.publicKey)
        #expect(Set([disguised, signer.publicKey]).count == 2)
        let envelope = try Envelope(try repository.publishList(), of: .pins, limits: MetadataLimits())
        for keys in [[disguised, signer.publicKey], [signer.publicKey, disguised]] {
            #expect(envelope.signers(among: keys) == [signer.publicKey])
        }

        var client = try repository.client()
        let list = repository.lists[1]
        try _ = client.accept(list: list, at: Story.start)
        let root = try repository.publishRoot { $0.keys[signer.keyID] = disguised }
        try client.accept(root: root, at: Story.start)
        #expect(client.chain.revokedBefore == Story.start, "the key that lists were signed by is gone")
        #expect(client.inForce?.held.status == .superseded)
        #expect(try code { try client.accept(list: try repository.publishList(), at: Story.start) } == .unsigned)
        #expect(try repository.restarted(client).inForce?.held.status == .superseded)
    }

    @Test("signatures of any length up to 65,536 bytes are ignored where no key knows them, and no longer ones read")
    func signaturesOfAnyLengthUpTo65536BytesAreIgnoredWhereNoKeyKnowsThem() throws {
        var repository = try Story.repository()
        let client = try repository.client()
        let list = try repository.publishList()
        func offered(_ length: Int) throws -> [UInt8] {
            var envelope = try Envelope(list, of: .pins, limits: MetadataLimits())
            envelope.signatures.insert(
                Envelope.Signature(keyID: "x", bytes: [UInt8](repeating: 1, count: length)), at: 0)
            return envelope.bytes
        }
        for length in [0, 1, 63, 65, 3_309, 65_536] {
            var copy = client
            #expect(try copy.accept(list: try offered(length), at: Story.start) == .newer)
        }
        var copy = client
        #expect(try code { try copy.accept(list: try offered(65_537), at: Story.start) } == .malformed)
    }

    @Test("32 keys stay the limit, for any algorithms")
    func of32KeysStayTheLimitForAnyAlgorithms() throws {
        var repository = try Story.repository()
        repository.pinsKeys += (0..<30).map { _ in repository.newKey(Self.later) }
        #expect(try Root(payload: repository.nextRoot().payload).keys.count == 32)
        repository.pinsKeys.append(repository.newKey(Self.later))
        #expect(try code { try Root(payload: repository.nextRoot().payload) } == .malformed)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 3.1: a second demand, on keys that not every client can verify.
@Suite("Hybrid demands: ML-DSA beside the keys of today")
struct HybridDemandTests {
    /// What a client verifies whose system has no ML-DSA.
    private static let old: Set<MetadataKey.Algorithm> = [.ecdsaP256SHA256, .ed25519]

    private static let later = MetadataKey.Algorithm(rawValue: "slh-dsa-sha2-128s")

    /// A publisher whose root 2 has a hybrid demand for lists.
    private static func repository() throws -> RepositorySimulator {
        var repository = try Story.repository()
        repository.pinsHybrid = ([repository.newKey(.mlDSA65)], 1)
        try repository.publishRoot()
        return repository
    }

    private static func client(
        _ repository: RepositorySimulator, verifying algorithms: Set<MetadataKey.Algorithm>
    ) throws -> TrustState {
        try TrustState(
            bundledRoot: repository.roots[0], bundledList: repository.lists[0], verifying: algorithms)
    }

    /// A client that verifies ML-DSA, and one that does not.
    private static func clients(_ repository: RepositorySimulator) throws -> (new: TrustState, old: TrustState) {
        (
            try self.client(repository, verifying: MetadataKey.Algorithm.verifiable),
            try self.client(repository, verifying: self.old)
        )
    }

    @Test("a signature of ML-DSA-65 over a root and a list: of 3,309 bytes, under a key of 1,974")
    func signatureOfMLDSA65OverARootAndAListOf3309BytesUnderAKeyOf1974() throws {
        var repository = try Story.repository()
        let key = repository.newKey(.mlDSA65)
        #expect(key.publicKey.subjectPublicKeyInfo.count == 1_974)
        #expect(key.publicKey.isVerifiable)
        let signature = try key.signature(over: [1, 2, 3])
        #expect(signature.count == 3_309)
        #expect(key.publicKey.isValidSignature(signature, for: [1, 2, 3]))
        #expect(!key.publicKey.isValidSignature(signature, for: [1, 2, 4]))
        #expect(!key.publicKey.isValidSignature(signature.dropLast(), for: [1, 2, 3]))

        var client = try repository.client()
        repository.pinsKeys = [key]
        repository.rootKeys.append(repository.newKey(.mlDSA65))
        repository.rootThreshold = 2
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
        #expect(client.currentMark?.keyIDs == [key.keyID])
    }

    @Test("the form of an ML-DSA key is checked, whether the system can verify or not")
    func formOfAnMLDSAKeyIsCheckedWhetherTheSystemCanVerifyOrNot() throws {
        var repository = try Story.repository()
        let der = repository.newKey(.mlDSA65).publicKey.subjectPublicKeyInfo
        for algorithms in [MetadataKey.Algorithm.verifiable, Self.old] {
            func key(_ bytes: [UInt8]) -> MetadataKey? {
                MetadataKey(algorithm: .mlDSA65, publicKey: bytes, verifying: algorithms)
            }
            #expect(key(der)?.isVerifiable == algorithms.contains(.mlDSA65))
            // One byte more or less; ML-DSA-87's identifier; NULL parameters; a bit that is not used; the bare key.
            var other = der
            other[16] = 0x13
            var unused = der
            unused[21] = 1
            let null: [UInt8] = [0x30, 0x82, 0x07, 0xB4, 0x30, 0x0D] + der[6..<17] + [0x05, 0x00] + der[17...]
            for wrong in [Array(der.dropLast()), der + [0], other, unused, null, Array(der.dropFirst(22)), []] {
                #expect(key(wrong) == nil)
                #expect(MetadataKey(subjectPublicKeyInfo: wrong) == nil)
            }
        }
        #expect(MetadataKey(subjectPublicKeyInfo: der)?.algorithm == .mlDSA65)
        #expect(MetadataKey(algorithm: .ed25519, publicKey: der) == nil)
    }

    @Test("a list from outside: who can verify demands both signatures, who cannot demands the first alone")
    func listFromOutsideWhoCanVerifyDemandsBothSignatures() throws {
        var repository = try Self.repository()
        let (first, second) = (repository.pinsKeys, try #require(repository.pinsHybrid).keys)
        let both = try repository.publishList()
        let firstAlone = try repository.republishList(signedBy: first)
        let secondAlone = try repository.republishList(signedBy: second)
        let neither = try repository.republishList(signedBy: [repository.newKey()])
        var (new, old) = try Self.clients(repository)
        try new.accept(root: repository.roots[1], at: Story.start)
        try old.accept(root: repository.roots[1], at: Story.start)
        let expected: [([UInt8], new: MetadataError.Code?, old: MetadataError.Code?)] = [
            (both, nil, nil), (firstAlone, .thresholdNotMet, nil), (secondAlone, .thresholdNotMet, .unsigned),
            (neither, .unsigned, .unsigned),
        ]
        for (list, newCode, oldCode) in expected {
            var (newCopy, oldCopy) = (new, old)
            #expect(try code { try newCopy.accept(list: list, at: Story.start) } == newCode)
            #expect(try code { try oldCopy.accept(list: list, at: Story.start) } == oldCode)
        }
    }

    @Test("a root must meet the demands of the root before it and its own, when it comes and when it is loaded")
    func rootMustMeetTheDemandsOfTheRootBeforeItAndItsOwn() throws {
        var repository = try Story.repository()
        let hybrid = repository.newKey(.mlDSA65)
        repository.rootHybrid = ([hybrid], 1)
        // Its own demand: root 2 brings the key, and signs with it.
        let without = try repository.publishRoot(signedBy: repository.rootKeys)
        let payload = repository.root.payload
        let second = try Envelope(of: .root, payload: payload, signedBy: repository.rootKeys + [hybrid]).bytes
        var (new, old) = try Self.clients(repository)
        var copy = old
        try copy.accept(root: without, at: Story.start)
        #expect(try code { try new.accept(root: without, at: Story.start) } == .thresholdNotMet)
        #expect(try code { try new.load(root: without) } == .thresholdNotMet)
        try new.accept(root: second, at: Story.start)
        try old.accept(root: second, at: Story.start)
        // That of the root before: root 3 takes the key away.
        repository.rootHybrid = nil
        let third = try repository.publishRoot(signedBy: repository.rootKeys)
        let thirdOfBoth = try Envelope(
            of: .root, payload: repository.root.payload, signedBy: repository.rootKeys + [hybrid]
        ).bytes
        try old.accept(root: third, at: Story.start)
        #expect(try code { try new.accept(root: third, at: Story.start) } == .thresholdNotMet)
        #expect(try code { try new.load(root: third) } == .thresholdNotMet)
        try new.load(root: thirdOfBoth)
        #expect(new.chain.newest.version == 3)
    }

    @Test("one key among them that cannot be verified here: the first demand alone, on every system")
    func oneKeyAmongThemThatCannotBeVerifiedHereTheFirstDemandAloneOnEverySystem() throws {
        var repository = try Story.repository()
        repository.pinsHybrid = ([repository.newKey(.mlDSA65), repository.newKey(Self.later)], 1)
        try repository.publishRoot()
        let list = try repository.publishList(signedBy: repository.pinsKeys)
        var (new, _) = try Self.clients(repository)
        try new.accept(root: repository.roots[1], at: Story.start)
        #expect(try new.accept(list: list, at: Story.start) == .newer)
    }

    @Test(
        "what is current, what revokes, and marks go by the first demand: a hybrid one that comes or goes moves nothing"
    )
    func whatIsCurrentWhatRevokesAndMarksGoByTheFirstDemand() throws {
        var repository = try Story.repository()
        let list = try repository.publishList()
        var client = try repository.client()
        try _ = client.accept(list: list, at: Story.start)
        let mark = client.currentMark
        repository.pinsHybrid = ([repository.newKey(.mlDSA65)], 1)
        repository.time = Story.after(hours: 1)
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        for state in [client, try repository.restarted(client)] {
            #expect(state.inForce?.held.status == .current)
            #expect(state.inForce?.held.list.version == 2)
            #expect(state.currentMark == mark)
            #expect(state.chain.revokedBefore == nil)
        }
        repository.pinsHybrid = nil
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        #expect(client.chain.revokedBefore == nil)
        #expect(client.inForce?.held.status == .current)
    }

    @Test("what an app ships goes by the first demand; the lists that follow do not")
    func whatAnAppShipsGoesByTheFirstDemandTheListsThatFollowDoNot() throws {
        var repository = try Self.repository()
        repository.rootHybrid = ([repository.newKey(.mlDSA65)], 1)
        let root = try repository.publishRoot(signedBy: repository.rootKeys)
        let list = try repository.publishList(signedBy: repository.pinsKeys)
        var client = try TrustState(bundledRoot: root, bundledList: list)
        #expect(client.inForce?.held.status == .current)
        let next = try repository.publishList(signedBy: repository.pinsKeys)
        #expect(try code { try client.accept(list: next, at: Story.start) } == .thresholdNotMet)
    }

    @Test("a hybrid signature is not lost either, where its key is known and where it is not")
    func hybridSignatureIsNotLostEitherWhereItsKeyIsKnownAndWhereItIsNot() throws {
        var repository = try Self.repository()
        let full = try repository.publishList()
        let cut = try repository.republishList(signedBy: repository.pinsKeys)
        var (new, old) = try Self.clients(repository)
        for root in repository.roots.dropFirst() {
            try new.accept(root: root, at: Story.start)
            try old.accept(root: root, at: Story.start)
        }
        try _ = new.accept(list: full, at: Story.start)
        try _ = old.accept(list: full, at: Story.start)
        #expect(try code { try new.accept(list: cut, at: Story.start) } == .thresholdNotMet)
        #expect(try old.accept(list: cut, at: Story.start) == .signatureLost)
    }

    @Test("the member has the form of a role's own; a key in both is malformed; it is written as it was read")
    func memberHasTheFormOfARolesOwnAKeyInBothIsMalformedItIsWrittenAsItWasRead() throws {
        var repository = try Self.repository()
        let hybrid = try #require(repository.pinsHybrid).keys[0].keyID
        let root = try Root(payload: repository.root.payload)
        #expect(root.pins.hybrid == Role.Demand(keyIDs: [hybrid], threshold: 1))
        #expect(root.root.hybrid == nil)
        #expect(try Root(payload: root.payload) == root)
        #expect(root.unknownMembers.isEmpty)
        let text = String(decoding: root.payload, as: UTF8.self)
        let part = #""hybrid":{"keyids":["\#(hybrid)"],"threshold":1}"#
        try #require(text.contains(part))
        let first = repository.pinsKeys[0].keyID
        for wrong in [
            #""hybrid":{"keyids":["\#(first)"],"threshold":1}"#,
            #""hybrid":{"keyids":["\#(hybrid)","\#(first)"],"threshold":1}"#,
            #""hybrid":{"keyids":["\#(hybrid)","\#(hybrid)"],"threshold":1}"#,
            #""hybrid":{"keyids":["\#(hybrid)"],"threshold":2}"#, #""hybrid":{"keyids":["\#(hybrid)"],"threshold":0}"#,
            #""hybrid":{"keyids":["\#(hybrid)"]}"#, #""hybrid":{"keyids":[],"threshold":1}"#,
            #""hybrid":{"keyids":["00"],"threshold":1}"#, #""hybrid":{}"#, #""hybrid":null"#, #""hybrid":[]"#,
        ] {
            let payload = Array(text.replacingOccurrences(of: part, with: wrong).utf8)
            #expect(try code { try Root(payload: payload) } == .malformed, "\(wrong)")
        }
        repository.pinsHybrid = (repository.pinsKeys, 1)
        #expect(try code { try Root(payload: repository.nextRoot().payload) } == .malformed)
    }
}

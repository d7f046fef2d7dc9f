// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer

@Suite("Publishing")
struct PublicationTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)

    private func repository() throws -> RepositorySimulator {
        try RepositorySimulator(at: Self.start, rootKeys: (2, 1), pinsKeys: (2, 1))
    }

    @Test("a root and a list: both are there, or neither")
    func rootAndAListBothAreThereOrNeither() throws {
        let repository = try self.repository()
        var name = try PublishedName(anchor: repository.roots[0])
        #expect(throws: PublicationError.self) { try name.publish([repository.lists[0]], at: Self.start) }
        #expect(name.roots.isEmpty && name.list == nil)
        let changes = try name.publish([repository.roots[0], repository.lists[0]], at: Self.start)
        #expect(changes == [.root(1), .list(1)])
        #expect(name.list?.bytes == repository.lists[0])
        #expect(try name.publish([repository.roots[0], repository.lists[0]], at: Self.start).isEmpty)
    }

    @Test("a first root that is not the configured one is refused")
    func firstRootThatIsNotTheConfiguredOneIsRefused() throws {
        let repository = try self.repository()
        let other = try RepositorySimulator(at: Self.start, seed: 9)
        var name = try PublishedName(anchor: repository.roots[0])
        let refusal = #expect(throws: PublicationError.self) { try name.publish([other.roots[0]], at: Self.start) }
        #expect(refusal?.code.description == "root-gap")
        #expect(name.roots.isEmpty)
    }

    @Test("an older list and another one of the same version are conflicts")
    func olderListAndAnotherOneOfTheSameVersionAreConflicts() throws {
        var repository = try self.repository()
        var name = try PublishedName(anchor: repository.roots[0])
        let second = try repository.publishList { _ in }
        _ = try name.publish([repository.roots[0], second], at: Self.start)
        let rollback = #expect(throws: PublicationError.self) {
            try name.publish([repository.lists[0]], at: Self.start)
        }
        #expect(rollback?.code.status == 409)
        #expect(rollback?.code.description == "rollback")
        #expect(name.list?.list.version == 2)
    }

    @Test(
        "the list that is served with a signature cut off is a conflict: a publisher's token cannot take a signer away"
    )
    func listThatIsServedWithASignatureCutOffIsAConflict() throws {
        var repository = try self.repository()
        let stranger = repository.newKey()
        let full = try repository.republishList(signedBy: repository.pinsKeys + [stranger])
        var name = try PublishedName(anchor: repository.roots[0])
        _ = try name.publish([repository.roots[0], full], at: Self.start)
        for keys in [repository.pinsKeys, [repository.pinsKeys[0], stranger], [repository.pinsKeys[0]]] {
            let less = try repository.republishList(signedBy: keys)
            let refusal = #expect(throws: PublicationError.self) { try name.publish([less], at: Self.start) }
            #expect(refusal?.code == .signatureLost)
            #expect(refusal?.code.status == 409)
            #expect(refusal?.code.description == "signature-lost")
        }
        #expect(name.list?.bytes == full)
    }

    @Test("a root with a hybrid demand that the list which is served does not meet waits for a list that does")
    func rootWithAHybridDemandThatTheListWhichIsServedDoesNotMeetWaitsForAListThat() throws {
        var repository = try self.repository()
        var name = try PublishedName(anchor: repository.roots[0])
        _ = try name.publish([repository.roots[0], repository.lists[0]], at: Self.start)
        let quantum = repository.newKey(.mlDSA65)
        repository.pinsHybrid = ([quantum], 1)
        let root = try repository.publishRoot()
        let refusal = #expect(throws: PublicationError.self) { try name.publish([root], at: Self.start) }
        #expect(refusal?.code == .wouldRefuse)
        #expect(refusal?.code.status == 422)
        #expect(refusal?.code.description == "would-refuse")
        #expect(name.roots.count == 1)
        // With a list that both signed, or after it.
        var together = name
        let list = try repository.publishList { _ in }
        #expect(try together.publish([root, list], at: Self.start) == [.root(2), .list(2)])
        #expect(try name.publish([list], at: Self.start) == [.list(2)])
        #expect(try name.publish([root], at: Self.start) == [.root(2)])
    }

    @Test("the same payload and signatures spelled otherwise change nothing, not even the entity tag")
    func samePayloadAndSignaturesSpelledOtherwiseChangeNothingNotEvenTheEntityTag() throws {
        let repository = try self.repository()
        var name = try PublishedName(anchor: repository.roots[0])
        _ = try name.publish([repository.roots[0], repository.lists[0]], at: Self.start)
        var envelope = try Envelope(repository.lists[0], of: .pins, limits: MetadataLimits())
        envelope.signatures = envelope.signatures.reversed().map {
            Envelope.Signature(keyID: "", bytes: $0.bytes)
        }
        envelope.signatures.append(envelope.signatures[0])
        let blanks = Array("{   ".utf8) + repository.lists[0].dropFirst()
        for spelling in [envelope.bytes, blanks] {
            #expect(try name.publish([spelling], at: Self.start).isEmpty)
            #expect(name.list?.bytes == repository.lists[0])
        }
        // One signature more is another set.
        var more = repository
        let resigned = try more.republishList(signedBy: more.pinsKeys + [more.newKey()])
        var set = try Envelope(resigned, of: .pins, limits: MetadataLimits())
        set.signatures += envelope.signatures
        #expect(try name.publish([set.bytes], at: Self.start) == [.resigned(1)])
    }

    /// Four roots, each with a key more than the one before, and a list.
    private func fourRoots() throws -> RepositorySimulator {
        var repository = try self.repository()
        for _ in 2...4 {
            repository.rootKeys.append(repository.newKey(.ed25519))
            try repository.publishRoot()
        }
        return repository
    }

    private func bytes(_ name: PublishedName) -> [Int64: [UInt8]] {
        Dictionary(uniqueKeysWithValues: name.roots.map { ($0.root.version, $0.bytes) })
    }

    @Test("an app that ships root 3: the first publication is root 3 at its version; older roots are not asked for")
    func appThatShipsRoot3TheFirstPublicationIsRoot3AtItsVersion() throws {
        let repository = try self.fourRoots()
        let roots = repository.roots
        var name = try PublishedName(anchor: roots[2])
        for wrong in [[roots[3]], [roots[0], roots[1], roots[3]]] {
            let refusal = #expect(throws: PublicationError.self) { try name.publish(wrong, at: Self.start) }
            #expect(refusal?.code.description == "root-gap")
        }
        #expect(try name.publish(roots + [repository.lists[0]], at: Self.start) == [.root(3), .root(4), .list(1)])
        #expect(self.bytes(name) == [3: roots[2], 4: roots[3]])
        #expect(try name.publish(roots + [repository.lists[0]], at: Self.start).isEmpty)
        #expect(
            name.clients == [
                "clients that ship root 1: not served here, they stay on root 1",
                "clients that ship root 2: roots 3 to 4, then list 1, where keys of root 2 signed root 3",
                "clients that ship root 3: root 4, then list 1", "clients that ship root 4: list 1",
            ])
        // A stranger's older root is not passed over.
        var other = try RepositorySimulator(name: "com.example.other", at: Self.start, seed: 9)
        try other.publishRoot()
        #expect(throws: PublicationError.self) { try name.publish([other.roots[0]], at: Self.start) }
    }

    @Test("roots 1 and 2 are stored and the configuration moves to root 3: older clients are served as before")
    func roots1And2AreStoredAndTheConfigurationMovesToRoot3() throws {
        let repository = try self.fourRoots()
        let (roots, list) = (repository.roots, repository.lists[0])
        // Root 3 is configured before it is published, and after it.
        var name = try PublishedName(anchor: roots[2], roots: Array(roots[..<2]), list: list)
        #expect(self.bytes(name) == [1: roots[0], 2: roots[1]])
        #expect(name.list?.bytes == list)
        #expect(try name.publish([roots[2], roots[3]], at: Self.start) == [.root(3), .root(4)])
        name = try PublishedName(anchor: roots[2], roots: roots, list: list)
        #expect(name.roots.map(\.root.version) == [1, 2, 3, 4])
        #expect(name.clients.first == "clients that ship root 1: roots 2 to 4, then list 1")
        // A root that cannot be linked to the configured one is not served, and the error says what to do.
        for (anchor, stored, words) in [
            (roots[3], Array(roots[..<2]), "publish those between"), (roots[0], Array(roots[2...]), "configure root 3"),
        ] {
            let refusal = #expect(throws: MetadataError.self) { try PublishedName(anchor: anchor, roots: stored) }
            #expect(refusal?.code == .rootGap)
            #expect(refusal?.detail.contains(words) == true)
        }
        var fork = try self.repository()
        fork.rootKeys.append(fork.newKey(.ed25519))
        fork.rootKeys.append(fork.newKey(.ed25519))
        let second = try fork.publishRoot()
        #expect(throws: MetadataError.self) { try PublishedName(anchor: second, roots: roots) }
    }

    @Test("roots spelled otherwise are the same roots, the configured one as well; its configured spelling is served")
    func rootsSpelledOtherwiseAreTheSameRootsTheConfiguredOneAsWell() throws {
        let repository = try self.fourRoots()
        let spelled = try repository.roots.map { root in
            var envelope = try Envelope(root, of: .root, limits: MetadataLimits())
            envelope.signatures = envelope.signatures.reversed().map { .init(keyID: "", bytes: $0.bytes) }
            return envelope.bytes
        }
        #expect(spelled[1] != repository.roots[1])
        var name = try PublishedName(anchor: repository.roots[0])
        #expect(try name.publish(Array(spelled[..<1]), at: Self.start) == [.root(1)])
        #expect(self.bytes(name) == [1: repository.roots[0]])
        _ = try name.publish(repository.roots, at: Self.start)
        #expect(try name.publish(spelled, at: Self.start).isEmpty)
        #expect(name.roots.map(\.bytes) == repository.roots)
    }

    @Test("stored publications are loaded, and those that do not verify are said")
    func storedPublicationsAreLoadedAndThoseThatDoNotVerifyAreSaid() throws {
        let repository = try self.repository()
        let name = try PublishedName(
            anchor: repository.roots[0], roots: repository.roots, list: repository.lists[0])
        #expect(name.list?.list.version == 1)
        let other = try RepositorySimulator(at: Self.start, seed: 9)
        #expect(throws: MetadataError.self) {
            try PublishedName(anchor: repository.roots[0], roots: other.roots, list: nil)
        }
    }

    @Test("nothing, and a list that is not the last, are no publication")
    func nothingAndAListThatIsNotTheLastAreNoPublication() throws {
        let repository = try self.repository()
        var name = try PublishedName(anchor: repository.roots[0])
        #expect(throws: PublicationError.self) { try name.publish([], at: Self.start) }
        #expect(throws: PublicationError.self) {
            try name.publish([repository.lists[0], repository.roots[0]], at: Self.start)
        }
        #expect(throws: PublicationError.self) { try name.publish([[0x7b]], at: Self.start) }
        #expect(name.roots.isEmpty)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@Suite("Rollback: an older list is served again")
struct RollbackTests {
    @Test("an older list is refused, and what was held stays")
    func olderListIsRefusedAndWhatWasHeldStays() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let second = try repository.publishList()
        let third = try repository.publishList()
        #expect(try client.accept(list: third, at: Story.start) == .newer)
        let refused = try #require(try refusal { try client.accept(list: second, at: Story.start) })
        #expect(refused.code == .rollback)
        #expect(refused.code.suspectedAttack == "rollback")
        #expect(refused.isSigned)
        #expect(refused.kind == .pins)
        #expect(client.inForce?.held.bytes == third)
    }

    @Test("after a restart it is refused as before")
    func afterARestartItIsRefusedAsBefore() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let second = try repository.publishList()
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        var again = try repository.restarted(client)
        #expect(again.inForce?.held.list.version == 3)
        #expect(again.inForce?.source == .outside)
        #expect(try code { try again.accept(list: second, at: Story.start) } == .rollback)
    }

    @Test("a list older than the one that the app ships is refused, also where nothing was stored")
    func listOlderThanTheOneThatTheAppShipsIsRefusedAlsoWhereNothingWasStored() throws {
        var repository = try Story.repository()
        let second = try repository.publishList()
        let third = try repository.publishList()
        var client = try TrustState(bundledRoot: repository.roots[0], bundledList: third)
        #expect(try code { try client.accept(list: second, at: Story.start) } == .rollback)
        #expect(client.outside == nil)
    }

    @Test("an app update that ships a newer list than the stored one: the newer is in force and bounds the next")
    func appUpdateThatShipsANewerListThanTheStoredOne() throws {
        var repository = try Story.repository()
        let stored = try repository.publishList()
        let skipped = try repository.publishList()
        let shipped = try repository.publishList()
        var client = try TrustState(bundledRoot: repository.roots[0], bundledList: shipped)
        try client.load(list: stored)
        #expect(client.inForce?.source == .bundled)
        #expect(try code { try client.accept(list: skipped, at: Story.start) } == .rollback)
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
        #expect(client.inForce?.source == .outside)
    }

    @Test(
        "the state folder is deleted: a mark kept elsewhere still bounds what comes from outside, not what is shipped")
    func stateFolderIsDeletedAMarkKeptElsewhereStillBoundsWhatComesFromOutside() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let second = try repository.publishList()
        let third = try repository.publishList()
        try _ = client.accept(list: third, at: Story.start)
        let mark = try #require(client.currentMark)
        #expect(mark == VersionMark(name: "com.example.app", version: 3, keyIDs: repository.pinsKeys.map(\.keyID)))

        var emptied = try repository.client()
        emptied.mark = mark
        #expect(emptied.inForce?.held.list.version == 1)
        #expect(try code { try emptied.accept(list: second, at: Story.start) } == .rollback)
        #expect(try emptied.accept(list: third, at: Story.start) == .newer)
    }

    @Test("a mark is void when its keys sign no longer, and one of another name says nothing")
    func markIsVoidWhenItsKeysSignNoLongerAndOneOfAnotherNameSaysNothing() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let oldKeyIDs = repository.pinsKeys.map(\.keyID)
        client.mark = VersionMark(name: "com.example.other", version: 1_000, keyIDs: oldKeyIDs)
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)

        client.mark = VersionMark(name: "com.example.app", version: 1_000, keyIDs: oldKeyIDs)
        #expect(try code { try client.accept(list: try repository.publishList(), at: Story.start) } == .rollback)
        repository.pinsKeys = [repository.newKey()]
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
    }

    @Test("a list that was issued before the root that revoked a signer is refused, also when it is signed anew")
    func listThatWasIssuedBeforeTheRootThatRevokedASignerIsRefused() throws {
        var repository = try Story.repository()
        let old = repository.pinsKeys
        repository.pinsKeys = [repository.newKey()]
        // Signed by old and new keys, with a high version, but made before the root.
        let early = try repository.publishList(signedBy: old + repository.pinsKeys) { $0.version = 50 }
        repository.time = Story.after(hours: 1)
        let root = try repository.publishRoot()
        var client = try repository.client()
        try client.accept(root: root, at: repository.time)
        #expect(try code { try client.accept(list: early, at: repository.time) } == .rollback)
        // One issued in that very second is no earlier.
        let next = try repository.publishList { $0.version = 2 }
        #expect(try client.accept(list: next, at: repository.time) == .newer)
    }

    @Test("an older root, and the newest one again, are no next root")
    func olderRootAndTheNewestOneAgainAreNoNextRoot() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let second = try repository.publishRoot()
        try client.accept(root: second, at: Story.start)
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        #expect(try code { try client.accept(root: second, at: Story.start) } == .rollback)
        #expect(try code { try client.accept(root: repository.roots[2], at: Story.start) } == .rollback)
        #expect(client.chain.newest.version == 3)
    }
}

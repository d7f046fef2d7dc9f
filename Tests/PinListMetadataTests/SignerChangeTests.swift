// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@Suite("Signers come and go: current and superseded lists")
struct SignerChangeTests {
    @Test(
        "root on Monday, list on Wednesday: between them no client goes back to an older list, and none is without one")
    func rootOnMondayListOnWednesdayBetweenThemNoClientGoesBackToAnOlderList() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList { $0.version = 7 }, at: Story.start)

        repository.time = Story.after(days: 1)
        repository.pinsKeys = [repository.newKey()]
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        for client in [client, try repository.restarted(client)] {
            #expect(client.inForce?.held.list.version == 7)
            #expect(client.inForce?.held.status == .superseded)
            #expect(client.bundled?.status == .superseded)
        }
        // What the old signer still signs is not taken.
        let old = try repository.publishList(signedBy: [repository.newKey()])
        #expect(try code { try client.accept(list: old, at: repository.time) } == .unsigned)

        repository.time = Story.after(days: 3)
        try _ = client.accept(list: try repository.publishList { $0.version = 2 }, at: repository.time)
        #expect(client.inForce?.held.list.version == 2)
        #expect(client.inForce?.held.status == .current)
        #expect(try repository.restarted(client).inForce?.held.list.version == 2)
    }

    @Test("a planned change: list signed by old and new keys first, then the root; it is current throughout")
    func plannedChangeListSignedByOldAndNewKeysFirstThenTheRootItIsCurrentThroughout() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let old = repository.pinsKeys
        let new = repository.newKey(.ed25519)
        repository.time = Story.after(days: 1)
        let rootIssuedAt = repository.time
        try _ = client.accept(list: try repository.publishList(signedBy: old + [new]), at: repository.time)
        #expect(client.inForce?.held.status == .current)
        repository.pinsKeys = [new]
        try client.accept(root: try repository.publishRoot { $0.issuedAt = rootIssuedAt }, at: repository.time)
        #expect(client.inForce?.held.status == .current)
        #expect(client.inForce?.held.list.version == 2)
        #expect(client.currentMark?.keyIDs == [new.keyID])
    }

    @Test("adding a key supersedes nothing")
    func addingAKeySupersedesNothing() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        repository.time = Story.after(days: 1)
        repository.pinsKeys.append(repository.newKey())
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        #expect(client.chain.revokedBefore == nil)
        #expect(client.inForce?.held.status == .current)
        let byNew = try repository.publishList(signedBy: [repository.pinsKeys[1]])
        #expect(try client.accept(list: byNew, at: repository.time) == .newer)
    }

    @Test("a revoked signer's shipped list never beats a current one, however high its version")
    func revokedSignersShippedListNeverBeatsACurrentOneHoweverHighItsVersion() throws {
        var repository = try Story.repository()
        // The app ships a list that the thief made with the signer's key.
        let shipped = try repository.publishList {
            $0.version = 1_000_000
            $0.domains = []
        }
        repository.time = Story.after(days: 1)
        repository.pinsKeys = [repository.newKey()]
        let root = try repository.publishRoot()
        let list = try repository.publishList { $0.version = 2 }
        var client = try TrustState(bundledRoot: repository.roots[0], bundledList: shipped)
        #expect(client.inForce?.held.list.version == 1_000_000)
        try client.accept(root: root, at: repository.time)
        #expect(client.inForce?.source == .bundled, "until there is another one it stays")
        try _ = client.accept(list: list, at: repository.time)
        #expect(client.inForce?.source == .outside)
        #expect(client.inForce?.held.list.version == 2)
        #expect(!client.hasConflictingLists)
    }

    @Test("removing one of several signers supersedes what was issued before, also what the others had signed")
    func removingOneOfSeveralSignersSupersedesWhatWasIssuedBefore() throws {
        var repository = try Story.repository(pinsKeys: (3, 2))
        var client = try repository.client()
        let keys = repository.pinsKeys
        try _ = client.accept(list: try repository.publishList(signedBy: [keys[0], keys[1]]), at: Story.start)
        repository.time = Story.after(hours: 1)
        repository.pinsKeys = [keys[0], keys[1]]
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        #expect(client.inForce?.held.status == .superseded)
        // The same version again is no equivocation now, and no rollback.
        #expect(try client.accept(list: try repository.publishList { $0.version = 1 }, at: repository.time) == .newer)
    }

    @Test("of two superseded lists the higher version stays in force")
    func ofTwoSupersededListsTheHigherVersionStaysInForce() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList { $0.version = 5 }, at: Story.start)
        repository.time = Story.after(hours: 1)
        repository.pinsKeys = [repository.newKey()]
        let root = try repository.publishRoot()
        try client.accept(root: root, at: repository.time)
        #expect(client.inForce?.held.list.version == 5)
        // An app update that ships a still higher one of the old signer.
        var updated = try TrustState(bundledRoot: repository.roots[0], bundledList: repository.lists[1])
        try updated.load(root: root)
        try updated.load(list: repository.lists[0])
        #expect(updated.inForce?.held.list.version == 5)
        #expect(updated.inForce?.source == .bundled)
    }

    @Test("a revoking root with a wrong time is put right by the next one that revokes")
    func revokingRootWithAWrongTimeIsPutRightByTheNextOneThatRevokes() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        repository.pinsKeys = [repository.newKey(), repository.newKey()]
        repository.time = Story.after(hours: 20)
        try client.accept(root: try repository.publishRoot(), at: Story.start)
        repository.time = Story.after(hours: 2)
        let between = try repository.publishList(signedBy: [repository.pinsKeys[0]])
        #expect(try code { try client.accept(list: between, at: Story.after(hours: 2)) } == .rollback)
        repository.pinsKeys.removeLast()
        try client.accept(root: try repository.publishRoot(), at: Story.after(hours: 2))
        #expect(try client.accept(list: between, at: Story.after(hours: 2)) == .newer)
    }

    @Test("a key that is taken away and given back: what was issued before it went stays superseded")
    func keyThatIsTakenAwayAndGivenBackWhatWasIssuedBeforeItWentStaysSuperseded() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let old = repository.pinsKeys
        repository.time = Story.after(hours: 1)
        repository.pinsKeys = [repository.newKey()]
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        repository.pinsKeys += old
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        #expect(client.inForce?.held.status == .superseded)
        #expect(try code { try client.accept(list: repository.lists[0], at: repository.time) } == .rollback)
    }

    @Test("lost root keys: an app update with a new shipped root; what is stored under the old one is dropped")
    func lostRootKeysAnAppUpdateWithANewShippedRoot() throws {
        var lost = try Story.repository(seed: 1)
        try lost.publishRoot()
        let stored = try lost.publishList { $0.version = 9 }
        let renewed = try Story.repository(seed: 2)
        var client = try renewed.client()
        #expect(try code { try client.load(root: lost.roots[1]) } == .unsigned)
        #expect(try code { try client.load(list: stored) } == .unsigned)
        #expect(client.inForce?.source == .bundled)
        #expect(client.chain.newest.version == 1)
    }

    @Test("an app update that ships the newest root: the stored ones up to it are not needed")
    func appUpdateThatShipsTheNewestRootTheStoredOnesUpToItAreNotNeeded() throws {
        var repository = try Story.repository()
        try repository.publishRoot()
        try repository.publishRoot()
        var client = try TrustState(bundledRoot: repository.roots[1], bundledList: repository.lists[0])
        #expect(try code { try client.load(root: repository.roots[0]) } == .rollback)
        #expect(try code { try client.load(root: repository.roots[1]) } == .rollback)
        try client.load(root: repository.roots[2])
        #expect(client.chain.newest.version == 3)
    }
}

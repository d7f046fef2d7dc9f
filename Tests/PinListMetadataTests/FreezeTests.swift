// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@Suite("Freeze and fast-forward: time and versions that an attacker chooses")
struct FreezeTests {
    @Test("freeze: a list that has expired is refused from outside; in the second before it ends it is not")
    func freezeAListThatHasExpiredIsRefusedFromOutsideInTheSecondBeforeItEndsItIsNot() throws {
        var repository = try Story.repository()
        let list = try repository.publishList()
        let end = Story.start.advanced(by: RepositorySimulator.listValidity)
        for (time, expected) in [(end.advanced(by: -1), nil), (end, .expired)] as [(Timestamp, MetadataError.Code?)] {
            var client = try repository.client()
            let refused = try refusal { try client.accept(list: list, at: time) }
            #expect(refused?.code == expected)
            #expect(refused?.expired == (expected == nil ? nil : .pins))
            #expect(client.inForce?.held.list.version == (expected == nil ? 2 : 1))
        }
    }

    @Test("a list in force that expires is stale, and stays in force through a restart years later")
    func listInForceThatExpiresIsStaleAndStaysInForceThroughARestartYearsLater() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        let end = Story.start.advanced(by: RepositorySimulator.listValidity)
        #expect(!client.isStale(end.advanced(by: -1)))
        #expect(client.isStale(end))
        let again = try repository.restarted(client)
        #expect(again.inForce?.held.list.version == 2)
        #expect(again.isStale(Story.after(days: 10_000)))
    }

    @Test("an expired root refuses what comes from outside and says so; what is held stays, and a new root is taken")
    func expiredRootRefusesWhatComesFromOutsideAndSaysSoWhatIsHeldStays() throws {
        var repository = try Story.repository()
        let late = Story.start.advanced(by: RepositorySimulator.rootValidity)
        var client = try repository.client()
        #expect(client.inForce != nil)
        repository.time = late
        let list = try repository.publishList()
        let refused = try #require(try refusal { try client.accept(list: list, at: late) })
        #expect(refused.code == .expired)
        #expect(refused.expired == .root)
        #expect(client.inForce?.held.list.version == 1)
        #expect(try client.accept(list: list, at: late.advanced(by: -1)) == .newer)

        var other = try repository.client()
        try other.accept(root: try repository.publishRoot(), at: late)
        #expect(try other.accept(list: list, at: late) == .newer)
    }

    @Test("only the newest root's end counts: one between that has expired is walked over")
    func onlyTheNewestRootsEndCountsOneBetweenThatHasExpiredIsWalkedOver() throws {
        var repository = try Story.repository()
        try repository.publishRoot { $0.expiresAt = Story.after(hours: 1) }
        try repository.publishRoot()
        var client = try repository.client()
        let now = Story.after(days: 1)
        for root in repository.roots.dropFirst() { try client.accept(root: root, at: now) }
        #expect(try client.accept(list: try repository.publishList(), at: now) == .newer)
    }

    @Test("a root's end is evaluated by now alone, not by a list issued later")
    func rootsEndIsEvaluatedByNowAloneNotByAListIssuedLater() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        try client.accept(
            root: try repository.publishRoot { $0.expiresAt = Story.after(hours: 12) }, at: Story.start)
        repository.time = Story.after(hours: 23)
        try _ = client.accept(list: try repository.publishList(), at: Story.start)
        #expect(client.referenceTime(Story.start) == Story.after(hours: 23))
        #expect(try client.accept(list: try repository.publishList(), at: Story.start) == .newer)
    }

    @Test("time fast-forward: a list from the future is refused beyond a day, and so is a root")
    func timeFastForwardAListFromTheFutureIsRefusedBeyondADayAndSoIsARoot() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        repository.time = Story.after(days: 1).advanced(by: 1)
        let list = try repository.publishList()
        let root = try repository.publishRoot()
        #expect(try code { try client.accept(list: list, at: Story.start) } == .issuedInFuture)
        #expect(try code { try client.accept(root: root, at: Story.start) } == .issuedInFuture)
        #expect(client.chain.newest.version == 1)
        // A second later both are a day ahead exactly.
        #expect(try code { try client.accept(root: root, at: Story.start.advanced(by: 1)) } == nil)
        #expect(try client.accept(list: list, at: Story.start.advanced(by: 1)) == .newer)
    }

    @Test("a clock set back is not believed before the build date, nor before the list in force was issued")
    func clockSetBackIsNotBelievedBeforeTheBuildDateNorBeforeTheListInForceWasIssued() throws {
        var repository = try Story.repository()
        repository.time = Story.after(days: 30)
        let list = try repository.publishList { $0.expiresAt = Story.after(days: 31) }
        repository.time = Story.after(days: 60)
        let newest = try repository.publishList()
        var client = try repository.client(buildDate: Story.after(days: 60))
        let longAgo = Timestamp(secondsSince1970: 0)
        #expect(client.now(longAgo) == Story.after(days: 60))
        #expect(try code { try client.accept(list: list, at: longAgo) } == .expired)
        #expect(try client.accept(list: newest, at: longAgo) == .newer)
        #expect(client.referenceTime(longAgo) == Story.after(days: 60))
        #expect(client.referenceTime(Story.after(days: 61)) == Story.after(days: 61))
    }

    @Test("a short list is refused once a later one is held, at any time of the clock")
    func shortListIsRefusedOnceALaterOneIsHeldAtAnyTimeOfTheClock() throws {
        var repository = try Story.repository()
        repository.time = Story.after(days: 10)
        var client = try repository.client()
        try _ = client.accept(list: try repository.publishList(), at: Story.after(days: 10))
        // Issued and expired before the one that is held was issued.
        let old = try repository.publishList {
            $0.issuedAt = Story.start
            $0.expiresAt = Story.after(days: 9)
        }
        #expect(try code { try client.accept(list: old, at: Story.start) } == .expired)
    }

    @Test(
        "version fast-forward by a stolen key: the root that removes the key frees version and time, after a restart too"
    )
    func versionFastForwardByAStolenKeyTheRootThatRemovesTheKeyFreesVersionAndTime() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        // The thief signs the highest version there is, as far ahead as clients take it.
        repository.time = Story.after(hours: 24)
        let stolen = repository.pinsKeys
        let forged = try repository.publishList {
            $0.version = MetadataLimits.version
            $0.domains = []
        }
        #expect(try client.accept(list: forged, at: Story.start) == .newer)
        #expect(client.referenceTime(Story.start) == Story.after(hours: 24))

        repository.time = Story.after(hours: 2)
        repository.pinsKeys = [repository.newKey(.ed25519)]
        try client.accept(root: try repository.publishRoot(), at: repository.time)
        // The thief's list stays in force until there is another one, but it bounds nothing and moves no time.
        #expect(client.inForce?.held.status == .superseded)
        #expect(client.referenceTime(Story.after(hours: 2)) == Story.after(hours: 2))
        #expect(client.currentMark == nil)

        let restored = try repository.publishList {
            $0.version = 2
            $0.domains = [try? Story.entry("api.example.com")].compactMap { $0 }
        }
        var again = try repository.restarted(client)
        #expect(try again.accept(list: restored, at: repository.time) == .newer)
        #expect(try client.accept(list: restored, at: repository.time) == .newer)
        #expect(client.inForce?.held.list.version == 2)
        #expect(client.inForce?.held.status == .current)
        // And the thief cannot come back.
        #expect(try code { try client.accept(list: forged, at: repository.time) } == .unsigned)
        let more = try Envelope(of: .pins, payload: repository.list.payload, signedBy: stolen).bytes
        #expect(try code { try client.accept(list: more, at: repository.time) } == .unsigned)
    }

    @Test("no clock, however wrong, ends the process", arguments: [Int64.min, -1, 0, .max])
    func noClockHoweverWrongEndsTheProcess(seconds: Int64) throws {
        var repository = try Story.repository()
        var client = try repository.client()
        let clock = Timestamp(secondsSince1970: seconds)
        let list = try repository.publishList()
        let root = try repository.publishRoot()
        let isLate = seconds == .max
        #expect(try code { try client.accept(list: list, at: clock) } == (isLate ? .expired : .issuedInFuture))
        #expect(try code { try client.accept(root: root, at: clock) } == (isLate ? nil : .issuedInFuture))
        #expect(client.isStale(clock) == isLate)
    }
}

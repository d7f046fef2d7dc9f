// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinRotation
import Testing

@Suite("The next step of a rotation")
struct OutlookTests {
    private static let now = PlanFixture.day(40)

    private static func outlook(
        _ state: RotationState, sightings: KeySightings? = nil, _ edit: (inout RotationFacts) throws -> Void = { _ in }
    ) throws -> RotationOutlook {
        var plan = try PlanFixture.plan(in: state)
        plan.sightings = sightings
        var facts = RotationFacts()
        facts.isNewPublished = state == .switched
        try edit(&facts)
        return plan.outlook(facts, at: self.now)
    }

    @Test("a plan that nothing speaks against is announced; a denied key is not")
    func planThatNothingSpeaksAgainstIsAnnouncedADeniedKeyIsNot() throws {
        let open = try Self.outlook(.planned)
        #expect(open.next == .announced && open.gate == .holds && open.missing.isEmpty)
        let closed = try Self.outlook(.planned) { $0.objections = ["the new key is denied"] }
        #expect(closed.gate == .closed && closed.missing == ["the new key is denied"] && closed.earliest == nil)
        #expect(closed.missingSince == PlanFixture.start)
    }

    @Test(
        "an announced key is ready when the gate says safe, and at nothing less",
        arguments: [(.safe, .holds), (.unsafe, .closed), (.unknown, .unknown), (nil, .unknown)]
            as [(GateVerdict?, RotationOutlook.Gate)])
    func announcedKeyIsReadyWhenTheGateSaysSafeAndAtNothingLess(verdict: GateVerdict?, gate: RotationOutlook.Gate)
        throws
    {
        let outlook = try Self.outlook(.announced) { facts in
            facts.isNewPublished = true
            facts.gate = try verdict.map { try PlanFixture.gate($0) }
        }
        #expect(outlook.next == .ready && outlook.gate == gate)
        #expect(outlook.missing.isEmpty == (gate == .holds))
    }

    @Test("a safe gate does not help a pin that is in no published list")
    func safeGateDoesNotHelpAPinThatIsInNoPublishedList() throws {
        let outlook = try Self.outlook(.announced) { $0.gate = try PlanFixture.gate(.safe) }
        #expect(outlook.gate == .closed && outlook.missing.count == 1)
    }

    @Test("an announced key that one server presents already is said with the server's address")
    func announcedKeyThatOneServerPresentsAlreadyIsSaidWithTheServersAddress() throws {
        let outlook = try Self.outlook(.announced) { facts in
            facts.addresses = [PlanFixture.address("192.0.2.1:443", [PlanFixture.new])]
        }
        #expect(outlook.advice.contains("192.0.2.1:443"))
    }

    @Test("one address of two with the new key is not enough, and an address that is silent is not known")
    func oneAddressOfTwoWithTheNewKeyIsNotEnoughAndAnAddressThatIsSilentIsNotKnown() throws {
        let both = try Self.outlook(.ready) { facts in
            facts.addresses = [
                PlanFixture.address("a", [PlanFixture.new, nil]), PlanFixture.address("b", [PlanFixture.new]),
            ]
        }
        #expect(both.next == .switched && both.gate == .holds)
        let one = try Self.outlook(.ready) { facts in
            facts.addresses = [
                PlanFixture.address("a", [PlanFixture.new]), PlanFixture.address("b", [PlanFixture.old]),
            ]
        }
        #expect(one.gate == .closed && one.missing == ["b does not serve the new key"])
        let silent = try Self.outlook(.ready) { facts in
            facts.addresses = [PlanFixture.address("a", [PlanFixture.new]), PlanFixture.address("b", nil)]
        }
        #expect(silent.gate == .unknown && silent.missing.count == 1)
        let none = try Self.outlook(.ready) { $0.addresses = [] }
        #expect(none.gate == .unknown)
        #expect(try Self.outlook(.ready).gate == .unknown)
    }

    @Test("the probes of a day ago count, and those of two days ago do not")
    func probesOfADayAgoCountAndThoseOfTwoDaysAgoDoNot() throws {
        let fresh = KeySightings(at: PlanFixture.day(39), newEverywhereSince: PlanFixture.day(39))
        #expect(try Self.outlook(.ready, sightings: fresh).gate == .holds)
        let stale = KeySightings(at: PlanFixture.day(38), newEverywhereSince: PlanFixture.day(38))
        #expect(try Self.outlook(.ready, sightings: stale).gate == .unknown)
        #expect(try Self.outlook(.ready, sightings: KeySightings(at: PlanFixture.day(40))).gate == .closed)
    }

    @Test(
        "a gate that is no longer safe leads back to announced, unless every address has the new key already",
        arguments: [GateVerdict.unsafe, .unknown])
    func gateThatIsNoLongerSafeLeadsBackToAnnounced(verdict: GateVerdict) throws {
        let back = try Self.outlook(.ready) { facts in
            facts.gate = try PlanFixture.gate(verdict)
            facts.addresses = [PlanFixture.address("a", [PlanFixture.old])]
        }
        #expect(back.isBack && back.next == .announced && back.missing.count == 1)
        let done = try Self.outlook(.ready) { facts in
            facts.gate = try PlanFixture.gate(verdict)
            facts.addresses = [PlanFixture.address("a", [PlanFixture.new])]
        }
        #expect(!done.isBack && done.next == .switched && done.gate == .holds)
        let safe = try Self.outlook(.ready) { facts in
            facts.gate = try PlanFixture.gate(.safe)
            facts.addresses = [PlanFixture.address("a", [PlanFixture.old])]
        }
        #expect(!safe.isBack && safe.gate == .closed)
    }

    @Test(
        "an address that cannot be asked does not lead back where all others are switched: the old key may be the stolen one"
    )
    func addressThatCannotBeAskedDoesNotLeadBackWhereAllOthersAreSwitched() throws {
        func outlook(_ gap: KeySightings.Address) throws -> RotationOutlook {
            try Self.outlook(.ready) { facts in
                facts.gate = try PlanFixture.gate(.unsafe)
                facts.addresses = [PlanFixture.address("a", [PlanFixture.new]), gap]
            }
        }
        let stays = try outlook(KeySightings.Address("b", unseen: "could not be asked: no route"))
        #expect(!stays.isBack && stays.next == .switched && stays.gate == .unknown)
        #expect(try outlook(KeySightings.Address("b", pins: nil)).isBack)
    }

    @Test("old pins go when no old key was seen for 14 days, and not a second before")
    func oldPinsGoWhenNoOldKeyWasSeenFor14DaysAndNotASecondBefore() throws {
        func sightings(_ since: Timestamp) -> KeySightings {
            KeySightings(at: Self.now, newEverywhereSince: since, oldNowhereSince: since)
        }
        #expect(try Self.outlook(.switched, sightings: sightings(PlanFixture.day(26))).gate == .holds)
        let early = Timestamp(secondsSince1970: PlanFixture.day(26).secondsSince1970 + 1)
        let outlook = try Self.outlook(.switched, sightings: sightings(early))
        #expect(outlook.gate == .closed)
        #expect(outlook.earliest == Timestamp(secondsSince1970: Self.now.secondsSince1970 + 1))
        #expect(try Self.outlook(.switched).gate == .unknown)
        #expect(try Self.outlook(.switched, sightings: KeySightings(at: Self.now)).gate == .closed)
        let stale = KeySightings(at: PlanFixture.day(38), oldNowhereSince: PlanFixture.day(10))
        #expect(try Self.outlook(.switched, sightings: stale).gate == .unknown)
    }

    @Test(
        "an open alarm keeps the old pins, and so does a service that cannot be asked, a missing backup, an old key now"
    )
    func openAlarmKeepsTheOldPinsAndSoDoesAServiceThatCannotBeAsked() throws {
        let quiet = KeySightings(
            at: Self.now, newEverywhereSince: PlanFixture.day(20), oldNowhereSince: PlanFixture.day(20))
        let open = try Self.outlook(.switched, sightings: quiet) { $0.failureAlarm = .open("40 failures") }
        #expect(open.gate == .closed && open.missing.contains { $0.contains("40 failures") })
        let unknown = try Self.outlook(.switched, sightings: quiet) { $0.failureAlarm = .unknown("no answer") }
        #expect(unknown.gate == .unknown)
        let silent = try Self.outlook(.switched, sightings: quiet) { $0.addresses = [PlanFixture.address("a", nil)] }
        #expect(silent.gate == .unknown)
        // The probe that found none was dated ahead, and what is seen now did not join it.
        let ahead = KeySightings(at: PlanFixture.day(43), oldNowhereSince: PlanFixture.day(20))
        let served = try Self.outlook(.switched, sightings: ahead) { facts in
            facts.addresses = [
                PlanFixture.address("a", [PlanFixture.new]), PlanFixture.address("b", [PlanFixture.old]),
            ]
        }
        #expect(served.gate == .closed && served.missing == ["b serves an old key"])
        let backup = try Self.outlook(.switched, sightings: quiet) { $0.objections = ["no backup"] }
        #expect(backup.gate == .closed && backup.missing == ["no backup"])
    }

    @Test("old pins stay where the published list lost the new one: the servers would have no pinned key")
    func oldPinsStayWhereThePublishedListLostTheNewOne() throws {
        let quiet = KeySightings(
            at: Self.now, newEverywhereSince: PlanFixture.day(20), oldNowhereSince: PlanFixture.day(20))
        #expect(try Self.outlook(.switched, sightings: quiet).gate == .holds)
        let lost = try Self.outlook(.switched, sightings: quiet) { $0.isNewPublished = false }
        #expect(lost.gate == .closed && lost.missing.count == 1 && lost.earliest == nil)
    }

    @Test("what a look cannot see keeps the next step away, and says why: a proxy hides the server with the old key")
    func whatALookCannotSeeKeepsTheNextStepAwayAndSaysWhy() throws {
        let hidden = KeySightings.Address("api.example.com", unseen: "answered through a proxy")
        let unreached = KeySightings.Address("c", unseen: "could not be asked")
        let quiet = KeySightings(
            at: Self.now, newEverywhereSince: PlanFixture.day(20), oldNowhereSince: PlanFixture.day(20))
        let addresses = [
            PlanFixture.address("a", [PlanFixture.new]), hidden, PlanFixture.address("b", nil), unreached,
            PlanFixture.address("d", nil),
        ]
        let ready = try Self.outlook(.ready) { $0.addresses = addresses }
        #expect(ready.gate == .unknown && ready.next == .switched)
        #expect(
            ready.missing == [
                "api.example.com answered through a proxy", "b did not answer with a valid chain",
                "c could not be asked", "d did not answer with a valid chain",
            ])
        let switched = try Self.outlook(.switched, sightings: quiet) { $0.addresses = addresses }
        #expect(switched.gate == .unknown)
        #expect(
            switched.missing == [
                "api.example.com answered through a proxy", "b, d did not answer with a valid chain",
                "c could not be asked",
            ])
        // What is seen beside it is a fact.
        let served = try Self.outlook(.switched, sightings: quiet) { facts in
            facts.addresses = [PlanFixture.address("a", [PlanFixture.old]), hidden]
        }
        #expect(served.gate == .closed && served.missing.count == 2)
        let joined = KeySightings.joining(
            [PlanFixture.address("a", [PlanFixture.new]), hidden], at: PlanFixture.day(41),
            new: PlannedKey(PlanFixture.new), old: [PlannedKey(PlanFixture.old)], to: quiet)
        #expect(joined == quiet)
    }

    @Test("each state says the way back; nothing comes after the last ones", arguments: RotationState.allCases)
    func eachStateSaysTheWayBackNothingComesAfterTheLastOnes(state: RotationState) throws {
        let outlook = try Self.outlook(state)
        #expect(!outlook.wayBack.isEmpty && !outlook.advice.isEmpty)
        #expect((outlook.next == nil) == state.isFinal)
    }

    @Test("looks join when they are at most a week apart; a silent address makes no look")
    func looksJoinWhenTheyAreAtMostAWeekApartASilentAddressMakesNoLook() throws {
        let (new, old) = (PlannedKey(PlanFixture.new), [PlannedKey(PlanFixture.old)])
        func look(_ day: Int64, _ pins: [[Pin?]?], _ before: KeySightings?) -> KeySightings? {
            KeySightings.joining(
                pins.map { PlanFixture.address("a", $0) }, at: PlanFixture.day(day), new: new, old: old, to: before)
        }
        let first = look(0, [[PlanFixture.new], [PlanFixture.new]], nil)
        #expect(
            first
                == KeySightings(
                    at: PlanFixture.day(0), newEverywhereSince: PlanFixture.day(0), oldNowhereSince: PlanFixture.day(0))
        )
        let second = look(7, [[PlanFixture.new]], first)
        #expect(second?.oldNowhereSince == PlanFixture.day(0) && second?.at == PlanFixture.day(7))
        #expect(look(15, [[PlanFixture.new]], second)?.oldNowhereSince == PlanFixture.day(15))
        #expect(look(8, [[PlanFixture.new], nil], second) == second)
        #expect(look(8, [], second) == second)
        // A clock is wrong: the old key counts, and the later time stays.
        #expect(look(6, [[PlanFixture.old]], second) == KeySightings(at: PlanFixture.day(7)))
        let mixed = look(8, [[PlanFixture.new], [PlanFixture.other, PlanFixture.old]], second)
        #expect(mixed == KeySightings(at: PlanFixture.day(8)))
    }

    @Test("an old key seen while another address is silent begins the 14 days anew: its users are not locked out")
    func oldKeySeenWhileAnotherAddressIsSilentBeginsThe14DaysAnewItsUsersAreNotLockedOut() throws {
        let (new, old) = (PlannedKey(PlanFixture.new), [PlannedKey(PlanFixture.old)])
        func look(_ day: Int64, _ pins: [[Pin?]?], _ before: KeySightings?) -> KeySightings? {
            KeySightings.joining(
                pins.map { PlanFixture.address("a", $0) }, at: PlanFixture.day(day), new: new, old: old, to: before)
        }
        var seen = look(26, [[PlanFixture.new], [PlanFixture.new]], nil)
        seen = look(33, [[PlanFixture.new], [PlanFixture.new]], seen)
        // One server is down, and the other one has the old key again.
        seen = look(38, [nil, [PlanFixture.old]], seen)
        #expect(seen == KeySightings(at: PlanFixture.day(33)))
        seen = look(40, [[PlanFixture.new], [PlanFixture.new]], seen)
        #expect(seen?.oldNowhereSince == PlanFixture.day(40) && seen?.newEverywhereSince == PlanFixture.day(40))
        #expect(try Self.outlook(.switched, sightings: seen).gate == .closed)
        #expect(look(1, [nil, [PlanFixture.old]], nil) == nil)
    }

    @Test("after a look of a clock that was days ahead an old key that is seen counts, and the 14 days begin anew")
    func afterALookOfAClockThatWasDaysAheadAnOldKeyThatIsSeenCounts() throws {
        let (new, old) = (PlannedKey(PlanFixture.new), [PlannedKey(PlanFixture.old)])
        func look(_ day: Int64, _ pins: [[Pin?]?], _ before: KeySightings?, seconds: Int64 = 0) -> KeySightings? {
            KeySightings.joining(
                pins.map { PlanFixture.address("a", $0) },
                at: Timestamp(secondsSince1970: PlanFixture.day(day).secondsSince1970 + seconds), new: new, old: old,
                to: before)
        }
        let ahead = KeySightings(
            at: PlanFixture.day(43), newEverywhereSince: PlanFixture.day(20), oldNowhereSince: PlanFixture.day(20))
        let seen = look(40, [[PlanFixture.new], [PlanFixture.old]], ahead)
        #expect(seen == KeySightings(at: PlanFixture.day(43)))
        // Nothing says which clock was right: the 14 days begin when both of them are past that day.
        #expect(look(41, [[PlanFixture.new]], seen) == seen)
        #expect(look(44, [[PlanFixture.new]], seen)?.oldNowhereSince == PlanFixture.day(44))
        #expect(look(40, [[PlanFixture.new]], ahead) == ahead)
        // Over a week ahead: nobody waits for that day.
        let far = KeySightings(
            at: PlanFixture.day(48), newEverywhereSince: PlanFixture.day(20), oldNowhereSince: PlanFixture.day(20))
        #expect(look(40, [[PlanFixture.old]], far) == KeySightings(at: PlanFixture.day(40)))
        #expect(look(40, [[PlanFixture.new]], far)?.oldNowhereSince == PlanFixture.day(40))
        #expect(look(40, [nil, [PlanFixture.old]], ahead) == KeySightings(at: PlanFixture.day(43)))
        #expect(try Self.outlook(.switched, sightings: ahead).gate == .unknown)
        #expect(
            try Self.outlook(.ready, sightings: ahead).missing == [
                "the last look at every address is of 2027-01-03T00:00:00Z"
            ])
        // Of a machine whose clock is minutes behind an old key counts, too, and joins.
        let now = try #require(look(40, [[PlanFixture.new]], look(33, [[PlanFixture.new]], nil)))
        #expect(look(40, [[PlanFixture.new]], now, seconds: -600) == now)
        #expect(look(40, [[PlanFixture.old]], now, seconds: -600) == KeySightings(at: PlanFixture.day(40)))
        // The new key was everywhere after that look.
        let first = look(40, [[PlanFixture.new]], nil)
        #expect(look(40, [[PlanFixture.old]], first, seconds: -600) == first)
    }

    @Test(
        "an old key that was seen is not forgotten by looks of a machine whose clock is days behind",
        arguments: [2, 6, 9])
    func anOldKeyThatWasSeenIsNotForgottenByLooksOfAMachineWhoseClockIsDaysBehind(behind: Int64) throws {
        let (new, old) = (PlannedKey(PlanFixture.new), [PlannedKey(PlanFixture.old)])
        func look(_ day: Int64, _ pin: Pin, _ before: KeySightings?) -> KeySightings? {
            KeySightings.joining(
                [PlanFixture.address("a", [pin])], at: PlanFixture.day(day), new: new, old: old, to: before)
        }
        // Day 30, and twice on day 31 by the clock that is behind.
        for seen in [PlanFixture.new, PlanFixture.old] {
            let before = look(30, PlanFixture.old, look(24, PlanFixture.new, look(20, PlanFixture.new, nil)))
            let one = look(31 - behind, seen, before)
            let joined = look(32, PlanFixture.new, look(31 - behind, PlanFixture.new, one))
            #expect(
                joined
                    == KeySightings(
                        at: PlanFixture.day(32), newEverywhereSince: PlanFixture.day(32),
                        oldNowhereSince: PlanFixture.day(32)))
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation
import Testing

@Suite("The plan of a rotation as JSON")
struct RotationPlanTests {
    private static func code(_ text: String) -> RotationPlanError.Code? {
        do {
            _ = try RotationPlan(json: Array(text.utf8))
            return nil
        } catch { return error.code }
    }

    private static func text(_ plan: RotationPlan) -> String { String(decoding: plan.bytes, as: UTF8.self) }

    @Test("a written plan reads back as the same, in every state", arguments: RotationState.allCases)
    func writtenPlanReadsBackAsTheSameInEveryState(state: RotationState) throws {
        var plan = try PlanFixture.plan(in: state)
        plan.isPinnedBefore = true
        plan.maxRefusing = try #require(RefusingLimit("0.125%"))
        plan.sightings = KeySightings(at: PlanFixture.day(9), oldNowhereSince: PlanFixture.day(3))
        let read = try RotationPlan(json: plan.bytes)
        #expect(read == plan && read.bytes == plan.bytes && read.state == state)
    }

    @Test("steps come in their order, and nothing comes after the last one")
    func stepsComeInTheirOrderAndNothingComesAfterTheLastOne() throws {
        for state in RotationState.allCases {
            for next in RotationState.allCases {
                var plan = try PlanFixture.plan(in: state)
                let isPossible = state.possibleNext.contains(next)
                let entered = (try? plan.enter(RotationStep(next, at: PlanFixture.day(20)))) != nil
                #expect(entered == isPossible, "\(state) to \(next)")
                #expect(plan.state == (isPossible ? next : state))
            }
        }
        #expect(RotationState.ready.possibleNext == [.switched, .announced, .aborted])
        #expect(RotationState.retired.possibleNext.isEmpty && RotationState.aborted.possibleNext.isEmpty)
        var plan = try PlanFixture.plan(in: .announced)
        #expect(throws: RotationPlanError.self) { try plan.enter(RotationStep(.ready, at: PlanFixture.start)) }
    }

    @Test("a gate that leads back many times fills no disk")
    func gateThatLeadsBackManyTimesFillsNoDisk() throws {
        var plan = try PlanFixture.plan(in: .announced)
        var failure: RotationPlanError?
        for index in 0..<(RotationPlan.maximumSteps + 2) where failure == nil {
            do {
                try plan.enter(RotationStep(index % 2 == 0 ? .ready : .announced, at: PlanFixture.day(30)))
            } catch { failure = error }
        }
        #expect(failure?.code == .tooLarge && plan.steps.count == RotationPlan.maximumSteps - 1)
        // There is room for the end.
        try plan.enter(RotationStep(.aborted, at: plan.since))
        #expect(try RotationPlan(json: plan.bytes) == plan)
    }

    @Test("a plan of a newer tool is refused as such, with anything else in it")
    func planOfANewerToolIsRefusedAsSuchWithAnythingElseInIt() throws {
        let text = Self.text(try PlanFixture.plan())
        #expect(Self.code(text.replacing("\"schema\":1", with: "\"schema\":2,\"colour\":\"red\"")) == .newerSchema)
        #expect(Self.code("{\"schema\":9}") == .newerSchema)
        for schema in ["0", "-1", "\"1\"", "null"] {
            #expect(Self.code(text.replacing("\"schema\":1", with: "\"schema\":\(schema)")) == .malformed)
        }
    }

    @Test("wrong kinds, unknown members and contradictions are refused with the member")
    func wrongKindsUnknownMembersAndContradictionsAreRefusedWithTheMember() throws {
        let text = Self.text(try PlanFixture.plan(in: .announced))
        let edits = [
            ("\"list\":\"com.example.app\",", ""), ("\"host\":\"api", "\"host\":\"a b"),
            ("\"host\":\"api", "\"host\":\"pay"), ("\"maxRefusing\":\"1%\"", "\"maxRefusing\":1"),
            ("\"maxRefusing\":\"1%\"", "\"maxRefusing\":\"101%\""), ("\"planned\"", "\"ready\""),
            ("\"announced\"", "\"retired\""), ("\"announced\"", "\"nowhere\""), ("\"old\":[", "\"older\":["),
            ("\"heldBy\":[\"Ann\"", "\"heldBy\":[\"A\\u000an\""), ("sha256/", "sha1/"),
            ("\"pay.example.com\"", "\"api.example.com\""), ("\"switchAt\":\"2026", "\"switchAt\":\"2006"),
            (PlanFixture.old.description, PlanFixture.new.description),
        ]
        for (from, to) in edits {
            let edited = text.replacing(from, with: to)
            #expect(edited != text, "\(from)")
            #expect(Self.code(edited) == .malformed, "\(from)")
        }
        for text in ["", "[]", "null", "{", "{}", "{\"schema\":1}", String(repeating: "[", count: 1_000)] {
            #expect(Self.code(text) == .malformed, "\(text.prefix(20))")
        }
        #expect(Self.code(String(repeating: " ", count: RotationPlan.maximumLength + 1)) == .tooLarge)
    }

    @Test(
        "shares are read exactly",
        arguments: [("1", 1_000), ("0.5%", 500), ("100%", 100_000), ("0.125", 125), ("0", 0)]
            as [(String, Int64)])
    func sharesAreReadExactly(text: String, thousandths: Int64) throws {
        let limit = try #require(RefusingLimit(text))
        #expect(limit.thousandths == thousandths)
        #expect(RefusingLimit(limit.description) == limit)
    }

    @Test(
        "what is no share is none",
        arguments: ["", "%", "-1", "100.001", "1,5", "1e1", "1.", ".5", "0.1234", "1 %", "1%%"])
    func whatIsNoShareIsNone(text: String) { #expect(RefusingLimit(text) == nil) }

    @Test("60 days by default; the switch is not before the gate is expected to open")
    func of60DaysByDefaultTheSwitchIsNotBeforeTheGateIsExpectedToOpen() {
        let usual = RotationTimeline(from: PlanFixture.start)
        #expect(usual.announceAt == PlanFixture.start)
        #expect(usual.switchAt == PlanFixture.day(30) && usual.retireAt == PlanFixture.day(60))
        let late = RotationTimeline(from: PlanFixture.start, opening: PlanFixture.day(45))
        #expect(late.switchAt == PlanFixture.day(45) && late.retireAt == PlanFixture.day(75))
        let wanted = RotationTimeline(
            from: PlanFixture.start, switchAt: PlanFixture.day(5), opening: PlanFixture.day(45))
        #expect(wanted.switchAt == PlanFixture.day(5))
    }

    @Test("the forecast is (scale/(scale+t))^shape: vectors computed with Python's decimal module")
    func forecastIsScaleScaleTShapeVectorsComputedWithPythonsDecimalModule() throws {
        let forecast = try #require(AdoptionForecast(shape: 0.65, scale: 2.6 * 86_400))
        let vectors: [(Int64, Double)] = [
            (1, 0.8093494029586366),
            (7, 0.42781536154438193),
            (14, 0.2996832148549925),
            (30, 0.1932596711174809),
            (60, 0.12646180015201539),
        ]
        for (days, share) in vectors {
            #expect(abs(forecast.notReached(after: days * PlanFixture.day) - share) < 1e-9, "\(days)")
        }
        let seconds = try #require(forecast.secondsUntilRequests(fallTo: 0.01))
        #expect(forecast.requestsNotReached(after: seconds) <= 0.01)
        #expect(forecast.requestsNotReached(after: seconds - 2) > 0.01)
        let lagging = forecast.requestsNotReached(after: 10 * PlanFixture.day)
        let measured = try #require(AdoptionForecast(requestsNaming: lagging, after: 10 * PlanFixture.day))
        #expect(abs(measured.scale - forecast.scale) < 1)
        #expect(forecast.secondsUntilRequests(fallTo: 0) == nil)
        #expect(AdoptionForecast(shape: 0, scale: 1) == nil && AdoptionForecast(shape: 1, scale: .nan) == nil)
        #expect(AdoptionForecast(requestsNaming: 1, after: 1) == nil)
    }

    @Test("two plans that share an entry stand in each other's way until one is done")
    func twoPlansThatShareAnEntryStandInEachOthersWayUntilOneIsDone() throws {
        let plan = try PlanFixture.plan()
        var other = plan
        #expect(!plan.collides(with: other))
        other.host = try HostName("pay.example.com")
        #expect(plan.collides(with: other) && other.collides(with: plan))
        for state in [RotationState.aborted, .retired] {
            let done = try Self.renamed(PlanFixture.plan(in: state))
            #expect(!plan.collides(with: done) && !done.collides(with: plan))
        }
        other.entries = [other.host]
        #expect(plan.collides(with: other))
        other.entries = [try HostName("www.example.com")]
        #expect(!plan.collides(with: other))
    }

    private static func renamed(_ plan: RotationPlan) throws -> RotationPlan {
        var plan = plan
        plan.host = try HostName("pay.example.com")
        return plan
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation
import Testing

@Suite("The gate, where a service counted")
struct GateMeasurementTests {
    private static let chain = GateMaterial.path(FramedCertificate.path(2, 7, 8))

    /// Version 1 does not know the new key 2, version 2 does.
    private func scene(old: Int64, new: Int64, of requests: Int64) throws -> GateScene {
        try GateScene(counted: (GateScene.list(1, [1]), old), (GateScene.list(2, [1, 2]), new), of: requests)
    }

    @Test("one of a hundred may refuse it, and not one more; another share may be agreed")
    func oneOfAHundredMayRefuseItAndNotOneMoreAnotherShareMayBeAgreed() throws {
        var scene = try self.scene(old: 10, new: 990, of: 1_000)
        let answer = try scene.answer(Self.chain)
        #expect(answer.verdict == .safe)
        #expect(answer.refusing == GateRefusing(share: 0.01, hours: 24, requests: 1_000))
        scene = try self.scene(old: 11, new: 989, of: 1_000)
        #expect(try scene.answer(Self.chain).verdict == .unsafe)
        scene.maxRefusing = 1.1
        #expect(try scene.answer(Self.chain).verdict == .safe)
        scene = try self.scene(old: 1, new: 999_999, of: 1_000_000)
        scene.maxRefusing = 0
        #expect(try scene.answer(Self.chain).verdict == .unsafe)
    }

    @Test("a measurement is never overridden by the time that has passed, in neither direction")
    func measurementIsNeverOverriddenByTheTimeThatHasPassedInNeitherDirection() throws {
        // All lists of the last propagation accept it, and many installations hold an older one.
        var scene = try self.scene(old: 200, new: 800, of: 1_000)
        scene.holders.recent = [try GateScene.list(2, [1, 2])]
        #expect(try scene.answer(Self.chain).verdict == .unsafe)
        scene.holders.count = nil
        #expect(try scene.answer(Self.chain).verdict == .safe)
        // A list of yesterday refuses it, and no installation holds that any more.
        scene = try self.scene(old: 0, new: 1_000, of: 1_000)
        scene.holders.missing = ["version 3"]
        #expect(try scene.answer(Self.chain).verdict == .safe)
        scene.holders.count = nil
        #expect(try scene.answer(Self.chain).verdict == .unknown)
    }

    @Test("299 requests say nothing, 300 do")
    func of299RequestsSayNothing300Do() throws {
        let few = try self.scene(old: 299, new: 0, of: 299).answer(Self.chain)
        #expect(few.verdict == .unknown && few.refusing == GateRefusing(share: nil, hours: 24, requests: 299))
        #expect(few.reason.contains("299 requests in 24h are too few, and 300 are needed"), "\(few)")
        let enough = try self.scene(old: 300, new: 0, of: 300).answer(Self.chain)
        #expect(enough.verdict == .unsafe && enough.refusing.share == 1)
        let safe = try self.scene(old: 3, new: 297, of: 300).answer(Self.chain)
        #expect(safe.verdict == .safe && safe.refusing.share == 0.01)
    }

    @Test("many requests that came through caches say nothing, as the service says")
    func manyRequestsThatCameThroughCachesSayNothingAsTheServiceSays() throws {
        var scene = try self.scene(old: 0, new: 1_000, of: 1_000)
        scene.holders.count = GateHolders.Count(
            hours: 24, requests: 1_000, lists: scene.holders.count?.lists ?? [], why: "caches answer for the service")
        let answer = try scene.answer(Self.chain)
        #expect(answer.verdict == .unknown && !answer.refusing.isMeasured)
        #expect(answer.reason.contains("caches answer for the service"), "\(answer)")
    }

    @Test("unknown digests count as refusing")
    func unknownDigestsCountAsRefusing() throws {
        let answer = try self.scene(old: 0, new: 980, of: 1_000).answer(Self.chain)
        #expect(answer.verdict == .unsafe && answer.refusing.share == 0.02)
        #expect(try self.scene(old: 0, new: 990, of: 1_000).answer(Self.chain).verdict == .safe)
        #expect(try self.scene(old: 1, new: 989, of: 1_000).answer(Self.chain).verdict == .unsafe)
    }

    @Test("a list in a rollout counts by its part; a denied key in it counts whole")
    func listInARolloutCountsByItsPartADeniedKeyInItCountsWhole() throws {
        let partly = try GateScene.list(1, [1]) { $0.domains[0].rollout = 10 }
        let new = try GateScene.list(2, [1, 2])
        for (held, verdict) in [(100, .safe), (101, .unsafe)] as [(Int64, GateVerdict)] {
            let answer = try GateScene(counted: (partly, held), (new, 1_000 - held), of: 1_000).answer(Self.chain)
            #expect(answer.verdict == verdict, "\(answer)")
            #expect(answer.refusing.share == Double(held) / 10_000)
        }
        var denying = partly
        denying.denied = [DeniedKey(FramedCertificate.pin(2))]
        let denied = try GateScene(counted: (denying, 100), (new, 900), of: 1_000).answer(Self.chain)
        #expect(denied.verdict == .unsafe && denied.refusing.share == 0.1)
    }

    @Test("counts that do not add up never make a share above all, or below none")
    func countsThatDoNotAddUpNeverMakeAShareAboveAllOrBelowNone() throws {
        let over = try self.scene(old: .max, new: .max, of: 1_000).answer(Self.chain)
        #expect(over.verdict == .unsafe && over.refusing.share == 1)
        let below = try self.scene(old: .min, new: 1_000, of: 1_000).answer(Self.chain)
        #expect(below.verdict == .safe && below.refusing.share == 0)
    }

    @Test(
        "over how many hours is counted: refreshAfter, and a day at least",
        arguments: [
            (0, 24), (43_200, 24), (86_400, 24), (86_401, 25), (604_800, 168), (Int64.max, 2_562_047_788_015_216),
        ] as [(Int64, Int64)])
    func overHowManyHoursIsCountedRefreshAfterAndADayAtLeast(seconds: Int64, hours: Int64) {
        #expect(GateRefusing.hours(of: seconds) == hours)
    }
}

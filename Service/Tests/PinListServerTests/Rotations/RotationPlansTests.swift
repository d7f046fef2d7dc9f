// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinRotation
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("Plans of rotations at each look")
struct RotationPlansTests {
    private static func stored(_ host: String, _ bytes: [UInt8]) -> StoredRotation {
        StoredRotation(name: "a", host: host, storedAt: TurnedClock.start, bytes: bytes)
    }

    @Test("a plan that did not change is read once, one that changed again, and one that is gone is forgotten")
    func planThatDidNotChangeIsReadOnceOneThatChangedAgain() {
        let plans = RotationPlans()
        let (one, two) = (Self.stored("one", [0]), Self.stored("two", [1]))
        #expect(plans.overviews(of: [one, two]) == [RotationOverview(one), RotationOverview(two)])
        #expect(plans.readings == 2)
        for _ in 0..<5 { #expect(plans.overviews(of: [one, two]).map(\.host) == ["one", "two"]) }
        #expect(plans.readings == 2)
        _ = plans.overviews(of: [one, Self.stored("two", [2])])
        #expect(plans.readings == 3)
        _ = plans.overviews(of: [one])
        _ = plans.overviews(of: [one, two])
        #expect(plans.readings == 4)
    }

    @Test("the same bytes for two hosts stay two plans")
    func sameBytesForTwoHostsStayTwoPlans() {
        let plans = RotationPlans()
        let overviews = plans.overviews(of: [Self.stored("one", [0]), Self.stored("two", [0])])
        #expect(overviews.map(\.host) == ["one", "two"])
        #expect(plans.readings == 1)
    }
}

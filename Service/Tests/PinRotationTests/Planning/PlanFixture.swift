// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinRotation

/// A plan of a rotation, and what is known beside it.
enum PlanFixture {
    static let day: Int64 = 86_400
    static let start = Timestamp(secondsSince1970: 1_795_219_200)
    static let new = Pin(kind: .publicKey, hashing: [1])
    static let old = Pin(kind: .publicKey, hashing: [2])
    static let other = Pin(kind: .publicKey, hashing: [3])

    static func day(_ days: Int64) -> Timestamp {
        Timestamp(secondsSince1970: self.start.secondsSince1970 + days * self.day)
    }

    static func plan() throws -> RotationPlan {
        let host = try HostName("api.example.com")
        return RotationPlan(
            list: "com.example.app", host: host, entries: [host, try HostName("pay.example.com")], pinSet: "web",
            new: PlannedKey(self.new, kept: "HSM 3, \"left\"", heldBy: ["Ann", "Bob"]), old: [PlannedKey(self.old)],
            timeline: RotationTimeline(from: self.start), at: self.start)
    }

    /// A plan that went through states, one a day.
    static func plan(in state: RotationState) throws -> RotationPlan {
        var plan = try self.plan()
        var day: Int64 = 1
        while plan.state != state, let next = plan.state.following {
            try plan.enter(RotationStep(state == .aborted ? .aborted : next, at: self.day(day)))
            day += 1
        }
        return plan
    }

    static func gate(_ verdict: GateVerdict) throws -> GateAnswer {
        GateAnswer(
            host: try HostName("api.example.com"), notedHostname: nil, verdict: verdict, matched: nil,
            refusing: GateRefusing(share: nil, hours: 24, requests: 0), reason: "so it is")
    }

    static func address(_ name: String, _ pins: [Pin?]?) -> KeySightings.Address {
        KeySightings.Address(name, pins: pins)
    }
}

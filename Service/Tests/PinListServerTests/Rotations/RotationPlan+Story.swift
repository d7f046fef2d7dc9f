// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

extension RotationPlan {
    /// The pins of the stories' keys, by number.
    static func pin(_ number: UInt8) -> Pin { Pin(kind: .publicKey, hashing: [number]) }

    /// A plan that begins with the stories: key 9 goes, key 10 comes, 30 days to the switch and 30 to the end.
    ///
    /// - Parameter states: What was entered after `planned`, a day after one another; a version for `announced`.
    static func story(
        _ host: String = "api.example.com", _ states: [RotationState] = [], version: Int64? = 2,
        at time: Timestamp = TurnedClock.start
    ) throws -> RotationPlan {
        let domain = try HostName(host)
        var plan = RotationPlan(
            list: "com.example.app", host: domain, entries: [domain], new: PlannedKey(Self.pin(10)),
            old: [PlannedKey(Self.pin(9))], timeline: RotationTimeline(from: time), at: time)
        for (index, state) in states.enumerated() {
            let at = Timestamp(secondsSince1970: time.secondsSince1970 + Int64(index + 1) * 86_400)
            try plan.enter(RotationStep(state, at: at, version: state == .announced ? version : nil))
        }
        return plan
    }

    /// As it is stored.
    func stored(at time: Timestamp = TurnedClock.start) -> StoredRotation {
        StoredRotation(name: self.list, host: self.host.description, storedAt: time, bytes: self.bytes)
    }
}

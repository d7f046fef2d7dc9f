// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import PinRotation

/// The plan of a rotation: as a service is sent it, and as a file of the project.
enum RotationPlanBytes: FuzzTarget {
    static let name = "rotation-plan"

    private static let file = "rotations/api.example.com.yaml"

    static func check(_ bytes: [UInt8]) {
        if let plan = try? RotationPlan(json: bytes) { self.check(plan) }
        do {
            self.check(try RotationPlan(yaml: bytes, file: self.file))
        } catch {
            // Every refusal names the file.
            precondition(error.reason.hasPrefix("\(self.file):"))
        }
    }

    /// Checks that a plan that was read is written and read as the same, in both forms.
    private static func check(_ plan: RotationPlan) {
        precondition((try? RotationPlan(json: plan.bytes)) == plan)
        precondition((try? RotationPlan(yaml: plan.yaml, file: self.file)) == plan)
        _ = plan.outlook(RotationFacts(), at: plan.since)
    }
}

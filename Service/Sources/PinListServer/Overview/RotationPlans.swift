// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PinReportAnalysis
internal import PinRotation

/// Plans of rotations that were read before, by the digest of their bytes: a look at all of them, several times a minute,
/// reads none again that did not change. It holds what the last look saw, and no more.
final class RotationPlans: Sendable {
    private struct State {
        var plans: [String: RotationPlan?] = [:]
        var readings = 0
    }

    private let state = NIOLockedValueBox(State())

    /// The number of plans that were read so far.
    var readings: Int { self.state.withLockedValue { $0.readings } }

    /// All plans that are stored.
    ///
    /// - Parameter stored: All of them: what is not among them is forgotten.
    func overviews(of stored: [StoredRotation]) -> [RotationOverview] {
        let known = self.state.withLockedValue { $0.plans }
        var seen: [String: RotationPlan?] = [:]
        var readings = 0
        let overviews = stored.map { rotation in
            let digest = rotation.digest
            let overview: RotationOverview
            if let plan = known[digest] {
                overview = RotationOverview(rotation, plan)
            } else if let plan = seen[digest] {
                overview = RotationOverview(rotation, plan)
            } else {
                overview = RotationOverview(rotation)
                readings += 1
            }
            seen.updateValue(overview.plan, forKey: digest)
            return overview
        }
        self.state.withLockedValue { state in
            state.plans = seen
            state.readings += readings
        }
        return overviews
    }
}

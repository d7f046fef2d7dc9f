// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The outlook of a rotation: the next state, whether its gate holds, and what is missing.
public struct RotationOutlook: Hashable, Sendable {
    /// Whether the gate to the next state holds.
    public enum Gate: String, Hashable, Sendable {
        /// The gate holds.
        case holds
        /// The gate does not hold.
        case closed
        /// The facts are not enough for an answer. That is not enough.
        case unknown
    }

    /// The state that comes next; `nil` after the last one. ``RotationState/announced`` for a rotation that is
    /// ``RotationState/ready`` is the way back.
    public let next: RotationState?

    /// Whether its gate holds.
    public let gate: Gate

    /// The missing conditions, or why it goes back, each one line without a full stop.
    public let missing: [String]

    /// The time since which it is missing; `nil` where nothing is.
    public let missingSince: Timestamp?

    /// The earliest time at which the gate may hold; `nil` when that cannot be said.
    public let earliest: Timestamp?

    /// The time for which the plan has the next state; `nil` where it has no time for it.
    public let planned: Timestamp?

    /// Whether it leads back.
    public let isBack: Bool

    /// The advice for now, one line.
    public let advice: String

    /// The way back from here, one line.
    public let wayBack: String

    /// The time for which no old key may have been seen before its pin goes, in seconds: 14 days.
    public static let quietSeconds: Int64 = 14 * 86_400

    /// The maximum age of the probe of the addresses that a step rests on, in seconds: a day.
    public static let freshSeconds: Int64 = 86_400

    init(
        _ next: RotationState?, _ gate: Gate, _ missing: [String] = [], since: Timestamp? = nil,
        earliest: Timestamp? = nil, planned: Timestamp? = nil, isBack: Bool = false, advice: String, wayBack: String
    ) {
        self.next = next
        self.gate = gate
        self.missing = missing
        self.missingSince = missing.isEmpty ? nil : since
        self.earliest = earliest
        self.planned = planned
        self.isBack = isBack
        self.advice = advice
        self.wayBack = wayBack
    }
}

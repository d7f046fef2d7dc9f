// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// What comes next in a rotation: which state, whether its gate holds, and what is missing.
public struct RotationOutlook: Hashable, Sendable {
    /// Whether the gate to the next state holds.
    public enum Gate: String, Hashable, Sendable {
        /// It holds.
        case holds
        /// It does not.
        case closed
        /// Not enough is known. That is not enough.
        case unknown
    }

    /// The state that comes next; `nil` after the last one. ``RotationState/announced`` for a rotation that is
    /// ``RotationState/ready`` is the way back.
    public let next: RotationState?

    /// Whether its gate holds.
    public let gate: Gate

    /// What is missing, or why it goes back, each one line without a full stop.
    public let missing: [String]

    /// Since when it is missing; `nil` where nothing is.
    public let missingSince: Timestamp?

    /// When the gate may hold at the earliest; `nil` when that cannot be said.
    public let earliest: Timestamp?

    /// When the plan has the next state; `nil` where it has no time for it.
    public let planned: Timestamp?

    /// Whether it leads back.
    public let isBack: Bool

    /// What a person does now, one line.
    public let advice: String

    /// What the way back is from here, one line.
    public let wayBack: String

    /// How long no old key may have been seen before its pin goes, in seconds: 14 days.
    public static let quietSeconds: Int64 = 14 * 86_400

    /// How old the look at the addresses may be that a step rests on, in seconds: a day.
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

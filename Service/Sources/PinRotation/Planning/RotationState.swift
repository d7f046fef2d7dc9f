// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The state of the rotation of a key (formats.md, section 9).
public enum RotationState: String, Hashable, Sendable, CaseIterable {
    /// The plan is written, and nothing else is done.
    case planned
    /// The new pin is in a published list.
    case announced
    /// The gate said that the new key may be served.
    case ready
    /// A probe saw the new key at every address.
    case switched
    /// A list without the old pins is published.
    case retired
    /// The new pin went again.
    case aborted

    /// Whether nothing comes after it.
    public var isFinal: Bool { self == .retired || self == .aborted }

    /// The state that comes when all goes well; `nil` after the last one.
    public var following: RotationState? {
        switch self {
        case .planned: .announced
        case .announced: .ready
        case .ready: .switched
        case .switched: .retired
        case .retired, .aborted: nil
        }
    }

    /// The states that may come next: the one that follows, the way back to ``announced`` when the gate is no longer
    /// safe, and the end before time.
    public var possibleNext: Set<RotationState> {
        guard let following else { return [] }
        return self == .ready ? [following, .announced, .aborted] : [following, .aborted]
    }
}

/// A step of a rotation: a state that it entered.
public struct RotationStep: Hashable, Sendable {
    /// The state.
    public var state: RotationState

    /// The time at which it was entered.
    public var at: Timestamp

    /// The version of the list that was published with it; `nil` where none was.
    public var version: Int64?

    /// The reason for entering it although its gate did not hold, in one line; `nil` where the gate held.
    public var forced: String?

    /// The reason for entering it, where the state alone does not say that: what the gate said when it led back, or why
    /// the rotation was aborted.
    public var reason: String?

    /// States a step.
    public init(
        _ state: RotationState, at time: Timestamp, version: Int64? = nil, forced: String? = nil,
        reason: String? = nil
    ) {
        self.state = state
        self.at = time
        self.version = version
        self.forced = forced
        self.reason = reason
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// That a rotation entered a state.
public struct RotationStep: Hashable, Sendable {
    /// The state.
    public var state: RotationState

    /// When it was entered.
    public var at: Timestamp

    /// The version of the list that was published with it; `nil` where none was.
    public var version: Int64?

    /// Why it was entered although its gate did not hold, in one line; `nil` where the gate held.
    public var forced: String?

    /// Why it was entered, where the state alone does not say that: what the gate said when it led back, or why the
    /// rotation was aborted.
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The facts about a rotation beside its plan, when its next step is looked for.
public struct RotationFacts: Hashable, Sendable {
    /// Whether the service has an open alarm about failed pins of the host.
    public enum FailureAlarm: Hashable, Sendable {
        /// There is no alarm, or there is no service that could have one.
        case none
        /// An alarm is open: its text.
        case open(String)
        /// The service could not be asked: why.
        case unknown(String)
    }

    /// The objections to the plan as the source stands: a denied key, the pin of another entry, no backup afterwards, a
    /// pin of a certificate.
    public var objections: [String] = []

    /// Whether the published list has the new pin in each entry that is concerned.
    public var isNewPublished = false

    /// Whether the published list still has an old pin in an entry that is concerned.
    public var isOldPublished = true

    /// The gate's answer on the new key; `nil` when it was not asked.
    public var gate: GateAnswer?

    /// The keys that each address serves now; `nil` when they were not probed.
    public var addresses: [KeySightings.Address]?

    /// The alarm about failed pins.
    public var failureAlarm = FailureAlarm.none

    /// The time at which the gate is expected to say `safe`; `nil` when that cannot be said.
    public var expectedOpening: Timestamp?

    /// Knows nothing yet.
    public init() {}
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

/// Why a presented chain has no validated path.
public struct PathRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// `chain-invalid`, `no-certificates` or `over-budget`: the reason of the decision that a transport makes of this.
    public let reason: PinningDecision.Reason

    /// What a person should know of it, in one sentence.
    public let detail: String

    /// Whether the same question gets the same answer a little later and on a machine that is less busy: not where the
    /// time, the host's name or the deadline decided.
    let isRepeatable: Bool

    /// States a refusal.
    init(_ reason: PinningDecision.Reason, _ detail: String, isRepeatable: Bool = true) {
        self.reason = reason
        self.detail = detail
        self.isRepeatable = isRepeatable
    }

    /// The reason's code and the detail.
    public var description: String { "\(self.reason): \(self.detail)" }
}
#endif

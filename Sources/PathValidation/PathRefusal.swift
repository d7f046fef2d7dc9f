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

    /// States a refusal.
    init(_ reason: PinningDecision.Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The reason's code and the detail.
    public var description: String { "\(self.reason): \(self.detail)" }
}
#endif

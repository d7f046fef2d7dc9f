// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A connection that pinning refused.
public struct PinningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why, with the pins that were seen and the list that decided.
    public let decision: PinningDecision

    /// The error of a decision.
    public init(_ decision: PinningDecision) { self.decision = decision }

    /// The host, normalised.
    public var host: String { self.decision.host }

    /// The decision's text.
    public var description: String { self.decision.description }
}

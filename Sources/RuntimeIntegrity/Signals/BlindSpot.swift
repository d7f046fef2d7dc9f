// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A detector that could not look.
public struct BlindSpot: Hashable, Sendable, CustomStringConvertible {
    /// The detector's name.
    public let detector: String

    /// Why it could not.
    public let reason: Unobservable

    /// Creates a value.
    public init(detector: String, reason: Unobservable) {
        self.detector = detector
        self.reason = reason
    }

    /// Who and why.
    public var description: String { "\(self.detector): \(self.reason)" }
}

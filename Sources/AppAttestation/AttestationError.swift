// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// The refusal of an attestation, an assertion or a receipt.
///
/// Equal when the step is: the reason is for people.
public struct AttestationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the step that failed, of Apple's guide for servers: 1 to 11 of an attestation, 1 to 8 of an assertion.
    /// `nil` when the object cannot be read at all, and for receipts, which have no numbered steps.
    public let step: Int?

    /// The explanation, in one sentence without a full stop.
    public let reason: String

    /// Creates a refusal.
    init(step: Int?, _ reason: String) {
        self.step = step
        self.reason = reason
    }

    /// The step and the reason.
    public var description: String { self.step.map { "step \($0): \(self.reason)" } ?? self.reason }

    /// Equal when the steps are.
    public static func == (left: AttestationError, right: AttestationError) -> Bool { left.step == right.step }

    /// Feeds the step alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.step) }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The validity of a certificate, and whether enough of it is left to deploy it.
public struct CertificateLifetime: Hashable, Sendable {
    /// The minimum time that must be left of a certificate, in seconds: 7 days.
    public static let minimum: Int64 = 7 * 86_400
    /// The maximum lifetime, in seconds, of which a third must be left in place of ``minimum``: 21 days.
    public static let maximumShortLived: Int64 = 21 * 86_400

    /// The first second.
    public let notBefore: Timestamp
    /// The last second.
    public let notAfter: Timestamp

    /// States a lifetime.
    public init(notBefore: Timestamp, notAfter: Timestamp) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Whether the lifetime, from the first second to the last, is so short that a third of it must be left.
    public var isShort: Bool { Self.seconds(from: self.notBefore, to: self.notAfter) <= Self.maximumShortLived }

    /// Whether too little is left at a time.
    public func isEnding(at time: Timestamp) -> Bool {
        let left = Self.seconds(from: time, to: self.notAfter)
        guard self.isShort else { return left < Self.minimum }
        // A short lifetime is at most 21 days, so that three times what is left of it overflows only below zero.
        let third = left.multipliedReportingOverflow(by: 3)
        return third.overflow ? left < 0 : third.partialValue < Self.seconds(from: self.notBefore, to: self.notAfter)
    }

    private static func seconds(from start: Timestamp, to end: Timestamp) -> Int64 {
        let (seconds, overflow) = end.secondsSince1970.subtractingReportingOverflow(start.secondsSince1970)
        return overflow ? (end < start ? .min : .max) : seconds
    }
}

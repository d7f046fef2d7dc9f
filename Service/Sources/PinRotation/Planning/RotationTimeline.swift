// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The timeline of a rotation: by default 60 days, of which the new pin is out for 30 before its key is served.
public struct RotationTimeline: Hashable, Sendable {
    /// From the beginning to the announcement, in seconds: none, that is day 1.
    public static let announceAfter: Int64 = 0

    /// From the beginning to the switch, in seconds: 30 days.
    public static let switchAfter: Int64 = 30 * 86_400

    /// From the switch to the end, in seconds: 30 days.
    public static let retireAfterSwitch: Int64 = 30 * 86_400

    /// The time at which the new pin is to be published.
    public var announceAt: Timestamp

    /// The time from which the new key may be served.
    public var switchAt: Timestamp

    /// The time from which the old pins may go.
    public var retireAt: Timestamp

    /// The default from a time on.
    ///
    /// - Parameters:
    ///   - time: The beginning.
    ///   - switchAt: Another time for the switch.
    ///   - opening: The time at which the gate is expected to open: the switch is not before.
    public init(from time: Timestamp, switchAt: Timestamp? = nil, opening: Timestamp? = nil) {
        self.announceAt = time.adding(Self.announceAfter)
        let standard = time.adding(Self.switchAfter)
        self.switchAt = switchAt ?? max(standard, opening ?? standard)
        self.retireAt = max(self.switchAt, time).adding(Self.retireAfterSwitch)
    }
}

extension Timestamp {
    /// The time so many seconds later; the last there is where that is out of range.
    package func adding(_ seconds: Int64) -> Timestamp {
        let (sum, overflow) = self.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: overflow ? (seconds < 0 ? .min : .max) : sum)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The share of the installations that would refuse a certificate, as far as a service counted them.
public struct GateRefusing: Hashable, Sendable {
    /// The minimum number of requests that say something (formats.md, section 8).
    public static let minimumRequests: Int64 = 300
    /// The minimum time over which is counted, in hours (formats.md, section 8).
    public static let minimumHours: Int64 = 24

    /// The share, 0 to 1; `nil` when it is not measured.
    public let share: Double?
    /// The number of whole hours that are counted: ``hours(of:)``.
    public let hours: Int64
    /// The requests that named a list. When it is not measured: as many as are known, which may be none.
    public let requests: Int64

    /// States a share.
    public init(share: Double?, hours: Int64, requests: Int64) {
        self.share = share
        self.hours = hours
        self.requests = requests
    }

    /// Whether enough requests were counted to decide by them.
    public var isMeasured: Bool { self.share != nil }

    /// The number of hours that are counted: the longer of a list's `refreshAfter` and a day, in whole hours.
    ///
    /// - Parameter refreshAfter: In seconds.
    public static func hours(of refreshAfter: Int64) -> Int64 {
        max((max(refreshAfter, 0) / 3_600) + (refreshAfter > 0 && refreshAfter % 3_600 != 0 ? 1 : 0), self.minimumHours)
    }
}

/// The member `refusing` of a gate's answer (formats.md, section 8).
extension GateRefusing: Codable {
    enum CodingKeys: CodingKey { case share, measured, period, requests }

    /// Writes all members; `share` is `null` when it is not measured.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.share, forKey: .share)
        try container.encode(self.isMeasured, forKey: .measured)
        try container.encode("\(self.hours)h", forKey: .period)
        try container.encode(self.requests, forKey: .requests)
    }

    /// Reads the members; what contradicts itself is refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let share = try container.decodeIfPresent(Double.self, forKey: .share)
        let period = try container.decode(String.self, forKey: .period)
        let requests = try container.decode(Int64.self, forKey: .requests)
        guard period.last == "h", let hours = Int64(period.dropLast()), hours > 0, "\(hours)h" == period else {
            throw DecodingError.dataCorruptedError(
                forKey: .period, in: container, debugDescription: "a number of whole hours, such as 24h")
        }
        guard requests >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .requests, in: container, debugDescription: "a whole number from 0")
        }
        guard try container.decode(Bool.self, forKey: .measured) == (share != nil),
            share.map({ (0...1).contains($0) }) ?? true
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .share, in: container, debugDescription: "0 to 1 when it is measured, else null")
        }
        self.init(share: share, hours: hours, requests: requests)
    }
}

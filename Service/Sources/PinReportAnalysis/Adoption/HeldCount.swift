// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata

/// The lists that installations hold, counted over a day at least: the basis for removing a pin or deploying a key.
///
/// It is made of the same requests as ``AdoptionEstimate``. That says how a list spreads; this says what is still out.
package struct HeldCount: Hashable, Sendable {
    /// The minimum time over which is counted, in seconds: a day, in which each active installation asks (formats.md,
    /// section 8).
    static let minimumPeriod: Int64 = 86_400
    /// The minimum number of requests that say something (formats.md, section 8).
    static let minimumRequests: Int64 = 300

    /// The period that is counted, in seconds: whole hours.
    package let period: Int64
    /// The requests that named a list.
    package let requests: Int64
    /// The number of requests that named each published version.
    package let versions: [Int64: Int64]
    /// The number of requests that named a list that was never published here.
    package let unknown: Int64
    /// The reason for which this is not to be decided by; `nil` when it is.
    package let why: String?

    /// Counts.
    ///
    /// - Parameters:
    ///   - listRequests: The counts, over ``hours(of:)`` at least.
    ///   - versions: The versions of all lists that were published, by digest.
    ///   - window: `refreshAfter`, in seconds.
    ///   - now: The time.
    package init(_ listRequests: [ListRequestKey: Int64], versions: [String: Int64], window: Int64, at now: Timestamp) {
        let hours = Self.hours(of: window)
        let counted = WindowCount(listRequests, hours: (now.hour - hours + 1)...now.hour, versions)
        self.period = hours * 3_600
        self.requests = counted.base
        self.versions = counted.versions
        self.unknown = counted.base - counted.versions.values.reduce(0, +)
        if let why = counted.whyNotMeasured {
            self.why = why
        } else if counted.base < Self.minimumRequests {
            self.why = "\(counted.base) requests in \(hours) hours are too few, and \(Self.minimumRequests) are needed"
        } else {
            self.why = nil
        }
    }

    /// The number of hours that are counted.
    package static func hours(of window: Int64) -> Int64 { (max(window, self.minimumPeriod) + 3_599) / 3_600 }

    /// The count as JSON.
    package func value(of name: String, at time: Timestamp) -> JSONValue {
        let versions = self.versions.sorted { $0.key < $1.key }
        var members = [
            JSONValue.Member("name", .string(name)), JSONValue.Member("at", .string(time.description)),
            JSONValue.Member("state", .string(self.why == nil ? "measured" : "not-measured")),
            JSONValue.Member("period", .integer(self.period)), JSONValue.Member("requests", .integer(self.requests)),
            JSONValue.Member(
                "versions", .object(versions.map { JSONValue.Member("\($0.key)", .integer($0.value)) })),
            JSONValue.Member("unknown", .integer(self.unknown)),
        ]
        if let why { members.append(JSONValue.Member("why", .string(why))) }
        return .object(members)
    }
}

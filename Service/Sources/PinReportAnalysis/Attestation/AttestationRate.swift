// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The share of attested reports of a name: whether the unattested ones count as they did before.
///
/// They do where under half of a month's reports were attested, or where the attested ones fell below half of their usual
/// rate: who blocks Apple or the challenges must not silence those whose connections he intercepts. Where nothing is known
/// they do, too.
package struct AttestationRate: Hashable, Sendable {
    /// The number of hours in the month that is looked at: 30 days.
    package static let month: Int64 = 720
    /// The number of attested reports that usually come in the time that is compared. Of fewer, half would often be
    /// missing by chance.
    package static let compared = 8.0
    /// The share of attested reports from which the unattested ones only warn (formats.md, section 7).
    package static let enough = 0.5
    /// The maximum time that is compared, in hours (formats.md, section 7).
    package static let maximum: Int64 = 24

    /// Attested reports of the month.
    package private(set) var attested: Int64 = 0
    /// The unattested ones.
    package private(set) var unattested: Int64 = 0
    /// The number of registered keys.
    package var keys: Int64 = 0

    private let now: Timestamp
    private var hours: [Int64: Int64] = [:]

    /// Makes an empty rate.
    package init(at now: Timestamp) { self.now = now }

    /// Counts reports of an hour; none of a later one, which a wrong clock dated ahead.
    package mutating func add(_ count: Int64, in hour: Int64, isAttested: Bool) {
        guard hour <= self.now.hour else { return }
        if isAttested {
            self.attested += count
            self.hours[hour, default: 0] += count
        } else {
            self.unattested += count
        }
    }

    /// The share of the month's reports that were attested, 0 to 1; `nil` where there were none.
    package var share: Double? {
        let all = Double(self.attested) + Double(self.unattested)
        return all > 0 ? Double(self.attested) / all : nil
    }

    /// Whether unattested reports count as they did before.
    package var countsUnattested: Bool { (self.share ?? 0) < Self.enough || self.hasFallen }

    /// Whether attested reports fell below half of their usual rate, over as many hours as usually bring
    /// ``compared`` of them, up to ``maximum``.
    package var hasFallen: Bool {
        let current = self.now.hour
        guard let first = self.hours.keys.min(), first < current - 1 else { return false }
        let before = self.hours.filter { $0.key < current - 1 }.values.reduce(0, +)
        let usual = Double(before) / Double(current - 1 - first)
        guard usual > 0 else { return false }
        let wanted = (Self.compared / usual).rounded(.up)
        let length = wanted >= Double(Self.maximum) ? Self.maximum : max(Int64(exactly: wanted) ?? 1, 1)
        // A window that slides: of its first hour as much as is not over.
        let part = self.now.partOfHour
        let whole = ((current - length + 1)...current).reduce(0.0) { $0 + Double(self.hours[$1] ?? 0) }
        let seen = whole + (1 - part) * Double(self.hours[current - length] ?? 0)
        return seen < usual * Double(length) / 2
    }
}

/// The installations that reported a host with attested reports in the last hour.
package struct AttestedHost: Hashable, Sendable {
    /// The minimum number of keys, and of networks, that are an alarm (docs/decisions/0066).
    package static let minimumAlarming = 3

    /// The number of keys that were heard, each once however often it reported.
    package let keys: Int
    /// The number of networks from which they were heard first.
    package let networks: Int

    package init(keys: Int, networks: Int) { (self.keys, self.networks) = (keys, networks) }

    /// Whether it is an alarm by itself, without regard to what is usual (docs/decisions/0066).
    package var isAlarming: Bool { min(self.keys, self.networks) >= Self.minimumAlarming }
}

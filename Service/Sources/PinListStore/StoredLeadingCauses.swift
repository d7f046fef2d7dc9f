// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

extension StoreTransaction {
    /// The maximum number of hosts whose cause is looked up at a time: what each costs is bounded, and a storm is of
    /// many hosts.
    package static var maximumLeadingCauses: Int { 10 }
    /// The maximum number of groups of a host that are looked at: those with the newest reports, and with the most.
    private static var groupsOfLeadingCause: Int { 10 }
    /// The hours over which the reports of a group are added up: this one and the one before.
    static func recentHours(at now: Timestamp) -> ClosedRange<Int64> { (now.hour - 1)...now.hour }

    /// The cause of most failures of each host in the last hours.
    ///
    /// - Parameters:
    ///   - hosts: The hosts, the most urgent first; only ``maximumLeadingCauses`` are looked up.
    ///   - attested: Of these, the hosts of which attested reports alone count.
    ///   - newest: The newest version of each list.
    ///   - now: The time.
    package func leadingCauses(
        of hosts: [String], attested: Set<String>, newest: [String: Int64], at now: Timestamp
    ) throws -> [String: LeadingCause] {
        // A wrong clock may have counted some in hours to come: they neither count nor take the places of others.
        let hours = Self.recentHours(at: now)
        let grid = HourGrid(.day, until: now.hour)
        var causes: [String: LeadingCause] = [:]
        for host in hosts.prefix(Self.maximumLeadingCauses) where !host.isEmpty {
            let groups = try self.groups(
                GroupFilter(
                    host: host, hours: hours, isAttested: attested.contains(host), limit: Self.groupsOfLeadingCause),
                newest: newest, at: now)
            let counts = try self.groupCounts(groups.map(\.number), in: grid)
            // Groups of several versions of the app have one cause.
            let kinds = Dictionary(grouping: groups, by: \.cause.kind)
            let reports = kinds.mapValues { groups in
                groups.reduce(Int64(0)) { sum, group in
                    let windows = counts[group.number] ?? [:]
                    return sum + windows.filter { hours.contains(grid.start + $0.key) }.values.reduce(0, +)
                }
            }
            let most = reports.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key
            guard let most, let groups = kinds[most], let since = groups.map(\.seen.lowerBound).min() else { continue }
            causes[host] = LeadingCause(
                most, since: since, networks: groups.compactMap(\.networks).max { $0.number < $1.number })
        }
        return causes
    }
}

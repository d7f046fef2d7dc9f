// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
package import PinReportAnalysis

extension StoreTransaction {
    /// The number of bodies that are kept of a group as they came: what people look at. Of the others their members
    /// are. Instances that add to a new group at the same moment keep as many each.
    static var bodiesOfGroup: Int64 { 16 }

    private static let reports = SQLInsertion(
        into: "report",
        [
            "group_number", "received_at", "claimed_at", "host", "port", "platform", "leaf_pin", "signals", "sampled",
            "body", "attestation", "attestation_step",
        ])
    /// Rows of what an instance counted of a group.
    static let groupCounts = SQLInsertion(
        into: "group_count", ["group_number", "instance", "count", "bodies", "bodies_at", "first_at", "last_at"],
        """
        ON CONFLICT (group_number, instance) DO UPDATE SET count = group_count.count + excluded.count,
            bodies = group_count.bodies + excluded.bodies,
            bodies_at = CASE WHEN excluded.bodies_at > group_count.bodies_at THEN excluded.bodies_at
                ELSE group_count.bodies_at END,
            first_at = CASE WHEN excluded.first_at < group_count.first_at THEN excluded.first_at
                ELSE group_count.first_at END,
            last_at = CASE WHEN excluded.last_at > group_count.last_at THEN excluded.last_at
                ELSE group_count.last_at END
        """)
    /// Rows of what an instance counted of a group by the hour.
    static let groupHours = SQLInsertion(
        into: "group_hour", ["group_number", "hour", "count", "instance"],
        "ON CONFLICT (group_number, hour, instance) DO UPDATE SET count = group_hour.count + excluded.count")
    private static let networks = SQLInsertion(
        into: "group_network", ["group_number", "day", "instance", "networks", "is_more"],
        """
        ON CONFLICT (group_number, day, instance) DO UPDATE SET networks = excluded.networks, is_more = excluded.is_more
            WHERE excluded.networks > group_network.networks
        """)
    private static let leaves = SQLInsertion(
        into: "group_leaf", ["group_number", "pin", "not_before", "not_after", "instance"],
        "ON CONFLICT (group_number, pin, instance) DO NOTHING")
    /// Rows of what an instance counted of a host by the hour.
    static let hours = SQLInsertion(
        into: "report_hour", ["hour", "host", "kind", "count", "instance"],
        "ON CONFLICT (hour, host, kind, instance) DO UPDATE SET count = report_hour.count + excluded.count")
    private static let hosts = SQLInsertion(
        into: "counted_host", ["day", "name", "host", "instance"], "ON CONFLICT (day, name, host, instance) DO NOTHING")

    /// Adds reports, and what is counted of them: all or nothing. The rows of an instance are its own, so that no instance
    /// waits for another.
    ///
    /// - Parameter instance: The instance that counts.
    /// - Throws: ``ReportsMustWait``, before anything is added: the transaction has to be taken back.
    package func add(_ reports: [AcceptedReport], countedBy instance: String) throws {
        guard !reports.isEmpty else { return }
        let reports = try self.withUsedAssertions(reports)
        try self.makeReportDays(Set(reports.map { $0.receivedAt.secondsSince1970 / 86_400 }))
        let groups = try self.groups(of: reports)
        var counts: [Int64: GroupCount] = [:]
        let rows = reports.compactMap { report -> [SQLValue]? in
            guard let group = groups[report.group.id] else { return nil }
            let isKept = counts[group.number, default: GroupCount(group)].add(report)
            return Self.row(of: report, in: group.number, withBody: isKept)
        }
        guard rows.count == reports.count else {
            throw StoreError(.damaged, "\(reports.count - rows.count) reports have a group that was not made")
        }
        // Before what is counted, which on PostgreSQL goes with the commit: what is copied does not.
        try self.connection.insert(rows, Self.reports)
        let sorted = counts.sorted { $0.key < $1.key }
        try self.connection.insert(sorted.map { $1.row(instance) }, Self.groupCounts)
        try self.connection.insert(
            sorted.flatMap { number, count in
                count.hours.sorted { $0.key < $1.key }.map { hour, count in
                    [.integer(number), .integer(hour), .integer(count), .text(instance)]
                }
            }, Self.groupHours)
        try self.connection.insert(sorted.compactMap { $1.networkRow(instance) }, Self.networks)
        try self.addLeaves(counts, instance)
        try self.addSightedNetworks(reports, instance)
        try self.addHours(reports, instance)
        try self.addAttestations(reports, instance)
    }

    /// Makes the tables of days, where each day has one.
    package func makeReportDays(_ days: Set<Int64>) throws {
        for day in days.sorted() { try self.connection.makeReportDay(day) }
    }

    /// Adds the leaves that were not seen yet, up to one more than are told apart.
    private func addLeaves(_ counts: [Int64: GroupCount], _ instance: String) throws {
        let seen = counts.filter { !$1.leaves.isEmpty }
        guard !seen.isEmpty else { return }
        var known: [Int64: Set<String>] = [:]
        for row in try self.connection.rows(
            in: seen.keys.sorted().map { .integer($0) },
            { "SELECT group_number, pin FROM group_leaf WHERE group_number IN (\($0))" })
        { known[try row.integer(0), default: []].insert(try row.text(1)) }
        var rows: [[SQLValue]] = []
        for (number, count) in seen.sorted(by: { $0.key < $1.key }) {
            for (pin, leaf) in count.leaves.sorted(by: { $0.key < $1.key }) {
                guard known[number, default: []].count <= DistinctLeaves.maximum,
                    known[number, default: []].insert(pin).inserted
                else { continue }
                rows.append([
                    .integer(number), .text(pin), .optional(leaf.notBefore?.secondsSince1970),
                    .optional(leaf.notAfter?.secondsSince1970), .text(instance),
                ])
            }
        }
        try self.connection.insert(rows, Self.leaves)
    }

    /// Counts reports by the hour, under the hosts that ``CountedHosts`` says.
    private func addHours(_ reports: [AcceptedReport], _ instance: String) throws {
        struct Key: Hashable {
            let hour: Int64
            let host: String
            let kind: String
        }
        var hours: [Key: Int64] = [:]
        for (day, reports) in Dictionary(grouping: reports, by: { $0.receivedAt.hour / 24 }).sorted(by: {
            $0.key < $1.key
        }) {
            var hosts = CountedHosts(taken: try self.takenPlaces(on: day, of: reports))
            for report in reports {
                let key = Key(
                    hour: report.receivedAt.hour, host: hosts.host(of: report), kind: CountedKind.of(report.report))
                hours[key, default: 0] += 1
            }
            try self.connection.insert(
                hosts.added.sorted { ($0.name, $0.host) < ($1.name, $1.host) }.map { place in
                    [.integer(day), .text(place.name), .text(place.host), .text(instance)]
                }, Self.hosts)
        }
        try self.connection.insert(
            hours.sorted { ($0.key.hour, $0.key.host, $0.key.kind) < ($1.key.hour, $1.key.host, $1.key.kind) }.map {
                [.integer($0.hour), .text($0.host), .text($0.kind), .integer($1), .text(instance)]
            }, Self.hours)
    }

    private func takenPlaces(on day: Int64, of reports: [AcceptedReport]) throws -> Set<CountedHosts.Place> {
        guard reports.contains(where: { !$0.isListed }) else { return [] }
        let rows = try self.connection.rows(
            "SELECT DISTINCT name, host FROM counted_host WHERE day = ?", [.integer(day)])
        return Set(try rows.map { CountedHosts.Place(name: try $0.text(0), host: try $0.text(1)) })
    }

    /// The maximum numbers of bytes of texts in the row of a report, which every report has, whatever its source has written
    /// before: a DNS name has 253 at most, and the 32 longest names of `RuntimeIntegrity`, of which a client sends no more,
    /// have 503. A document has all of it.
    private static var maximumBytes: (host: Int, platform: Int, signals: Int) { (253, 64, 512) }

    /// The beginning of a text: whole characters, of so many bytes together at most.
    private static func beginning(of text: String, bytes maximum: Int) -> String {
        guard text.utf8.count > maximum else { return text }
        var bytes = 0
        let beginning = text.prefix { character in
            bytes += character.utf8.count
            return bytes <= maximum
        }
        return String(beginning)
    }

    private static func signals(of report: CollectedReport) -> String {
        var bytes = 0
        return report.signals.prefix { signal in
            bytes += signal.utf8.count + 1
            return bytes <= Self.maximumBytes.signals
        }.joined(separator: "\n")
    }

    private static func row(of accepted: AcceptedReport, in group: Int64, withBody: Bool) -> [SQLValue] {
        let report = accepted.report
        let (name, version) = (report.app.platform ?? "", report.app.platformVersion ?? "")
        let platform = name.isEmpty || version.isEmpty ? name + version : "\(name) \(version)"
        return [
            .integer(group), .integer(accepted.receivedAt.secondsSince1970),
            .optional(report.claimedTime?.secondsSince1970),
            .text(Self.beginning(of: report.hostname, bytes: Self.maximumBytes.host)),
            .optional(report.port.map { Int64($0) }),
            .text(Self.beginning(of: platform, bytes: Self.maximumBytes.platform)),
            .optional(report.leaf?.pin.description), .text(Self.signals(of: report)),
            .integer(accepted.isSample ? 1 : 0), withBody ? .blob(accepted.body) : .null,
            .text(accepted.attestation.state.rawValue), .optional(accepted.attestation.step.map { Int64($0) }),
        ]
    }
}

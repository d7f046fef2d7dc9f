// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata
package import PinReportAnalysis

extension StoreTransaction {
    /// The last probe of each host.
    package func probes() throws -> [StoredProbe] {
        try self.connection.rows(
            "SELECT name, host, at, ok, result, missed_at, missed FROM probe ORDER BY name, host", []
        ).map { row in
            var probe = StoredProbe(
                name: try row.text(0), host: try row.text(1),
                at: Timestamp(secondsSince1970: try row.integer(2)), isOK: try row.integer(3) != 0,
                result: try row.blob(4))
            let why = try row.optionalText(6) ?? ""
            probe.miss = try row.optionalInteger(5).map {
                StoredProbe.Miss(at: Timestamp(secondsSince1970: $0), why: why)
            }
            return probe
        }
    }

    /// Replaces what was found of hosts, unless it is older. That a host was not reached replaces nothing that was
    /// found of it: a host that locks clients out still does while no probe gets through.
    package func add(_ probes: [StoredProbe]) throws {
        for probe in probes.sorted(by: { ($0.name, $0.host) < ($1.name, $1.host) }) {
            let facts = ProbeFacts(probe.result)
            let miss = facts.isUnreached ? facts.trouble ?? "" : nil
            try self.connection.execute(
                miss == nil ? Self.replacingProbe : Self.missingProbe,
                [
                    .text(probe.name), .text(probe.host), .integer(probe.at.secondsSince1970),
                    .integer(probe.isOK ? 1 : 0), .blob(probe.result),
                    miss == nil ? .null : .integer(probe.at.secondsSince1970), miss.map { .text($0) } ?? .null,
                ])
        }
    }

    private static var insertingProbe: String {
        "INSERT INTO probe (name, host, at, ok, result, missed_at, missed) VALUES (?, ?, ?, ?, ?, ?, ?) "
            + "ON CONFLICT (name, host) DO UPDATE SET "
    }

    private static var replacingProbe: String {
        self.insertingProbe + """
            at = excluded.at, ok = excluded.ok, result = excluded.result,
                missed_at = CASE WHEN probe.missed_at > excluded.at THEN probe.missed_at END,
                missed = CASE WHEN probe.missed_at > excluded.at THEN probe.missed END
                WHERE excluded.at >= probe.at
            """
    }

    private static var missingProbe: String {
        self.insertingProbe + """
            missed_at = excluded.missed_at, missed = excluded.missed
                WHERE excluded.missed_at >= probe.at AND excluded.missed_at >= COALESCE(probe.missed_at, 0)
            """
    }

    /// Dates back what a wrong clock dated ahead: until that time nothing else that was found would replace it.
    package func dateBackProbes(of name: String, at now: Timestamp) throws {
        let now = try self.latestTime(by: now)
        let latest = SQLValue.integer(now.before(-BelievedTime.step).secondsSince1970)
        let unknown = SQLValue.integer(now.before(86_400).secondsSince1970)
        for column in ["at", "missed_at"] {
            try self.connection.execute(
                "UPDATE probe SET \(column) = ? WHERE name = ? AND \(column) > ?", [unknown, .text(name), latest])
        }
    }

    /// Forgets hosts that no list has any more.
    package func removeProbes(of name: String, but hosts: Set<String>) throws {
        for row in try self.connection.rows("SELECT host FROM probe WHERE name = ?", [.text(name)]) {
            let host = try row.text(0)
            guard !hosts.contains(host) else { continue }
            try self.connection.execute("DELETE FROM probe WHERE name = ? AND host = ?", [.text(name), .text(host)])
        }
    }
}

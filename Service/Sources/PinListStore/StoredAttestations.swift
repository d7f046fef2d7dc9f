// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Crypto
package import PinReportAnalysis

extension StoreTransaction {
    /// The maximum number of keys that an instance notes of a host in an hour: an alarm asks for three, and is told again at
    /// ten times as many.
    private static var maximumWitnesses: Int { 64 }

    /// The maximum number of them in one network: an alarm asks for three networks, and no office has the places of others.
    private static var maximumWitnessesInNetwork: Int { 8 }

    /// Rows of what an instance counted of a name by the hour.
    static let attestationHours = SQLInsertion(
        into: "attestation_hour", ["name", "hour", "host", "state", "count", "instance"],
        """
        ON CONFLICT (name, hour, host, state, instance) DO UPDATE SET count = attestation_hour.count + excluded.count
        """)
    private static let witnesses = SQLInsertion(
        into: "attested_witness", ["host", "hour", "witness", "instance", "network", "at"],
        // The network is that of the first report, and the time that of the last one.
        "ON CONFLICT (host, hour, witness, instance) DO UPDATE SET at = excluded.at")

    /// Counts reports of names that ask for assertions, and notes which keys were heard of which host this hour.
    package func addAttestations(_ reports: [AcceptedReport], _ instance: String) throws {
        struct Key: Hashable {
            let name: String
            let hour: Int64
            let host: String
            let state: AttestationState
        }
        var counts: [Key: Int64] = [:]
        var heard: [String: [AcceptedReport]] = [:]
        for report in reports where report.attestation.state != .notAsked {
            // All hosts that a stranger makes up count as one.
            let host = report.isListed ? report.group.notedHostname : HostRate.otherHosts
            counts[
                Key(
                    name: report.attestation.name, hour: report.receivedAt.hour, host: host,
                    state: report.attestation.state), default: 0] += 1
            if report.isListed, report.attestation.use != nil { heard[host, default: []].append(report) }
        }
        try self.connection.insert(
            counts.sorted {
                ($0.key.name, $0.key.hour, $0.key.host, $0.key.state.rawValue)
                    < ($1.key.name, $1.key.hour, $1.key.host, $1.key.state.rawValue)
            }.map { key, count in
                [
                    .text(key.name), .integer(key.hour), .text(key.host), .text(key.state.rawValue), .integer(count),
                    .text(instance),
                ]
            }, Self.attestationHours)
        for (host, reports) in heard.sorted(by: { $0.key < $1.key }) { try self.note(reports, of: host, instance) }
    }

    private func note(_ reports: [AcceptedReport], of host: String, _ instance: String) throws {
        guard let hour = reports.first?.receivedAt.hour else { return }
        var networks: [[UInt8]: [UInt8]] = [:]
        for row in try self.connection.rows(
            "SELECT witness, network FROM attested_witness WHERE host = ? AND hour = ? AND instance = ?",
            [.text(host), .integer(hour), .text(instance)])
        {
            networks[try row.blob(0)] = try row.blob(1)
        }
        var keysIn = networks.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        var times: [[UInt8]: Timestamp] = [:]
        for report in reports {
            guard let use = report.attestation.use else { continue }
            // Not the key id: what stands here for two hours names no key of the table of keys.
            let witness = Array(SHA256.hash(data: use.keyID + Array(host.utf8)).prefix(16))
            if networks[witness] == nil {
                guard networks.count < Self.maximumWitnesses,
                    keysIn[use.network, default: 0] < Self.maximumWitnessesInNetwork
                else { continue }
                networks[witness] = use.network
                keysIn[use.network, default: 0] += 1
            }
            times[witness] = max(report.receivedAt, times[witness] ?? report.receivedAt)
        }
        try self.connection.insert(
            times.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { witness, time in
                [
                    .text(host), .integer(hour), .blob(witness), .text(instance), .blob(networks[witness] ?? []),
                    .integer(time.secondsSince1970),
                ]
            }, Self.witnesses)
    }

    /// The counts of names that ask for assertions.
    ///
    /// - Parameter names: The names.
    package func attestationRates(of names: Set<String>, at now: Timestamp) throws -> [String: AttestationRate] {
        try names.reduce(into: [:]) { rates, name in
            var rate = AttestationRate(at: now)
            for row in try self.connection.rows(
                "SELECT hour, state, SUM(count) FROM attestation_hour WHERE name = ? AND hour >= ? GROUP BY hour, state",
                [.text(name), .integer(now.hour - AttestationRate.month)])
            {
                rate.add(
                    try row.integer(2), in: try row.integer(0),
                    isAttested: try row.text(1) == AttestationState.attested.rawValue)
            }
            rates[name] = rate
        }
    }

    /// The numbers of keys that are registered for names. It goes through all of them, millions perhaps: no page and no alarm
    /// should wait for it.
    package func attestedKeyCounts(of names: Set<String>) throws -> [String: Int64] {
        try names.reduce(into: [:]) { counts, name in
            counts[name] =
                try self.connection.rows("SELECT COUNT(*) FROM attested_key WHERE name = ?", [.text(name)])
                .first?.integer(0)
        }
    }

    /// The keys and networks that were heard of each host in the last hour. A key counts once, with the network that it
    /// was heard from first: one that moves, or that two instances heard, is not two. What a clock that was ahead put into
    /// hours to come counts for none.
    package func attestedHosts(at now: Timestamp) throws -> [String: AttestedHost] {
        var heard: [String: [[UInt8]: [UInt8]]] = [:]
        for row in try self.connection.rows(
            """
            SELECT host, witness, network FROM attested_witness WHERE hour >= ? AND at > ? AND at <= ?
            ORDER BY hour, at, instance
            """,
            [
                .integer(now.hour - 1), .integer(now.before(3_600).secondsSince1970),
                .integer(now.secondsSince1970),
            ])
        {
            let (host, witness) = (try row.text(0), try row.blob(1))
            if heard[host]?[witness] == nil { heard[host, default: [:]][witness] = try row.blob(2) }
        }
        return heard.mapValues { AttestedHost(keys: $0.count, networks: Set($0.values).count) }
    }
}

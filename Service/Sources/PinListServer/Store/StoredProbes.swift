// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// What a probe found of a host, the last time.
public struct StoredProbe: Hashable, Sendable {
    /// The list.
    public let name: String
    /// The host.
    public let host: String
    /// When it was asked.
    public let at: Timestamp
    /// Whether all was well.
    public let isOK: Bool
    /// What was found: the object of `tumbler probe --json`.
    public let result: [UInt8]

    /// States a result.
    public init(name: String, host: String, at: Timestamp, isOK: Bool, result: [UInt8]) {
        self.name = name
        self.host = host
        self.at = at
        self.isOK = isOK
        self.result = result
    }
}

extension StoreTransaction {
    /// What was found last of each host.
    func probes() throws -> [StoredProbe] {
        try self.connection.rows("SELECT name, host, at, ok, result FROM probe ORDER BY name, host", []).map { row in
            StoredProbe(
                name: try row.text(0), host: try row.text(1),
                at: Timestamp(secondsSince1970: try row.integer(2)), isOK: try row.integer(3) != 0,
                result: try row.blob(4))
        }
    }

    /// Replaces what was found of hosts, unless it is older.
    func add(_ probes: [StoredProbe]) throws {
        for probe in probes.sorted(by: { ($0.name, $0.host) < ($1.name, $1.host) }) {
            try self.connection.execute(
                """
                INSERT INTO probe (name, host, at, ok, result) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name, host) DO UPDATE SET at = excluded.at, ok = excluded.ok, result = excluded.result
                    WHERE excluded.at >= probe.at
                """,
                [
                    .text(probe.name), .text(probe.host), .integer(probe.at.secondsSince1970),
                    .integer(probe.isOK ? 1 : 0), .blob(probe.result),
                ])
        }
    }

    /// Forgets hosts that no list has any more.
    func removeProbes(of name: String, but hosts: Set<String>) throws {
        for row in try self.connection.rows("SELECT host FROM probe WHERE name = ?", [.text(name)]) {
            let host = try row.text(0)
            guard !hosts.contains(host) else { continue }
            try self.connection.execute("DELETE FROM probe WHERE name = ? AND host = ?", [.text(name), .text(host)])
        }
    }
}

extension ProbedKeys {
    /// Compares what a probe found with what is reported; `nil` when it found no path.
    init?(_ probe: StoredProbe, leaves: Set<String>, issuer: Pin?) {
        let path = ProbeFacts(probe.result).path
        guard let leaf = path.first else { return nil }
        self.init(
            at: probe.at, hasLeaf: leaves.contains(leaf.pin),
            hasIssuer: issuer.map { path.dropFirst().first?.pin == $0.description } ?? false)
    }
}

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
    /// When a probe did not reach the host after that, and why; `nil` when the last one did.
    public internal(set) var miss: Miss?

    /// That a probe did not reach a host.
    public struct Miss: Hashable, Sendable {
        /// When it tried.
        public let at: Timestamp
        /// Why, in words.
        public let why: String
    }

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

    /// Replaces what was found of hosts, unless it is older. That a host was not reached replaces nothing that was found
    /// of it: who is locked out stays locked out while no probe gets through.
    func add(_ probes: [StoredProbe]) throws {
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

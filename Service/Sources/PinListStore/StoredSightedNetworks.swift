// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

/// The networks whose reports named the key of a certificate that apps refuse and a log has. The networks of a group say nothing
/// of one key: whoever makes a report up chooses its group.
extension StoreTransaction {
    private static let sightedNetworks = SQLInsertion(
        into: "sighted_network", ["key", "day", "instance", "networks"],
        """
        ON CONFLICT (key, day, instance) DO UPDATE SET networks = excluded.networks
            WHERE excluded.networks > sighted_network.networks
        """)

    /// Adds the numbers of networks that reports came with.
    func addSightedNetworks(_ reports: [AcceptedReport], _ instance: String) throws {
        struct Key: Hashable {
            let key: String
            let day: Int64
        }
        var counts: [Key: Int64] = [:]
        for report in reports {
            guard let count = report.sightedNetworks, let leaf = report.report.leaf else { continue }
            let key = Key(key: leaf.pin.description, day: count.day)
            counts[key] = max(counts[key] ?? 0, Int64(count.networks.number))
        }
        try self.connection.insert(
            counts.sorted { ($0.key.key, $0.key.day) < ($1.key.key, $1.key.day) }.map { key, count in
                [.text(key.key), .integer(key.day), .text(instance), .integer(count)]
            }, Self.sightedNetworks)
    }

    /// The keys of the certificates of lists that are an alarm, in whose reports networks are counted.
    package func sightedKeys(of names: [String], at now: Timestamp) throws -> Set<String> {
        try names.reduce(into: []) { keys, name in
            keys.formUnion(
                try self.unexpectedSightings(of: name, at: now, limit: SightingOverview.maximum).map(\.key))
        }
    }

    /// The number of networks from which reports named a key as the leaf's, on the day with the most; 0 where that is not known,
    /// `nil` where none did.
    ///
    /// What came before the key was handed in was not counted by key. There a group counts that has this key alone, and is not
    /// what others overflowed into: without a chain they name no key.
    package func reportingNetworks(of key: String) throws -> Int64? {
        let counted = try self.connection.rows(
            "SELECT MAX(networks) FROM sighted_network WHERE key = ?", [.text(key)]
        ).first?.optionalInteger(0)
        let grouped = try self.connection.rows(
            """
            SELECT MAX(group_network.networks) FROM group_leaf
            JOIN group_network ON group_network.group_number = group_leaf.group_number
            JOIN report_group ON report_group.number = group_leaf.group_number
            WHERE group_leaf.pin = ? AND report_group.issuer <> '' AND NOT EXISTS (
                SELECT 1 FROM group_leaf AS other
                WHERE other.group_number = group_leaf.group_number AND other.pin <> group_leaf.pin)
            """, [.text(key)]
        ).first?.optionalInteger(0)
        if let most = [counted, grouped].compactMap({ $0 }).max() { return most }
        let isNamed = try !self.connection.rows("SELECT 1 FROM group_leaf WHERE pin = ? LIMIT 1", [.text(key)]).isEmpty
        return isNamed ? 0 : nil
    }
}

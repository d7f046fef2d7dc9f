// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
package import PinReportAnalysis

/// The condition under which a plan is stored (RFC 9110, section 13.1): two who change it must not overwrite one
/// another.
package enum RotationCondition: Hashable, Sendable {
    /// No plan is stored yet.
    case absent
    /// A plan is stored already.
    case present
    /// The one that is stored has one of these digests.
    case digests(Set<String>)

    /// Whether it holds.
    ///
    /// - Parameter digest: That of the plan that is stored; `nil` when there is none.
    package func holds(for digest: String?) -> Bool {
        switch self {
        case .absent: digest == nil
        case .present: digest != nil
        case .digests(let digests): digest.map { digests.contains($0) } ?? false
        }
    }
}

/// The result of storing a plan.
package enum RotationStoring: Hashable, Sendable {
    /// The plan was stored; whether there was none before.
    case stored(isNew: Bool)
    /// Another one was faster: the digest of what is stored.
    case changed(digest: String?)
    /// The plans of the list would take more than ``StoreTransaction/maximumRotationBytes``.
    case full
}

extension StoreTransaction {
    /// The maximum number of bytes that the plans of one list may take together: they are read at each look for alarms.
    package static var maximumRotationBytes: Int64 { 4_194_304 }

    /// The plan for a host.
    ///
    /// - Parameter host: The noted hostname, normalised.
    package func rotation(of name: String, host: String) throws -> StoredRotation? {
        try self.connection.rows(
            "SELECT name, host, stored_at, plan FROM rotation WHERE name = ? AND host = ?", [.text(name), .text(host)]
        ).first.map(Self.rotation)
    }

    /// The plans of a list by their hosts; those of all lists for `nil`.
    package func rotations(of name: String? = nil) throws -> [StoredRotation] {
        let condition = name == nil ? "" : "WHERE name = ?"
        return try self.connection.rows(
            "SELECT name, host, stored_at, plan FROM rotation \(condition) ORDER BY name, host",
            name.map { [.text($0)] } ?? []
        ).map(Self.rotation)
    }

    /// Stores a plan that was verified, if a condition holds.
    package func put(_ rotation: StoredRotation, if condition: RotationCondition) throws -> RotationStoring {
        let known = try self.rotation(of: rotation.name, host: rotation.host)
        guard condition.holds(for: known?.digest) else { return .changed(digest: known?.digest) }
        let taken =
            try self.connection.rows(
                "SELECT COALESCE(SUM(LENGTH(plan)), 0) FROM rotation WHERE name = ? AND host <> ?",
                [.text(rotation.name), .text(rotation.host)]
            ).first?.integer(0) ?? 0
        guard taken <= Self.maximumRotationBytes - Int64(rotation.bytes.count) else { return .full }
        try self.connection.execute(
            """
            INSERT INTO rotation (name, host, stored_at, plan) VALUES (?, ?, ?, ?)
            ON CONFLICT (name, host) DO UPDATE SET stored_at = excluded.stored_at, plan = excluded.plan
            """,
            [
                .text(rotation.name), .text(rotation.host), .integer(rotation.storedAt.secondsSince1970),
                .blob(rotation.bytes),
            ])
        return .stored(isNew: known == nil)
    }

    private static func rotation(_ row: SQLRow) throws -> StoredRotation {
        StoredRotation(
            name: try row.text(0), host: try row.text(1), storedAt: Timestamp(secondsSince1970: try row.integer(2)),
            bytes: try row.blob(3))
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

/// A sighting with its bytes.
package struct SightedBytes: Sendable {
    /// The sighting.
    package let sighting: StoredSighting
    /// The certificate or precertificate, DER.
    package let certificate: [UInt8]
    /// A certificate of its issuer's key, whose signature it has; `nil` where none was told.
    package let issuer: [UInt8]?
}

/// Pages of certificates with the keys of their issuers, for asking what issuers revoked.
extension StoreTransaction {
    /// The maximum number of certificates of issuers of a name that are kept (formats.md, section 7).
    package static var maximumSightingIssuers: Int64 { 1_024 }

    /// Keeps certificates of issuers, one for a key: the first that was told.
    ///
    /// - Parameters:
    ///   - issuers: Each with the pin of its key, which signed a certificate that was told. Nothing else of it is verified.
    ///   - name: The list.
    package func keep(sightingIssuers issuers: [String: [UInt8]], of name: String, at now: Timestamp) throws {
        var room = try Self.maximumSightingIssuers - self.count(ofIssuersOf: name)
        for (key, certificate) in issuers.sorted(by: { $0.key < $1.key }) {
            let isKnown =
                try self.connection.execute(
                    "UPDATE sighting_issuer SET last_at = ? WHERE name = ? AND key = ?",
                    [.integer(now.secondsSince1970), .text(name), .text(key)]) > 0
            guard !isKnown, room > 0 else { continue }
            room -= 1
            try self.connection.execute(
                "INSERT INTO sighting_issuer (name, key, last_at, certificate) VALUES (?, ?, ?, ?)",
                [.text(name), .text(key), .integer(now.secondsSince1970), .blob(certificate)])
        }
    }

    private func count(ofIssuersOf name: String) throws -> Int64 {
        try self.connection.rows("SELECT COUNT(*) FROM sighting_issuer WHERE name = ?", [.text(name)]).first?
            .integer(0) ?? 0
    }

    /// Sightings of a name with their bytes, in the order of their identities.
    ///
    /// - Parameter identity: After which they begin; empty for the first ones.
    package func sightedBytes(of name: String, after identity: String, limit: Int) throws -> [SightedBytes] {
        var issuers: [String: [UInt8]?] = [:]
        return try self.connection.rows(
            """
            SELECT \(StoredSighting.columns.joined(separator: ", ")) FROM sighting
            WHERE name = ? AND digest > ? ORDER BY digest LIMIT ?
            """, [.text(name), .text(identity), .integer(Int64(limit))]
        ).map { row in
            let sighting = try StoredSighting(row)
            let key = sighting.issuers.first ?? ""
            let issuer: [UInt8]?
            if let known = issuers[key] {
                issuer = known
            } else {
                issuer = try self.connection.rows(
                    "SELECT certificate FROM sighting_issuer WHERE name = ? AND key = ?", [.text(name), .text(key)]
                ).first?.blob(0)
                issuers[key] = .some(issuer)
            }
            return SightedBytes(
                sighting: sighting, certificate: try row.blob(StoredSighting.columns.count - 1), issuer: issuer)
        }
    }
}

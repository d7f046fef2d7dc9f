// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import CertificateSightings

/// The places that a token has for certificates of logs, and what is forgotten of a token that leaked.
///
/// Nothing of a certificate is verified: its token vouches for it. So one token never takes the places of another.
extension StoreTransaction {
    /// The maximum number of sightings of a name that are kept of one token (formats.md, section 7).
    package static var maximumTokenSightings: Int64 { 10_000 }
    /// The maximum number of sightings of a name that are kept (formats.md, section 7): those of five tokens.
    package static var maximumSightings: Int64 { 50_000 }

    /// The number of further sightings of a name that a token may tell.
    ///
    /// - Parameter actor: The token, as its sightings name it.
    func sightingRoom(of name: String, for actor: String) throws -> Int64 {
        let all = try self.sightingCount("name = ?", [.text(name)])
        // An index has the number of all, and no token told more. Mostly that says enough.
        guard all > Self.maximumTokenSightings / 2 else { return Self.maximumTokenSightings - all }
        let own = try self.sightingCount("name = ? AND told_by = ?", [.text(name), .text(actor)])
        return min(Self.maximumTokenSightings - own, Self.maximumSightings - all)
    }

    private func sightingCount(_ condition: String, _ values: [SQLValue]) throws -> Int64 {
        try self.connection.rows("SELECT COUNT(*) FROM sighting WHERE \(condition)", values).first?.integer(0) ?? 0
    }

    /// Forgets what a token told, but for what apps accept and what a person acknowledged.
    ///
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - limit: The maximum number.
    /// - Returns: The number that were deleted.
    fileprivate func forgetSightings(toldBy id: String, limit: Int) throws -> Int {
        // Behind its id a sighting has the label and the owner of its token.
        try self.connection.execute(
            """
            DELETE FROM sighting WHERE (name, digest) IN (
                SELECT name, digest FROM sighting
                WHERE SUBSTR(told_by, 1, \(AccessToken.idLength)) = ? AND acknowledged_at IS NULL AND state NOT IN (?, ?) LIMIT ?)
            """,
            [
                .text(id), .text(SightingState.pinned.rawValue), .text(SightingState.issuer.rawValue),
                .integer(Int64(limit)),
            ])
    }

    /// Forgets the certificates of issuers that signed nothing which is kept: they have places of their own, too.
    fileprivate func forgetUnusedSightingIssuers() throws {
        let kept = try self.connection.rows("SELECT name, key FROM sighting_issuer", [])
            .map { (name: try $0.text(0), key: try $0.text(1)) }
        var used: [String: Set<Substring>] = [:]
        for (name, key) in kept {
            if used[name] == nil {
                let issuers = try self.connection.rows(
                    "SELECT DISTINCT issuers FROM sighting WHERE name = ?", [.text(name)])
                used[name] = try Set(issuers.compactMap { try $0.text(0).split(separator: " ").first })
            }
            guard used[name]?.contains(key[...]) == false else { continue }
            try self.connection.execute(
                "DELETE FROM sighting_issuer WHERE name = ? AND key = ?", [.text(name), .text(key)])
        }
    }
}

extension ServiceStore {
    /// Forgets what a leaked token told of certificates: all of it but what apps accept and what a person acknowledged.
    /// The audit log says how many they were.
    ///
    /// - Parameters:
    ///   - id: The id of the token.
    ///   - actor: The name in the audit log of who asked for it.
    ///   - now: The time of that.
    /// - Returns: The number that were forgotten.
    package func forgetSightings(toldBy id: String, by actor: String, at now: Timestamp) async throws -> Int {
        // One transaction for each of so many: other writers wait only briefly.
        let batch = 500
        var forgotten = 0
        while true {
            let count = try await self.write { try $0.forgetSightings(toldBy: id, limit: batch) }
            forgotten += count
            guard count == batch else { break }
        }
        let total = forgotten
        guard total > 0 else { return 0 }
        try await self.write { store in
            try store.forgetUnusedSightingIssuers()
            try store.log("sightings-forget", "\(id): \(total) certificates", by: actor, at: now)
        }
        return total
    }
}

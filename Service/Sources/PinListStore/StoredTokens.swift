// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

extension StoreTransaction {
    private static var tokenColumns: String { "id, scope, names, hash, made_at, revoked_at, label, owner, ends_at" }

    /// A token by its id.
    package func token(id: String) throws -> AccessToken? {
        try self.connection.rows("SELECT \(Self.tokenColumns) FROM token WHERE id = ?", [.text(id)]).first
            .flatMap(Self.token)
    }

    /// All tokens, those that are revoked, too, in the order in which they were made.
    package func tokens() throws -> [AccessToken] {
        try self.connection.rows("SELECT \(Self.tokenColumns) FROM token ORDER BY number", []).compactMap(Self.token)
    }

    /// A token; `nil` for a scope that a later version made.
    private static func token(_ row: SQLRow) throws -> AccessToken? {
        guard let scope = AccessToken.Scope(rawValue: try row.text(1)) else { return nil }
        // No name has a space in it.
        let names = try row.text(2).split(separator: " ").map(String.init)
        var token = AccessToken(
            id: try row.text(0), scope: scope, names: names, hash: try row.blob(3),
            madeAt: Timestamp(secondsSince1970: try row.integer(4)))
        token.label = try row.text(6)
        token.owner = try row.text(7)
        token.endsAt = try row.optionalInteger(8).map { Timestamp(secondsSince1970: $0) }
        token.revokedAt = try row.optionalInteger(5).map { Timestamp(secondsSince1970: $0) }
        return token
    }
}

extension StoreTransaction {
    /// The newest tokens, those that are revoked or ended, too, the newest first.
    package func newestTokens(limit: Int) throws -> [AccessToken] {
        try self.connection.rows(
            "SELECT \(Self.tokenColumns) FROM token ORDER BY number DESC LIMIT ?", [.integer(Int64(limit))]
        ).compactMap(Self.token)
    }

    /// Adds a token.
    package func add(_ token: AccessToken) throws {
        try self.connection.execute(
            """
            INSERT INTO token (id, scope, names, hash, made_at, label, owner, ends_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(token.id), .text(token.scope.rawValue), .text(token.names.joined(separator: " ")),
                .blob(token.hash), .integer(token.madeAt.secondsSince1970),
                .text(token.label), .text(token.owner), .optional(token.endsAt?.secondsSince1970),
            ])
    }

    /// Adds a token that a person made, and writes it into the audit log: its rights, its owner and its end.
    package func create(_ token: AccessToken, by actor: String) throws {
        try self.add(token)
        let names = token.names.isEmpty ? "" : " for \(token.names.joined(separator: ", "))"
        let end = token.endsAt.map { ", until \($0)" } ?? ""
        try self.log(
            "token-create", "\(token.actor), \(token.scope.rawValue)\(names)\(end)", by: actor, at: token.madeAt)
    }

    /// Revokes a token; `false` when there is none that is valid: a token that ended counts as revoked.
    package func revokeToken(id: String, at time: Timestamp) throws -> Bool {
        try self.connection.execute(
            "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > ?)",
            [.integer(time.secondsSince1970), .text(id), .integer(time.secondsSince1970)]) == 1
    }

    /// Forgets tokens that ended so long ago that no list needs them.
    func forgetEndedTokens(at now: Timestamp) throws {
        let now = try self.believedTime(by: now)
        try self.connection.execute(
            "DELETE FROM token WHERE ends_at < ?", [.integer(now.before(AccessToken.keptAfterEnd).secondsSince1970)])
    }
}

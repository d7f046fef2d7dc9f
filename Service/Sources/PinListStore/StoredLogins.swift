// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

extension StoreTransaction {
    /// Keeps a code of a log-in link, and says so in the audit log. Codes that ended go, and the oldest of too many.
    package func add(_ code: LoginCode, by actor: String, at now: Timestamp) throws {
        try self.connection.execute(
            "DELETE FROM login_code WHERE ends_at <= ?", [.integer(now.secondsSince1970)])
        try self.connection.execute(
            """
            DELETE FROM login_code WHERE hash NOT IN
                (SELECT hash FROM login_code ORDER BY ends_at DESC, hash LIMIT ?)
            """, [.integer(Int64(LoginCode.maximumOpen - 1))])
        try self.connection.execute(
            "INSERT INTO login_code (hash, owner, ends_at) VALUES (?, ?, ?)",
            [.blob(code.hash), .text(code.owner), .integer(code.endsAt.secondsSince1970)])
        let whom = code.owner.isEmpty ? "" : "for \(code.owner), "
        try self.log("login-link", "\(whom)once, until \(code.endsAt)", by: actor, at: now)
    }

    /// The code that a text is, when it can be used: not one whose end lies so far ahead that a wrong clock set it.
    package func loginCode(_ text: String, at now: Timestamp) throws -> LoginCode? {
        let latest = now.before(-2 * LoginCode.seconds)
        return try self.connection.rows("SELECT hash, owner, ends_at FROM login_code", []).map { row in
            LoginCode(
                hash: try row.blob(0), owner: try row.text(1),
                endsAt: Timestamp(secondsSince1970: try row.integer(2)))
        }.first { $0.matches(text) && now < $0.endsAt && $0.endsAt <= latest }
    }

    /// Uses a code up: it becomes a token that reads, which ends with the log-in. Within a transaction that writes, so that
    /// of two browsers with one link one is logged in.
    ///
    /// - Parameters:
    ///   - text: The text in place of a code.
    ///   - seconds: The duration of the log-in.
    ///   - random: ``AccessToken/randomBytes`` of them.
    ///   - now: The time.
    /// - Returns: The secret of the token; `nil` for what is no code, was used before, or has ended.
    package func logIn(
        byCode text: String, lasting seconds: Int, random: [UInt8], at now: Timestamp
    ) throws -> String? {
        let end = Timestamp(secondsSince1970: now.secondsSince1970 + Int64(seconds))
        guard let code = try self.loginCode(text, at: now),
            let (token, secret) = AccessToken.make(
                .read, names: [], label: AccessToken.loginLabel, owner: code.owner, endsAt: end, random: random, at: now
            )
        else { return nil }
        try self.connection.execute("DELETE FROM login_code WHERE hash = ?", [.blob(code.hash)])
        try self.forgetEndedTokens(at: now)
        try self.create(token, by: AccessToken.loginLabel)
        return secret
    }

    /// Revokes the token of a log-in by a link, when the log-in ends. Other tokens stay: programs may use them as well.
    package func logOut(_ token: AccessToken, at now: Timestamp) throws {
        guard token.label == AccessToken.loginLabel, token.endsAt != nil,
            try self.revokeToken(id: token.id, at: now)
        else { return }
        try self.log("token-revoke", token.id, by: token.actor, at: now)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import PinListStore

extension AdminAccess {
    /// The actor in the audit log for a person who needed no token.
    static let withoutToken = "dashboard"

    /// Checks that a request's token allows reading.
    ///
    /// - Returns: The name of the token in the log; ``withoutToken`` where none is needed.
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectNamedReader(_ request: Request) async throws -> String {
        try await self.expectReader(request)
        guard Self.secret(of: request) != nil else { return Self.withoutToken }
        do { return try await self.token(of: request).actor } catch let problem as Problem {
            // A cookie that ended long ago is no reason to refuse what needs none.
            guard self.needsNoToken(request), problem.status == .unauthorized else { throw problem }
            return Self.withoutToken
        }
    }

    /// Checks that a request's token allows acknowledging and silencing alarms. That always needs a token: the log has
    /// to name it.
    ///
    /// - Returns: The name of the token in the log.
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectOperator(_ request: Request) async throws -> String {
        let token = try await self.token(of: request)
        guard token.mayOperate else {
            throw Problem(
                .forbidden, "wrong-scope",
                "this token does not acknowledge or silence; tumbler token create --scope operate")
        }
        return token.actor
    }

    /// Whether a request comes with a token that may acknowledge and silence alarms.
    func isOperator(_ request: Request) async throws -> Bool {
        do { return try await self.token(of: request).mayOperate } catch let problem as Problem {
            guard problem.status == .unauthorized else { throw problem }
            return false
        }
    }
}

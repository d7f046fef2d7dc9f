// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers
internal import PinListStore

/// Access to the dashboard, the metrics and publications, by token (formats.md, section 7).
struct AdminAccess: Sendable {
    /// The name of the log-in's cookie. Its value is the token itself: every instance of the service knows it, and
    /// revoking the token ends every log-in with it.
    static let cookie = "tumbler"
    /// The duration of a login, in seconds: a working day.
    static let cookieSeconds = 43_200

    /// The store of the tokens.
    let store: any ServiceStore
    /// Tells whether a token has ended.
    let clock: any ServiceClock
    /// Whether the configuration opens the listener to this machine (``ServiceConfiguration/isOpen``).
    let isOpen: Bool
    private let known = KnownSecrets()

    init(store: any ServiceStore, clock: any ServiceClock, isOpen: Bool) {
        self.store = store
        self.clock = clock
        self.isOpen = isOpen
    }

    /// Whether a request on this listener needs no token to look. A proxy that adds no field about itself and rewrites
    /// `Host` is not told from a person here: so nothing is open unless the configuration says it.
    func needsNoToken(_ request: Request) -> Bool {
        guard self.isOpen, let authority = request.head.authority else { return false }
        return LoopbackName.isLoopback(authority: authority) && !RequestSource.isForwarded(request.headers)
    }

    /// Checks that a request may read, by its token or without one.
    ///
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectReader(_ request: Request) async throws {
        if self.needsNoToken(request) { return }
        let token = try await self.token(of: request)
        guard token.mayRead else {
            throw Problem(.forbidden, "wrong-scope", "this token is not for reading; tumbler token create --scope read")
        }
    }

    /// Checks the token of a request: it must allow reading, or publishing or probing a name. A publisher also needs to
    /// know which installations have the list.
    ///
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectReader(of name: String, _ request: Request) async throws {
        if self.needsNoToken(request) { return }
        let token = try await self.token(of: request)
        guard token.mayRead || token.mayProbe(name) else {
            throw Problem(
                .forbidden, "wrong-scope",
                "this token is neither for reading nor for \(name); tumbler token create --scope read")
        }
    }

    /// Checks that a request's token allows publishing under a name.
    ///
    /// - Returns: The name of the token in the log.
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectPublisher(of name: String, _ request: Request) async throws -> String {
        let token = try await self.token(of: request)
        guard token.mayPublish(name) else {
            throw Problem(
                .forbidden, "wrong-scope",
                "this token is not for publishing \(name); tumbler token create --scope publish --name \(name)")
        }
        return token.actor
    }

    /// Checks that a request's token allows handing in the results of a probe of a name.
    ///
    /// - Returns: The name of the token in the log.
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectProber(of name: String, _ request: Request) async throws -> String {
        let token = try await self.token(of: request)
        guard token.mayProbe(name) else {
            throw Problem(
                .forbidden, "wrong-scope",
                "this token is not for probes of \(name); tumbler token create --scope probe --name \(name)")
        }
        return token.actor
    }

    /// Checks that a request's token allows reading, or publishing some names: a publisher must know what that does.
    ///
    /// - Returns: The names that the answer is about; `nil` for all of them.
    /// - Throws: ``Problem``: 401 without a token that counts, 403 with one for something else.
    func expectReaderOrPublisher(_ request: Request) async throws -> [String]? {
        if self.needsNoToken(request) { return nil }
        let token = try await self.token(of: request)
        if token.scope == .publish { return token.names }
        guard token.mayRead else {
            throw Problem(
                .forbidden, "wrong-scope", "this token is not for reading; tumbler token create --scope read")
        }
        return nil
    }

    /// Whether a text is the secret of a token that may look.
    func isReader(_ secret: String) async throws -> Bool { try await self.token(secret)?.mayRead == true }

    /// Whether a request of a browser that changes something comes from a page of ours (the Fetch standard's
    /// `Sec-Fetch-Site`; RFC 6454's `Origin`); `nil` when it says nothing of that, as programs do.
    static func isOfThisSite(_ request: Request) -> Bool? {
        if let site = request.headers[.secFetchSite] { return site == "same-origin" || site == "none" }
        guard let origin = request.headers[.origin] else { return nil }
        return ["http://", "https://"].contains { origin == $0 + (request.head.authority ?? "") }
    }

    /// The token of a request, as it is kept.
    ///
    /// A browser sends the cookie of the log-in along with what other pages make it send. `SameSite=Strict` keeps it
    /// from other sites, and neither from another subdomain of this one nor from another port. This is the one guard of
    /// every change that the cookie vouches for.
    ///
    /// - Throws: ``Problem``: 401 without one that counts, 403 for a change by the cookie that no page of ours made.
    func token(of request: Request) async throws -> AccessToken {
        guard let secret = Self.secret(of: request), let token = try await self.token(secret) else {
            throw Problem(
                .unauthorized, "token-needed", "a valid token is needed: Authorization: Bearer TOKEN",
                headers: [.wwwAuthenticate: "Bearer realm=\"tumbler\""])
        }
        let isByCookie = request.headers[.authorization] == nil
        guard !isByCookie || Self.isReading(request) || Self.isOfThisSite(request) == true else {
            throw Problem(
                .forbidden, "foreign-form",
                "with the cookie of a log-in only the pages of this service change something; a program sends "
                    + "Authorization: Bearer TOKEN")
        }
        return token
    }

    /// Whether the method of a request changes nothing (RFC 9110, section 9.2.1).
    private static func isReading(_ request: Request) -> Bool { request.method == .get || request.method == .head }

    /// The token of a secret, when it is valid.
    func token(_ secret: String) async throws -> AccessToken? {
        guard let id = AccessToken.id(of: secret) else { return nil }
        let found: AccessToken?
        // A guess waits in the strangers' line. What counted before is looked up all the same: a token that was revoked ends
        // at once.
        let reader: StoreReader = self.known.contains(secret) ? .service : .stranger
        do { found = try await self.store.read(for: reader) { try $0.token(id: id) } } catch {
            throw Problem.unavailable(error)
        }
        guard let found, found.matches(secret), found.isValid(at: self.clock.now) else {
            self.known.remove(secret)
            return nil
        }
        self.known.insert(secret)
        return found
    }

    /// The secret that a request carries, in `Authorization` or in the cookie of the log-in; `nil` for none.
    static func secret(of request: Request) -> String? {
        if let field = request.headers[.authorization] {
            let parts = field.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
            return String(parts[1])
        }
        return request.cookies[Self.cookie]?.value
    }
}

/// Secrets of tokens that counted lately, as hashes that mean nothing outside of this process. Nothing follows from one but the
/// line in which its token is looked up.
private final class KnownSecrets: Sendable {
    /// The maximum number; then it begins anew.
    private static let maximum = 1_024

    private let hashes = NIOLockedValueBox<Set<Int>>([])

    func contains(_ secret: String) -> Bool { self.hashes.withLockedValue { $0.contains(secret.hashValue) } }

    func remove(_ secret: String) {
        self.hashes.withLockedValue { hashes in _ = hashes.remove(secret.hashValue) }
    }

    func insert(_ secret: String) {
        self.hashes.withLockedValue { hashes in
            if hashes.count >= Self.maximum { hashes = [] }
            hashes.insert(secret.hashValue)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import AppAttestation
import CertificatePinning
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore

/// What your database does. Each function that takes something is one statement with the comparison in it, so that of two
/// requests at two instances one gets `true`.
public protocol AttestedKeys: Sendable {
    /// What was stored of a key when it was registered; `nil` for a key that is not known.
    func key(_ id: [UInt8]) async throws -> KnownKey?
    /// Uses up a challenge: whether it was given out and not used before.
    func take(challenge: [UInt8]) async -> Bool
    /// Stores a counter where it is greater than the stored one: whether it was.
    func take(counter: UInt32, of id: [UInt8]) async throws -> Bool
}

/// Lets requests through that a key of an unmodified copy of the app signed, and answers all others with 401.
public struct AttestedRequests<Context: RequestContext>: RouterMiddleware {
    let verifier: AssertionVerifier
    let keys: any AttestedKeys

    /// A middleware for the app of this id, `TEAMID.bundle.id`.
    public init(appID: String, keys: any AttestedKeys) {
        (self.verifier, self.keys) = (AssertionVerifier(appID: appID), keys)
    }

    /// Lets a request through, or throws 401.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        let body = Array(try await request.collectBody(upTo: 65_536).readableBytesView)
        guard let id = request.bytes("Attest-Key"), let challenge = request.bytes("Attest-Challenge"),
            let assertion = request.bytes("Attest-Assertion"), let known = try await self.keys.key(id)
        else { throw HTTPError(.unauthorized) }
        let signed = Self.clientData(
            request.method.rawValue, request.head.path ?? "", challenge: challenge, body: body)
        let verified: VerifiedAssertion
        do throws(AttestationError) {
            verified = try await self.verifier.verify(
                assertion, by: known, clientData: .bytes(signed),
                isChallengeGiven: { await self.keys.take(challenge: challenge) })
        } catch {
            context.logger.info("not attested: \(error)")
            throw HTTPError(.unauthorized)
        }
        guard try await self.keys.take(counter: verified.counter, of: id) else { throw HTTPError(.unauthorized) }
        return try await next(request, context)
    }

    /// What the app signs. A challenge always has the same length, so that its end is the beginning of the body.
    public static func clientData(_ method: String, _ path: String, challenge: [UInt8], body: [UInt8]) -> [UInt8] {
        Array("\(method) \(path)\n".utf8) + challenge + body
    }
}

extension Request {
    /// The value of a field in base64, of 4 KiB at most.
    fileprivate func bytes(_ name: String) -> [UInt8]? {
        let text = HTTPField.Name(name).flatMap { self.headers[$0] }
        return text.flatMap { $0.utf8.count <= 4_096 ? Base64.decode($0.utf8) : nil }
    }
}

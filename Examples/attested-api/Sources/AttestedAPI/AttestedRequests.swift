// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import AppAttestation
import CertificatePinning
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore

/// What your database knows. Each function is one statement, so that two instances never both say yes.
public protocol AttestedKeys: Sendable {
    /// What was stored of a key when it was registered; `nil` for none.
    func key(_ id: [UInt8]) async throws -> KnownKey?
    /// Whether a challenge was given out and not used yet; it is used from here on.
    func take(challenge: [UInt8]) async -> Bool
    /// Stores a counter where it is greater than the stored one, and says whether it was.
    func take(counter: UInt32, of id: [UInt8]) async throws -> Bool
}

/// Lets requests through that the key of an unmodified copy of the app signed, and answers all others 401.
///
/// The app signs method, path, challenge and body (`AttestedRequests.clientData`), and sends the fields `Attest-Key`,
/// `Attest-Challenge` and `Attest-Assertion`, each in base64.
public struct AttestedRequests<Context: RequestContext>: RouterMiddleware {
    let verifier: AssertionVerifier
    let keys: any AttestedKeys

    public init(appID: String, keys: any AttestedKeys) {
        self.verifier = AssertionVerifier(appID: appID)
        self.keys = keys
    }

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
        do {
            let verified = try await self.verifier.verify(assertion, by: known, clientData: .bytes(signed)) {
                await self.keys.take(challenge: challenge)
            }
            guard try await self.keys.take(counter: verified.counter, of: id) else { throw HTTPError(.unauthorized) }
        } catch let refusal as AttestationRefusal {
            context.logger.info("not attested: \(refusal)")
            throw HTTPError(.unauthorized)
        }
        return try await next(request, context)
    }

    /// What the app signs.
    public static func clientData(_ method: String, _ path: String, challenge: [UInt8], body: [UInt8]) -> [UInt8] {
        Array("\(method) \(path)\n".utf8) + challenge + body
    }
}

extension Request {
    /// A field in base64, of 4 KiB at most.
    fileprivate func bytes(_ name: String) -> [UInt8]? {
        HTTPField.Name(name).flatMap { self.headers[$0] }.flatMap {
            $0.utf8.count > 4_096 ? nil : Base64.decode($0.utf8)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import AttestedAPI
import CertificatePinning
import Crypto
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import PinningTesting
import Testing

@Suite("The example of an API that knows its app")
struct AttestedAPITests {
    private static let appID = "ABCDE12345.com.example.app"
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let challenge = [UInt8](repeating: 7, count: 32)

    /// A database of one key and one challenge.
    private actor Keys: AttestedKeys {
        let id: [UInt8]
        let attestation: VerifiedAttestation
        var counter: UInt32 = 0
        var challenges: Set<[UInt8]>

        init(_ id: [UInt8], _ attestation: VerifiedAttestation, _ challenges: Set<[UInt8]>) {
            (self.id, self.attestation, self.challenges) = (id, attestation, challenges)
        }

        func key(_ id: [UInt8]) -> KnownKey? {
            guard id == self.id else { return nil }
            return KnownKey(
                self.attestation.key, counter: self.counter, namesCategory: self.attestation.category != nil,
                namesBundleVersion: self.attestation.bundleVersion != nil)
        }

        func take(challenge: [UInt8]) -> Bool { self.challenges.remove(challenge) != nil }

        func take(counter: UInt32, of id: [UInt8]) -> Bool {
            guard counter > self.counter else { return false }
            self.counter = counter
            return true
        }
    }

    /// Sends a request through the middleware.
    private static func status(
        _ keys: Keys, id: [UInt8], _ assertion: [UInt8], challenge: [UInt8] = Self.challenge, body: String = "{}"
    ) async throws -> Int {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: AttestedRequests(appID: Self.appID, keys: keys))
        router.post("/orders") { _, _ in HTTPResponse.Status.ok }
        let values = [("Attest-Key", id), ("Attest-Challenge", challenge), ("Attest-Assertion", assertion)]
        var fields: HTTPFields = [:]
        for (name, value) in values where !value.isEmpty {
            if let name = HTTPField.Name(name) { fields[name] = Base64.encode(value) }
        }
        let head = HTTPRequest(method: .post, scheme: "https", authority: "a", path: "/orders", headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "a"))
        do {
            return Int(
                try await router.buildResponder().respond(to: request, context: BasicRequestContext(source: source))
                    .status.code)
        } catch let error as HTTPError { return Int(error.status.code) }
    }

    private static func hash(_ body: String = "{}", challenge: [UInt8] = Self.challenge) -> [UInt8] {
        let data = AttestedRequests<BasicRequestContext>.clientData(
            "POST", "/orders", challenge: challenge, body: Array(body.utf8))
        return Array(SHA256.hash(data: data))
    }

    @Test("a genuine client is let through once, and forged ones are not")
    func genuineClientIsLetThroughOnceAndForgedOnesAreNot() async throws {
        let authority = try SimulatedAttestationAuthority(at: Self.start)
        var key = SimulatedAttestedKey(under: authority, appID: Self.appID)
        let verifier = AttestationVerifier(appID: Self.appID, environment: .production, root: authority.root)
        let attestation = try await verifier.verify(
            try key.attestation(clientDataHash: Array(SHA256.hash(data: Self.challenge))), keyID: key.keyID,
            challenge: .bytes(Self.challenge), at: Self.start)
        let other = [UInt8](repeating: 8, count: 32)
        let keys = Keys(key.keyID, attestation, [Self.challenge, other])

        var forger = SimulatedAttestedKey(under: authority, appID: Self.appID)
        let forged = try forger.assertion(clientDataHash: Self.hash())
        #expect(try await Self.status(keys, id: key.keyID, forged) == 401)
        #expect(try await Self.status(keys, id: forger.keyID, forged) == 401)
        #expect(try await Self.status(keys, id: key.keyID, []) == 401)
        #expect(try await Self.status(keys, id: [], []) == 401)
        let genuine = try key.assertion(clientDataHash: Self.hash())
        #expect(try await Self.status(keys, id: key.keyID, genuine, body: "{ }") == 401)
        #expect(try await Self.status(keys, id: key.keyID, genuine) == 200)
        #expect(try await Self.status(keys, id: key.keyID, genuine) == 401)
        // A challenge that was used, and one that was never given.
        let again = try key.assertion(clientDataHash: Self.hash())
        #expect(try await Self.status(keys, id: key.keyID, again) == 401)
        let made = [UInt8](repeating: 9, count: 32)
        let invented = try key.assertion(clientDataHash: Self.hash(challenge: made))
        #expect(try await Self.status(keys, id: key.keyID, invented, challenge: made) == 401)
        let next = try key.assertion(clientDataHash: Self.hash(challenge: other))
        #expect(try await Self.status(keys, id: key.keyID, next, challenge: other) == 200)
    }
}

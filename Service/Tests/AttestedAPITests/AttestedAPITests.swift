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

    /// A database of one key, which was registered, and of challenges that were given out.
    private actor Database: AttestedKeys {
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

    /// A request of a client.
    private struct Sent {
        var method = HTTPRequest.Method.post
        var path = "/orders?of=7"
        var body = "{}"
        var challenge = AttestedAPITests.challenges[0]
        var id: [UInt8] = []
        var assertion: [UInt8] = []

        /// The SHA-256 of what the app signs: method, path, challenge and body, written here anew.
        var hash: [UInt8] {
            Array(SHA256.hash(data: Array("\(self.method) \(self.path)\n".utf8) + self.challenge + self.body.utf8))
        }

        func signed(_ key: inout SimulatedAttestedKey, as id: [UInt8]? = nil) throws -> Sent {
            var sent = self
            sent.id = id ?? key.keyID
            sent.assertion = try key.assertion(clientDataHash: self.hash)
            return sent
        }

        func changed(_ change: (inout Sent) -> Void) -> Sent {
            var sent = self
            change(&sent)
            return sent
        }
    }

    private static let challenges = [[UInt8](repeating: 7, count: 32), [UInt8](repeating: 8, count: 32)]

    private var genuine: SimulatedAttestedKey
    private let forger: SimulatedAttestedKey
    private let database: Database

    init() async throws {
        let authority = try SimulatedAttestationAuthority(at: Self.start)
        self.genuine = SimulatedAttestedKey(under: authority, appID: Self.appID)
        self.forger = SimulatedAttestedKey(under: authority, appID: Self.appID)
        let verifier = AttestationVerifier(appID: Self.appID, environment: .production, root: authority.root)
        let challenge = [UInt8](repeating: 6, count: 32)
        let attestation = try await verifier.verify(
            try self.genuine.attestation(clientDataHash: Array(SHA256.hash(data: challenge))),
            keyID: self.genuine.keyID, challenge: .bytes(challenge), at: Self.start)
        self.database = Database(self.genuine.keyID, attestation, Set(Self.challenges))
    }

    /// What the API answers.
    private func status(_ sent: Sent) async throws -> Int {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: AttestedRequests(appID: Self.appID, keys: self.database))
        // What the handler reads is the body that was signed.
        router.post("**") { request, _ async throws in
            #expect(String(buffer: try await request.body.collect(upTo: 1_024)) == sent.body)
            return HTTPResponse.Status.ok
        }
        router.put("**") { _, _ in HTTPResponse.Status.ok }
        var fields: HTTPFields = [:]
        for (name, value) in [
            ("Attest-Key", sent.id), ("Attest-Challenge", sent.challenge), ("Attest-Assertion", sent.assertion),
        ] where !value.isEmpty {
            fields[try #require(HTTPField.Name(name))] = Base64.encode(value)
        }
        let head = HTTPRequest(
            method: sent.method, scheme: "https", authority: "a", path: sent.path, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: sent.body)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        do {
            return try await router.buildResponder()
                .respond(to: request, context: BasicRequestContext(source: source)).status.code
        } catch let error as HTTPError { return error.status.code }
    }

    @Test("a genuine client is let through, once for each signature and challenge")
    func genuineClientIsLetThroughOnceForEachSignatureAndChallenge() async throws {
        var key = self.genuine
        let first = try Sent().signed(&key)
        #expect(try await self.status(first) == 200)
        #expect(try await self.status(first) == 401)
        // A challenge that was used, and one that was never given out.
        #expect(try await self.status(Sent().signed(&key)) == 401)
        let invented = Sent().changed { $0.challenge = [UInt8](repeating: 9, count: 32) }
        #expect(try await self.status(invented.signed(&key)) == 401)
        let next = Sent().changed { $0.challenge = Self.challenges[1] }
        #expect(try await self.status(next.signed(&key)) == 200)
    }

    @Test("forged clients are refused, and use up no challenge of the genuine one")
    func forgedClientsAreRefusedAndUseUpNoChallengeOfTheGenuineOne() async throws {
        var (key, other) = (self.genuine, self.forger)
        let own = try Sent().signed(&other)
        let stolen = try Sent().signed(&other, as: key.keyID)
        let signed = try Sent().signed(&key)
        let forged = [
            own, stolen, Sent(), signed.changed { $0.assertion = [] }, signed.changed { $0.id = [] },
            signed.changed { $0.body = "{ }" }, signed.changed { $0.path = "/orders?of=8" },
            signed.changed { $0.method = .put }, signed.changed { $0.challenge = Self.challenges[1] },
            signed.changed { $0.assertion = [UInt8](repeating: 0, count: 4_096) },
            signed.changed { $0.assertion[$0.assertion.count - 1] ^= 1 },
        ]
        for (index, sent) in forged.enumerated() { #expect(try await self.status(sent) == 401, "\(index)") }
        #expect(try await self.status(signed) == 200)
    }
}

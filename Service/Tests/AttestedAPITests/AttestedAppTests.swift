// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import AttestedAPI
import AttestedApp
import CertificatePinning
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import PinListClient
import PinningTesting
import PinningURLSession
import Testing

@Suite("The example of an app that its API knows")
struct AttestedAppTests {
    private static let appID = "ABCDE12345.com.example.app"
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)

    /// A server that gives out challenges, registers keys, and keeps what it verified.
    private actor Server: AttestedKeys, AttestingServer {
        private let verifier: AttestationVerifier
        private var given: Set<[UInt8]> = []
        private var issued: UInt8 = 0
        private var known: [[UInt8]: (attestation: VerifiedAttestation, counter: UInt32)] = [:]
        private(set) var registrations = 0

        init(root: [UInt8]) {
            self.verifier = AttestationVerifier(
                appID: AttestedAppTests.appID, environment: .production, root: root)
        }

        func challenge() -> [UInt8] {
            self.issued += 1
            let challenge = [UInt8](repeating: self.issued, count: 32)
            self.given.insert(challenge)
            return challenge
        }

        func register(_ key: AppAttestClient.Attestation, challenge: [UInt8]) async throws {
            guard let id = Base64.decode(key.keyID.utf8), self.take(challenge: challenge) else {
                throw HTTPError(.unauthorized)
            }
            let verified = try await self.verifier.verify(
                key.attestation, keyID: id, challenge: .bytes(challenge), at: AttestedAppTests.start)
            self.known[id] = (verified, 0)
            self.registrations += 1
        }

        func key(_ id: [UInt8]) -> KnownKey? {
            self.known[id].map { known in
                KnownKey(
                    known.attestation.key, counter: known.counter,
                    namesCategory: known.attestation.category != nil,
                    namesBundleVersion: known.attestation.bundleVersion != nil)
            }
        }

        func take(challenge: [UInt8]) -> Bool { self.given.remove(challenge) != nil }

        func take(counter: UInt32, of id: [UInt8]) -> Bool {
            guard let known = self.known[id], counter > known.counter else { return false }
            self.known[id]?.counter = counter
            return true
        }
    }

    /// What the Keychain holds.
    private final class KeptKeys: AttestationKeyStore {
        private let bytes = NIOLockedValueBox<[UInt8]?>(nil)

        func load() throws -> [UInt8]? { self.bytes.withLockedValue { $0 } }

        func save(_ bytes: [UInt8]?) throws { self.bytes.withLockedValue { $0 = bytes } }
    }

    private let device: SimulatedAppAttestDevice
    private let server: Server
    private let session: AttestedSession
    private let clock = ManualClock(Self.start)

    init() throws {
        let authority = try SimulatedAttestationAuthority(at: Self.start)
        self.device = SimulatedAppAttestDevice(under: authority, appID: Self.appID)
        self.server = Server(root: authority.root)
        let client = AppAttestClient(
            name: "api.example.com", service: self.device, keys: KeptKeys(), clock: self.clock)
        self.session = AttestedSession(client, self.server)
    }

    /// What the API answers to a request of the app.
    private func status(_ path: String, _ body: String, sent: String? = nil) async throws -> Int {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: AttestedRequests(appID: Self.appID, keys: self.server))
        router.post("**") { _, _ in HTTPResponse.Status.ok }
        var fields: HTTPFields = [:]
        for (name, value) in await self.session.fields("POST", path, body: Array(body.utf8)) {
            fields[try #require(HTTPField.Name(name))] = value
        }
        let head = HTTPRequest(method: .post, scheme: "https", authority: "a", path: path, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: sent ?? body)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        do {
            return try await router.buildResponder()
                .respond(to: request, context: BasicRequestContext(source: source)).status.code
        } catch let error as HTTPError { return error.status.code }
    }

    @Test("its requests are let through, with one key for all, and one that was changed on its way is not")
    func itsRequestsAreLetThroughWithOneKeyForAllAndOneThatWasChangedOnItsWayIsNot() async throws {
        for number in 0..<3 { #expect(try await self.status("/orders?of=\(number)", "{}") == 200) }
        #expect(await self.server.registrations == 1 && self.device.attestations == 1)
        #expect(try await self.status("/orders", "{}", sent: "{ }") == 401)
        #expect(try await self.status("/orders", "{}") == 200)
    }

    @Test(
        "a device that cannot attest sends its request without, and one that lost its key has the next one a day later")
    func deviceThatCannotAttestSendsItsRequestWithoutAndOneThatLostItsKeyHasTheNextOneADayLater() async throws {
        self.device.isSupported = false
        #expect(await self.session.fields("POST", "/orders", body: []).isEmpty)
        self.device.isSupported = true
        #expect(try await self.status("/orders", "{}") == 200)
        self.device.reinstall()
        #expect(await self.session.fields("POST", "/orders", body: []).isEmpty)
        self.clock.advance(by: 86_400)
        #expect(try await self.status("/orders", "{}") == 200)
        #expect(await self.server.registrations == 2)
    }
}

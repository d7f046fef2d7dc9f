// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

@Suite("Reports that an installation signs")
struct AppAttestClientTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let origin = "https://pins.example.com"
    private static let reports = "https://pins.example.com/v1/reports"
    private static let body = Array(#"{"hostname":"a","tumbler":{"list-name":"n","reason":"no-matching-pin"}}"#.utf8)

    /// A service as the client sees it.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Service: ReportSender, @unchecked Sendable {
        struct Request {
            let address: String
            let body: [UInt8]
        }
        private let lock = NSLock()
        private var taken: [Request] = []
        private var statuses: [String: Int] = [:]

        var requests: [Request] { self.lock.withLock { self.taken } }
        var paths: [String] {
            self.requests.map { $0.address.replacingOccurrences(of: AppAttestClientTests.origin, with: "") }
        }
        func answer(_ path: String, _ status: Int) { self.lock.withLock { self.statuses[path] = status } }

        func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
            self.lock.withLock {
                self.taken.append(Request(address: address, body: body))
                let isChallenge = address.hasSuffix("challenges")
                let status = self.statuses[isChallenge ? "challenges" : "keys"] ?? 201
                let challenge = Base64.encode([UInt8](repeating: UInt8(self.taken.count), count: 32))
                return FetchResponse(status: status, body: Array("{\"challenge\":\"\(challenge)\"}".utf8))
            }
        }
    }

    private let device: SimulatedAppAttestDevice
    private let service = Service()
    private let keys = KeptAttestationKey()
    private let clock = ManualClock(Self.start)

    init() throws {
        self.device = SimulatedAppAttestDevice(
            under: try SimulatedAttestationAuthority(at: Self.start), appID: "ABCDE12345.com.example.app")
    }

    private func client() -> AppAttestClient {
        AppAttestClient(
            name: "n", origin: Self.origin, service: self.device, keys: self.keys, transport: self.service,
            clock: self.clock)
    }

    private static func isSigned(_ signature: ReportSignature) -> Bool {
        if case .signed(let field) = signature { return Base64.decode(field.utf8) != nil }
        return false
    }

    @Test("a key is registered once, and the challenge of an answer signs the next report")
    func keyIsRegisteredOnceAndTheChallengeOfAnAnswerSignsTheNextReport() async throws {
        let client = self.client()
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        #expect(self.service.paths == ["/v1/attest/challenges", "/v1/attest/keys", "/v1/attest/challenges"])
        let next = Base64.encode([UInt8](repeating: 9, count: 32))
        await client.answered(FetchResponse(status: 202, fields: ["tumbler-challenge": next]), from: Self.reports)
        // Another start of the app has the key, and this one the challenge.
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        #expect(self.service.paths.count == 3)
        #expect(Self.isSigned(await self.client().attestation(of: Self.body, to: Self.reports)))
        #expect(self.service.paths.count == 4)
        #expect(self.device.attestations == 1)
    }

    @Test(
        "nothing goes to another origin, however alike it looks",
        arguments: [
            "https://pins.example.com.evil.test/v1/reports", "https://evil.test/v1/reports",
            "https://pins.example.com:444/v1/reports", "http://pins.example.com/v1/reports",
            "https://pins.example.com@evil.test/v1/reports", "https://pins.example.com/v1/other",
            "https://evil.test/?https://pins.example.com/v1/reports",
        ])
    func nothingGoesToAnotherOrigin(address: String) async throws {
        let client = self.client()
        #expect(await client.attestation(of: Self.body, to: address) == .elsewhere)
        await client.answered(FetchResponse(status: 202, fields: ["tumbler-attestation": "unknown-key"]), from: address)
        #expect(self.service.requests.isEmpty)
        #expect(self.device.attestations == 0)
    }

    @Test(
        "a key is prepared within the origin alone, at no other address that is named",
        arguments: [
            "https://evil.test", "https://pins.example.com.evil.test", "https://pins.example.com:444",
            "http://pins.example.com", "https://pins.example.com@evil.test", "https://evil.test/pins.example.com",
            "https://pins.example.com/?", "https://evil.test#https://pins.example.com", "pins.example.com", "",
        ])
    func keyIsPreparedWithinTheOriginAloneAtNoOtherAddressThatIsNamed(address: String) async throws {
        let client = self.client()
        await #expect(throws: AppAttestError(.failed)) { try await client.prepare(at: address) }
        #expect(self.service.requests.isEmpty && self.device.attestations == 0)
        // Nothing was begun: there is no pause.
        try await client.prepare(at: Self.origin + "/behind")
        #expect(self.service.paths == ["/behind/v1/attest/challenges", "/behind/v1/attest/keys"])
        try await client.prepare()
        #expect(self.device.attestations == 1)
    }

    @Test("what fails costs no report, and the next attempt waits for a day and some hours")
    func whatFailsCostsNoReportAndTheNextAttemptWaitsForADayAndSomeHours() async throws {
        let client = self.client()
        self.device.failure = .appleUnavailable
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.appleUnavailable))
        self.device.failure = nil
        for seconds in [0, 3_600, 86_400 - 3_600 - 1] as [Int64] {
            self.clock.advance(by: seconds)
            #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.waiting))
        }
        self.clock.advance(by: 21_602)
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        // Without support nothing is asked at all.
        self.device.isSupported = false
        let count = self.service.paths.count
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.unsupported))
        #expect(self.service.paths.count == count)
    }

    @Test("a service that refuses, or gives no challenge, is asked again a day later, with a new key")
    func serviceThatRefusesOrGivesNoChallengeIsAskedAgainADayLater() async throws {
        let client = self.client()
        self.service.answer("keys", 403)
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.refused))
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.waiting))
        self.clock.advance(by: 110_000)
        self.service.answer("keys", 201)
        self.service.answer("challenges", 503)
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.serviceUnavailable))
        self.clock.advance(by: 110_000)
        self.service.answer("challenges", 201)
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        #expect(self.device.attestations == 2)
        // With a key, a service that gives no challenge is no reason to wait.
        self.service.answer("challenges", 503)
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.serviceUnavailable))
        self.service.answer("challenges", 201)
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
    }

    @Test("after a reinstallation, and for a service that forgot it, a new key is made")
    func afterAReinstallationAndForAServiceThatForgotItANewKeyIsMade() async throws {
        let client = self.client()
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        // The Keychain stays, and the key does not.
        self.clock.advance(by: 86_400)
        self.device.reinstall()
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.invalidKey))
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        #expect(self.device.attestations == 2)
        let forgotten = FetchResponse(status: 202, fields: ["tumbler-attestation": "unknown-key"])
        await client.answered(forgotten, from: Self.reports)
        // One that forgets again and again gets one attestation a day.
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.waiting))
        self.clock.advance(by: 86_400)
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
        #expect(self.device.attestations == 3)
    }

    @Test("a Keychain that cannot be read makes no key")
    func keychainThatCannotBeReadMakesNoKey() async throws {
        let client = self.client()
        self.keys.lockUp(true)
        #expect(await client.attestation(of: Self.body, to: Self.reports) == .unsigned(.storage))
        #expect(self.device.attestations == 0)
        self.keys.lockUp(false)
        #expect(Self.isSigned(await client.attestation(of: Self.body, to: Self.reports)))
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinningTesting
import PinningURLSession
import Testing

@Suite("Requests to a server of the app's own that an installation signs")
struct OwnServerAttestationTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let challenge = [UInt8](repeating: 3, count: 20)
    private static let body = Array("POST /orders".utf8)

    /// A transport that an app's own server has no use for.
    private struct Silent: ReportSender {
        func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
            Issue.record("something was sent to \(address)")
            return FetchResponse(status: 500)
        }
    }

    private let device: SimulatedAppAttestDevice
    private let keys = KeptAttestationKey()
    private let clock = ManualClock(Self.start)

    init() throws {
        self.device = SimulatedAppAttestDevice(
            under: try SimulatedAttestationAuthority(at: Self.start), appID: "ABCDE12345.com.example.app")
    }

    /// A start of the app.
    private func client() -> AppAttestClient {
        AppAttestClient(
            name: "api.example.com", service: self.device, keys: self.keys, transport: Silent(), clock: self.clock)
    }

    @Test("a key is attested once, over a restart, too, and signs one request after the other without a connection")
    func keyIsAttestedOnceOverARestartTooAndSignsOneRequestAfterTheOtherWithoutAConnection() async throws {
        let first = self.client()
        await #expect(throws: AppAttestError(.invalidKey)) { try await first.assertion(for: Self.body) }
        let attested = try await first.attest(challenge: Self.challenge)
        #expect(Base64.decode(attested.keyID.utf8)?.count == 32 && !attested.attestation.isEmpty)
        let signed = try await first.assertion(for: Self.body)
        let again = try await self.client().assertion(for: Self.body)
        #expect(signed.keyID == attested.keyID && again.keyID == attested.keyID)
        #expect(signed.assertion != again.assertion && self.device.attestations == 1)
    }

    @Test("after a reinstallation, and for a server that lost it, the next key is made a day later at the earliest")
    func afterAReinstallationAndForAServerThatLostItTheNextKeyIsMadeADayLaterAtTheEarliest() async throws {
        let client = self.client()
        let first = try await client.attest(challenge: Self.challenge)
        self.device.reinstall()
        for _ in 0..<2 {
            await #expect(throws: AppAttestError(.invalidKey)) { try await client.assertion(for: Self.body) }
            await #expect(throws: AppAttestError(.waiting)) { try await client.attest(challenge: Self.challenge) }
        }
        self.clock.advance(by: 86_400)
        let second = try await client.attest(challenge: Self.challenge)
        #expect(second.keyID != first.keyID)
        #expect(try await client.assertion(for: Self.body).keyID == second.keyID)
        // The server does not know it: the app asks for the next one, and signs with this one until then.
        await #expect(throws: AppAttestError(.waiting)) { try await client.attest(challenge: Self.challenge) }
        #expect(try await client.assertion(for: Self.body).keyID == second.keyID)
        self.clock.advance(by: 86_400)
        #expect(try await client.attest(challenge: Self.challenge).keyID != second.keyID)
        #expect(self.device.attestations == 3)
    }

    @Test("the key before signs until its successor is attested, over a restart and where Apple does not answer, too")
    func keyBeforeSignsUntilItsSuccessorIsAttestedOverARestartAndWhereAppleDoesNotAnswerToo() async throws {
        let client = self.client()
        let first = try await client.attest(challenge: Self.challenge)
        self.clock.advance(by: 86_400)
        for failure in [AppAttestError.Code.appleUnavailable, .failed] {
            self.device.failure = failure
            await #expect(throws: AppAttestError(failure)) { try await client.attest(challenge: Self.challenge) }
            self.device.failure = nil
            for client in [client, self.client()] {
                #expect(try await client.assertion(for: Self.body).keyID == first.keyID)
                await #expect(throws: AppAttestError(.waiting)) { try await client.attest(challenge: Self.challenge) }
            }
            self.clock.advance(by: 86_400 + 21_601)
        }
        let second = try await client.attest(challenge: Self.challenge)
        #expect(second.keyID != first.keyID)
        #expect(try await self.client().assertion(for: Self.body).keyID == second.keyID)
    }

    @Test("a key before that the device has no more is forgotten, and the next attempt waits as long as before")
    func keyBeforeThatTheDeviceHasNoMoreIsForgottenAndTheNextAttemptWaitsAsLongAsBefore() async throws {
        let client = self.client()
        _ = try await client.attest(challenge: Self.challenge)
        self.clock.advance(by: 86_400)
        self.device.failure = .failed
        await #expect(throws: AppAttestError(.failed)) { try await client.attest(challenge: Self.challenge) }
        self.device.failure = nil
        self.device.reinstall()
        for _ in 0..<2 {
            await #expect(throws: AppAttestError(.invalidKey)) { try await client.assertion(for: Self.body) }
            await #expect(throws: AppAttestError(.waiting)) { try await client.attest(challenge: Self.challenge) }
        }
        self.clock.advance(by: 86_400 + 21_601)
        let next = try await client.attest(challenge: Self.challenge)
        #expect(try await client.assertion(for: Self.body).keyID == next.keyID)
    }

    @Test("of two requests that both find no key, the second one to attest does not take the key of the first away")
    func ofTwoRequestsThatBothFindNoKeyTheSecondOneToAttestDoesNotTakeTheKeyOfTheFirstAway() async throws {
        let client = self.client()
        for _ in 0..<2 {
            await #expect(throws: AppAttestError(.invalidKey)) { try await client.assertion(for: Self.body) }
        }
        let first = try await client.attest(challenge: Self.challenge)
        await #expect(throws: AppAttestError(.waiting)) { try await client.attest(challenge: Self.challenge) }
        #expect(try await client.assertion(for: Self.body).keyID == first.keyID)
        #expect(try await self.client().assertion(for: Self.body).keyID == first.keyID)
    }

    @Test("what fails at Apple waits for a day and some hours, and a locked or unable device loses no key")
    func whatFailsAtAppleWaitsForADayAndSomeHoursAndALockedOrUnableDeviceLosesNoKey() async throws {
        let client = self.client()
        self.device.failure = .appleUnavailable
        await #expect(throws: AppAttestError(.appleUnavailable)) { try await client.attest(challenge: Self.challenge) }
        self.device.failure = nil
        self.clock.advance(by: 86_399)
        await #expect(throws: AppAttestError(.waiting)) { try await client.attest(challenge: Self.challenge) }
        self.clock.advance(by: 21_602)
        _ = try await client.attest(challenge: Self.challenge)
        self.keys.lockUp(true)
        await #expect(throws: AppAttestError(.storage)) { try await client.assertion(for: Self.body) }
        await #expect(throws: AppAttestError(.storage)) { try await client.attest(challenge: Self.challenge) }
        self.keys.lockUp(false)
        self.device.isSupported = false
        await #expect(throws: AppAttestError(.unsupported)) { try await client.attest(challenge: Self.challenge) }
        await #expect(throws: AppAttestError(.unsupported)) { try await client.assertion(for: Self.body) }
        self.device.isSupported = true
        #expect(try await client.assertion(for: Self.body).assertion.isEmpty == false)
    }

    @Test("a client without an origin signs no report, and prepares no key for any service")
    func clientWithoutAnOriginSignsNoReportAndPreparesNoKeyForAnyService() async throws {
        let client = self.client()
        _ = try await client.attest(challenge: Self.challenge)
        #expect(await client.attestation(of: Self.body, to: "https://pins.example.com/v1/reports") == .elsewhere)
        for address in [nil, "https://pins.example.com"] {
            await #expect(throws: AppAttestError(.failed)) { try await client.prepare(at: address) }
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinningTesting
import PinningURLSession
import Testing

@Suite("Attestation that is never answered")
struct AttestationTimeoutTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let origin = "https://pins.example.com"
    private static let reports = "https://pins.example.com/v1/reports"
    private static let body = Array(#"{"hostname":"a"}"#.utf8)

    /// What is asked of Apple and of the service.
    enum Call: CaseIterable, Sendable { case generateKey, attestKey, generateAssertion, challenge, registration }

    /// A device and a service, one call of which may never be answered. It cannot be cancelled, as Apple's cannot.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class World: AppAttestService, ReportSender, @unchecked Sendable {
        private let kit: SimulatedAppAttestDevice
        private let lock = NSLock()
        private var silent: Call?
        private var calls: [Call] = []
        private var hanging: [CheckedContinuation<Void, Never>] = []
        private var watchers: [CheckedContinuation<Void, Never>] = []

        init(_ kit: SimulatedAppAttestDevice) { self.kit = kit }

        var isSupported: Bool { self.kit.isSupported }

        /// How often something was asked.
        func count(_ call: Call) -> Int { self.lock.withLock { self.calls.count { $0 == call } } }

        /// Has one call never be answered; `nil` answers all, those that hang included.
        func silence(_ call: Call?) {
            let over = self.lock.withLock {
                self.silent = call
                defer { self.hanging = [] }
                return self.hanging
            }
            for one in over { one.resume() }
        }

        /// Waits until a call hangs.
        func untilHanging() async {
            await withCheckedContinuation { wake in
                let isOver = self.lock.withLock {
                    if self.hanging.isEmpty { self.watchers.append(wake) }
                    return !self.hanging.isEmpty
                }
                if isOver { wake.resume() }
            }
        }

        private func reach(_ call: Call) async {
            await withCheckedContinuation { wake in
                let (isSilent, watchers) = self.lock.withLock {
                    self.calls.append(call)
                    guard self.silent == call else { return (false, [CheckedContinuation<Void, Never>]()) }
                    self.hanging.append(wake)
                    defer { self.watchers = [] }
                    return (true, self.watchers)
                }
                if !isSilent { wake.resume() }
                for watcher in watchers { watcher.resume() }
            }
        }

        func generateKey() async throws -> String {
            await self.reach(.generateKey)
            return try await self.kit.generateKey()
        }

        func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
            await self.reach(.attestKey)
            return try await self.kit.attestKey(keyID, clientDataHash: clientDataHash)
        }

        func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
            await self.reach(.generateAssertion)
            return try await self.kit.generateAssertion(keyID, clientDataHash: clientDataHash)
        }

        func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
            await self.reach(address.hasSuffix("challenges") ? .challenge : .registration)
            let challenge = Base64.encode([UInt8](repeating: 7, count: 32))
            return FetchResponse(status: 201, body: Array("{\"challenge\":\"\(challenge)\"}".utf8))
        }
    }

    private let world: World
    private let clock = ManualClock(Self.start)
    private let client: AppAttestClient

    init() throws {
        let kit = SimulatedAppAttestDevice(
            under: try SimulatedAttestationAuthority(at: Self.start), appID: "ABCDE12345.com.example.app")
        self.world = World(kit)
        self.client = AppAttestClient(
            name: "n", origin: Self.origin, service: self.world, keys: KeptAttestationKey(), transport: self.world,
            clock: self.clock)
    }

    /// What a report is signed with, once the clock has gone on for as long as the client waits.
    private func signatureAfterSilence() async -> ReportSignature {
        async let signature = self.client.attestation(of: Self.body, to: Self.reports)
        await self.world.untilHanging()
        await self.clock.untilSleeping(count: 1)
        #expect(self.clock.waits == [15])
        self.clock.advance(by: 15)
        return await signature
    }

    private var isSigned: Bool {
        get async {
            if case .signed = await self.client.attestation(of: Self.body, to: Self.reports) { return true }
            return false
        }
    }

    @Test(
        "Apple or a service that never answers costs a report fifteen seconds once, and the next ones none",
        arguments: [Call.challenge, .generateKey, .attestKey, .registration])
    func appleOrAServiceThatNeverAnswersCostsAReportFifteenSecondsOnceAndTheNextOnesNone(call: Call) async throws {
        self.world.silence(call)
        #expect(await self.signatureAfterSilence() == .unsigned(.timeout))
        let asked = Call.allCases.map(self.world.count)
        for _ in 0..<2 {
            #expect(await self.client.attestation(of: Self.body, to: Self.reports) == .unsigned(.waiting))
        }
        #expect(Call.allCases.map(self.world.count) == asked)
        // An answer that comes at last changes nothing.
        self.world.silence(nil)
        #expect(await self.client.attestation(of: Self.body, to: Self.reports) == .unsigned(.waiting))
        self.clock.advance(by: 86_400 + 21_601)
        #expect(await self.isSigned)
        // A key whose attestation did not arrive is not attested again, and one that Apple did not answer for is.
        let keys: [Call: Int] = [.challenge: 1, .generateKey: 2, .attestKey: 1, .registration: 2]
        #expect(self.world.count(.generateKey) == keys[call])
    }

    @Test("a device that never signs costs each report its signature, and the key stays")
    func deviceThatNeverSignsCostsEachReportItsSignatureAndTheKeyStays() async throws {
        #expect(await self.isSigned)
        self.world.silence(.generateAssertion)
        #expect(await self.signatureAfterSilence() == .unsigned(.timeout))
        self.world.silence(nil)
        #expect(await self.isSigned)
        #expect(self.world.count(.attestKey) == 1)
    }

    @Test("a service that gives no challenge any more costs each report its signature, and the key stays")
    func serviceThatGivesNoChallengeAnyMoreCostsEachReportItsSignatureAndTheKeyStays() async throws {
        #expect(await self.isSigned)
        self.world.silence(.challenge)
        #expect(await self.signatureAfterSilence() == .unsigned(.timeout))
        self.world.silence(nil)
        #expect(await self.isSigned)
        #expect(self.world.count(.attestKey) == 1)
    }
}

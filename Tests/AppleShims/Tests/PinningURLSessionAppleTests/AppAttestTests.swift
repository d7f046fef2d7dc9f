// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import DeviceCheck
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@testable import PinningURLSession

@Suite("App Attest on a device")
struct AppAttestTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let origin = "https://pins.example.com"
    private static let reports = "https://pins.example.com/v1/reports"
    private static let body = Array(#"{"hostname":"a"}"#.utf8)

    /// A service that takes every key.
    private struct Service: ReportSender {
        func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
            let challenge = Base64.encode([UInt8](repeating: 7, count: 32))
            return FetchResponse(status: 201, body: Array("{\"challenge\":\"\(challenge)\"}".utf8))
        }
    }

    /// A call of DeviceCheck.
    enum Call: CaseIterable, Sendable { case generateKey, attestKey, generateAssertion }

    private let kit: SimulatedAppAttestDevice
    private let clock = ManualClock(Self.start)
    /// That of no other test: its key is in the Keychain.
    private let name = "app-\(UUID().uuidString)"

    init() throws {
        self.kit = SimulatedAppAttestDevice(
            under: try SimulatedAttestationAuthority(at: Self.start), appID: "ABCDE12345.com.example.app")
    }

    /// A start of the app, with what an app has: the device and the Keychain.
    private func client(of program: String = KeychainAttestationKey.program) -> AppAttestClient {
        AppAttestClient(
            name: self.name, origin: Self.origin, service: DeviceAppAttest(),
            keys: KeychainAttestationKey(name: self.name, of: program), transport: Service(), clock: self.clock)
    }

    /// A device that works, but for one call.
    private func device(
        _ failing: Call? = nil, _ code: DCError.Code = .invalidKey, having kit: SimulatedAppAttestDevice? = nil
    ) -> SimulatedAppAttest {
        let kit = kit ?? self.kit
        @Sendable func expect(_ call: Call) throws { if call == failing { throw DCError(code) } }
        return SimulatedAppAttest(
            generateKey: {
                try expect(.generateKey)
                return try await kit.generateKey()
            },
            attestKey: { id, hash in
                try expect(.attestKey)
                return Data(try await kit.attestKey(id, clientDataHash: [UInt8](hash)))
            },
            generateAssertion: { id, hash in
                try expect(.generateAssertion)
                return Data(try await kit.generateAssertion(id, clientDataHash: [UInt8](hash)))
            })
    }

    private func attestation(on device: SimulatedAppAttest) async -> ReportSignature {
        await device.run { await self.client().attestation(of: Self.body, to: Self.reports) }
    }

    private static func isSigned(_ signature: ReportSignature) -> Bool {
        if case .signed = signature { return true }
        return false
    }

    @Test("the device attests a key once, and the Keychain keeps its id over a restart")
    func deviceAttestsAKeyOnceAndTheKeychainKeepsItsIDOverARestart() async throws {
        for _ in 0..<3 { #expect(Self.isSigned(await self.attestation(on: self.device()))) }
        #expect(self.kit.attestations == 1)
    }

    @Test("a device without App Attest, as a simulator, reports unsigned and says so")
    func deviceWithoutAppAttestReportsUnsignedAndSaysSo() async throws {
        #expect(await self.client().attestation(of: Self.body, to: Self.reports) == .unsigned(.unsupported))
        #expect(try KeychainAttestationKey(name: self.name).load() == nil)
    }

    @Test("what DeviceCheck says stands in the report, and Apple's server is asked for the same key again")
    func whatDeviceCheckSaysStandsInTheReport() async throws {
        let said: [(Call, DCError.Code, AppAttestError.Code)] = [
            (.generateKey, .featureUnsupported, .unsupported), (.generateKey, .unknownSystemFailure, .failed),
            (.attestKey, .invalidInput, .invalidKey), (.attestKey, .invalidKey, .invalidKey),
            (.attestKey, .unknownSystemFailure, .failed), (.attestKey, .serverUnavailable, .appleUnavailable),
        ]
        for (call, code, reason) in said {
            #expect(await self.attestation(on: self.device(call, code)) == .unsigned(reason), "\(call) \(code)")
            self.clock.advance(by: 110_000)
        }
        #expect(Self.isSigned(await self.attestation(on: self.device())))
    }

    @Test(
        "a key that the device has no more is replaced, a day after it was made at the earliest",
        arguments: [DCError.Code.invalidKey, .invalidInput, .unknownSystemFailure])
    func keyThatTheDeviceHasNoMoreIsReplaced(code: DCError.Code) async throws {
        #expect(Self.isSigned(await self.attestation(on: self.device())))
        #expect(await self.attestation(on: self.device(.generateAssertion, code)) == .unsigned(.invalidKey))
        #expect(await self.attestation(on: self.device()) == .unsigned(.waiting))
        #expect(self.kit.attestations == 1)
        self.clock.advance(by: 86_400)
        #expect(Self.isSigned(await self.attestation(on: self.device())))
        #expect(self.kit.attestations == 2)
    }

    @Test("a server of the app's own gets a key and signatures, and the Keychain keeps the id beside that for reports")
    func serverOfTheAppsOwnGetsAKeyAndSignaturesAndTheKeychainKeepsTheIDBesideThatForReports() async throws {
        let challenge = [UInt8](repeating: 3, count: 32)
        let attested = try await self.device().run {
            try await AppAttestClient(name: self.name).attest(challenge: challenge)
        }
        #expect(Self.isSigned(await self.attestation(on: self.device())))
        // A later start of the app.
        let signed = try await self.device().run {
            try await AppAttestClient(name: self.name).assertion(for: Self.body)
        }
        #expect(signed.keyID == attested.keyID && self.kit.attestations == 2)
        // After a reinstallation the Keychain still has it, and the device does not.
        await #expect(throws: AppAttestError(.invalidKey)) {
            try await self.device(.generateAssertion).run {
                try await AppAttestClient(name: self.name).assertion(for: Self.body)
            }
        }
        await #expect(throws: AppAttestError(.waiting)) {
            try await self.device().run { try await AppAttestClient(name: self.name).attest(challenge: challenge) }
        }
        // The key of reports is another one.
        #expect(Self.isSigned(await self.attestation(on: self.device())))
        #expect(self.kit.attestations == 2)
    }

    @Test(
        "two apps of a team that share the Keychain sign with a key each, also under one name, and so does an extension"
    )
    func twoAppsOfATeamThatShareTheKeychainSignWithAKeyEachAlsoUnderOneNameAndSoDoesAnExtension() async throws {
        // The device has the keys of each for that one alone.
        let programs = try ["com.example.app", "com.example.app.action", "com.example.other"].map { program in
            let authority = try SimulatedAttestationAuthority(at: Self.start)
            return (program, SimulatedAppAttestDevice(under: authority, appID: "ABCDE12345.\(program)"))
        }
        var keyIDs: [String] = []
        for (program, kit) in programs {
            let attested = try await self.device(having: kit).run {
                try await AppAttestClient(name: self.name, of: program).attest(challenge: [1, 2, 3])
            }
            keyIDs.append(attested.keyID)
        }
        for _ in 1...2 {
            for ((program, kit), keyID) in zip(programs, keyIDs) {
                let signed = try await self.device(having: kit).run {
                    try await AppAttestClient(name: self.name, of: program).assertion(for: Self.body)
                }
                #expect(signed.keyID == keyID)
                let report = await self.device(having: kit).run {
                    await self.client(of: program).attestation(of: Self.body, to: Self.reports)
                }
                #expect(Self.isSigned(report))
            }
        }
        // One for the server of the app's own, and one for reports.
        for (program, kit) in programs { #expect(kit.attestations == 2, "\(program)") }
    }

    @Test("an error that is not DeviceCheck's costs no key")
    func errorThatIsNotDeviceChecksCostsNoKey() async throws {
        #expect(Self.isSigned(await self.attestation(on: self.device())))
        let strange = SimulatedAppAttest(
            generateKey: { throw CocoaError(.featureUnsupported) },
            attestKey: { _, _ in throw CocoaError(.featureUnsupported) },
            generateAssertion: { _, _ in throw CocoaError(.featureUnsupported) })
        #expect(await self.attestation(on: strange) == .unsigned(.failed))
        #expect(Self.isSigned(await self.attestation(on: self.device())))
        #expect(self.kit.attestations == 1)
    }
}

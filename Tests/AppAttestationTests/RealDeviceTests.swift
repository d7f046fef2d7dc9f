// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Parsers) @testable import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import TestData
import Testing

/// What real devices sent is accepted, and with one thing changed it is refused at the step that asks for it.
@Suite("What real devices sent", .enabled(if: RealVectors.areThere, RealVectors.missing))
struct RealDeviceTests {
    let vectors: RealVectors

    init() throws { self.vectors = try RealVectors.load() }

    @Test("seven attestations from iOS 14.2 to 14.4 are accepted")
    func sevenAttestationsFromIOS142To144AreAccepted() async throws {
        #expect(self.vectors.attestations.count == 7)
        for attestation in self.vectors.attestations {
            let verified = try await attestation.verify()
            #expect(verified.key.id == Array(attestation.keyId))
            #expect(verified.environment == .development && verified.category == nil && verified.bundleVersion == nil)
            let receipt = try await ReceiptVerifier(appID: attestation.appId).verify(
                verified.receipt, of: verified.key, at: attestation.time)
            #expect(receipt.kind == .attestation)
            #expect(receipt.clientHash == Array(SHA256.hash(data: attestation.challenge)))
        }
    }

    @Test("seven assertions are accepted: their flags promise what is not there, and the nonce is hashed again")
    func sevenAssertionsAreAcceptedTheirFlagsPromiseWhatIsNotThere() async throws {
        #expect(self.vectors.assertions.count == 7)
        for assertion in self.vectors.assertions {
            let object = try CBORReader.value(of: Array(assertion.assertion)[...])
            let data = try #require(object["authenticatorData"]?.asBytes)
            #expect(data.count == 37 && data[32] == 0x40)
            let verified = try await self.verify(assertion)
            #expect(verified == VerifiedAssertion(counter: assertion.counter, category: nil, bundleVersion: nil))
        }
    }

    private func verify(
        _ assertion: RealVectors.Assertion, _ bytes: [UInt8]? = nil, appID: String? = nil, counter: UInt32 = 0,
        clientData: [UInt8]? = nil, namesCategory: Bool = false, namesBundleVersion: Bool = false,
        isChallengeGiven: Bool = true
    ) async throws -> VerifiedAssertion {
        let known = KnownKey(
            try assertion.key, counter: counter, namesCategory: namesCategory, namesBundleVersion: namesBundleVersion)
        return try await AssertionVerifier(appID: appID ?? assertion.appId).verify(
            bytes ?? Array(assertion.assertion), by: known,
            clientData: .bytes(clientData ?? Array(assertion.clientData))
        ) { isChallengeGiven }
    }

    @Test("an attestation is refused before and after its certificate, and under another root, at step 1")
    func attestationIsRefusedBeforeAndAfterItsCertificateAndUnderAnotherRootAtStep1() async throws {
        let attestation = self.vectors.attestations[0]
        let time = try attestation.time.secondsSince1970
        for days: Int64 in [-4, 4] {
            let other = Timestamp(secondsSince1970: time + days * 86_400)
            #expect(try await refusedStep { try await attestation.verify(time: other) } == 1)
        }
        #expect(try await refusedStep { try await attestation.verify(root: AppleRoot.g3) } == 1)
        // One bit of the leaf's signature.
        var bytes = Array(attestation.attestation)
        let leaf = try #require(AttestationObject(bytes).certificates.first)
        let end = try #require(bytes.indices.first { bytes[$0...].starts(with: leaf) }) + leaf.count
        bytes[end - 1] ^= 1
        #expect(try await refusedStep { try await attestation.verify(bytes) } == 1)
    }

    @Test("another challenge, and a byte of authenticator data, are refused at step 4")
    func anotherChallengeAndAByteOfAuthenticatorDataAreRefusedAtStep4() async throws {
        let attestation = self.vectors.attestations[0]
        #expect(try await refusedStep { try await attestation.verify(challenge: .bytes([1])) } == 4)
        #expect(
            try await refusedStep { try await attestation.verify(challenge: .hash(Array(attestation.challenge))) } == 4)
        let bytes = Array(attestation.attestation)
        let data = try AttestationObject(bytes).authenticatorData.bytes
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: data) })
        for offset in data.indices {
            var changed = bytes
            changed[start + offset] ^= 1
            #expect(try await refusedStep { try await attestation.verify(changed) } == 4, "\(offset)")
        }
    }

    @Test("another key id, app and environment are refused at steps 5, 6 and 8")
    func anotherKeyIdAppAndEnvironmentAreRefusedAtSteps56And8() async throws {
        let (attestation, other) = (self.vectors.attestations[0], self.vectors.attestations[1])
        #expect(try await refusedStep { try await attestation.verify(keyID: Array(other.keyId)) } == 5)
        #expect(try await refusedStep { try await attestation.verify(keyID: []) } == 5)
        #expect(try await refusedStep { try await attestation.verify(appID: "6MURL8TA57.com.example.other") } == 6)
        #expect(try await refusedStep { try await attestation.verify(environment: .production) } == 8)
    }

    @Test("an assertion with one thing changed is refused at the step that asks for it")
    func assertionWithOneThingChangedIsRefusedAtTheStepThatAsksForIt() async throws {
        let assertion = self.vectors.assertions[0]
        #expect(try await refusedStep { try await self.verify(assertion, clientData: [1]) } == 3)
        let bytes = Array(assertion.assertion)
        for offset in bytes.indices.suffix(37) {
            var changed = bytes
            changed[offset] ^= 1
            #expect(try await refusedStep { try await self.verify(assertion, changed) } == 3)
        }
        #expect(try await refusedStep { try await self.verify(assertion, appID: "A.b") } == 4)
        #expect(try await refusedStep { try await self.verify(assertion, counter: assertion.counter) } == 5)
        #expect(try await refusedStep { try await self.verify(assertion, isChallengeGiven: false) } == 6)
        #expect(try await refusedStep { try await self.verify(assertion, namesCategory: true) } == 7)
        #expect(try await refusedStep { try await self.verify(assertion, namesBundleVersion: true) } == 8)
        #expect(try await refusedStep { try await self.verify(assertion, Array(bytes.dropLast())) } == nil)
    }

    @Test("an assertion by another key is refused at step 3")
    func assertionByAnotherKeyIsRefusedAtStep3() async throws {
        let assertion = self.vectors.assertions[0]
        let known = KnownKey(
            try self.vectors.assertions[1].key, counter: 0, namesCategory: false, namesBundleVersion: false)
        let step = try await refusedStep {
            try await AssertionVerifier(appID: assertion.appId).verify(
                Array(assertion.assertion), by: known, clientData: .bytes(Array(assertion.clientData))
            ) { true }
        }
        #expect(step == 3)
    }

    @Test("the embedded roots are those that Apple publishes")
    func embeddedRootsAreThoseThatApplePublishes() throws {
        for (file, der, digest) in [
            (
                "Apple_App_Attestation_Root_CA.pem", AppleRoot.appAttestation,
                "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"
            ),
            (
                "Apple_Root_CA_G3.pem", AppleRoot.g3, "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
            ),
        ] {
            let text = try Data(contentsOf: SharedData.attestation.appendingPathComponent(file))
            let block = try #require(try PEMBlock.blocks(in: text).first { $0.label == PEMBlock.certificateLabel })
            #expect(block.bytes == der)
            #expect(Array(SHA256.hash(data: der)) == hexBytes(digest))
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import Testing

/// Each step refuses by its number what the steps before it let through.
@Suite("The steps of an assertion")
struct AssertionStepTests {
    let kit: AttestationKit
    private let request = Array("a request with a challenge in it".utf8)

    init() throws { self.kit = try AttestationKit() }

    private func verify(
        _ assertion: [UInt8], counter: UInt32 = 0, names: Bool = false,
        categories: Set<LaunchCategory> = AttestationEnvironment.production.usualCategories,
        isChallengeGiven: Bool = true
    ) async throws -> VerifiedAssertion {
        let key = try #require(AttestedKey(x963: self.kit.point))
        return try await AssertionVerifier(appID: AttestationKit.appID, categories: categories).verify(
            assertion, by: KnownKey(key, counter: counter, namesCategory: names, namesBundleVersion: names),
            clientData: .bytes(self.request)
        ) { isChallengeGiven }
    }

    @Test("assertions of iOS 14 and of iOS 27 are accepted")
    func assertionsOfIOS14AndOfIOS27AreAccepted() async throws {
        let old = try await self.verify(self.kit.assertion(self.request, counter: 7), counter: 6)
        #expect(old.counter == 7 && old.category == nil && old.bundleVersion == nil)
        let extended = try self.kit.assertion(
            self.request, extensions: AttestationKit.extensions(category: [4, 0, 0, 0], version: "3"))
        let new = try await self.verify(extended, names: true)
        #expect(new.category == .appStore && new.bundleVersion == "3")
    }

    @Test("step 3: a signature over the nonce that is not hashed again, another key's, and none")
    func step3ASignatureOverTheNonceThatIsNotHashedAgainAnotherKeysAndNone() async throws {
        let once = try self.kit.assertion(self.request, hashesTwice: false)
        #expect(try await refusedStep { try await self.verify(once) } == 3)
        let foreign = try self.kit.assertion(self.request, by: P256.Signing.PrivateKey())
        #expect(try await refusedStep { try await self.verify(foreign) } == 3)
        let other = try self.kit.assertion([1, 2, 3])
        #expect(try await refusedStep { try await self.verify(other) } == 3)
        let none = CBOREncoding.map([
            ("signature", CBOREncoding.bytes([])), ("authenticatorData", CBOREncoding.bytes([])),
        ])
        #expect(try await refusedStep { try await self.verify(none) } == 3)
    }

    @Test("step 4: another app, and data that ends too early")
    func step4AnotherAppAndDataThatEndsTooEarly() async throws {
        let other = try self.kit.assertion(self.request, appID: "ABCDE12345.com.example.other")
        #expect(try await refusedStep { try await self.verify(other) } == 4)
        let short = try self.kit.assertion(self.request, authenticatorData: [UInt8](repeating: 0, count: 31))
        #expect(try await refusedStep { try await self.verify(short) } == 4)
    }

    @Test("step 5: a counter that is the stored one or less, and none")
    func step5ACounterThatIsTheStoredOneOrLessAndNone() async throws {
        let assertion = try self.kit.assertion(self.request, counter: 5)
        for stored: UInt32 in [5, 6, .max] {
            #expect(try await refusedStep { try await self.verify(assertion, counter: stored) } == 5)
        }
        let hash = Array(SHA256.hash(data: Data(AttestationKit.appID.utf8)))
        let short = try self.kit.assertion(self.request, authenticatorData: hash + [0x40, 0, 0, 1])
        #expect(try await refusedStep { try await self.verify(short) } == 5)
    }

    @Test("step 6: a challenge that was not given, which is asked for last of all but the app's version")
    func step6AChallengeThatWasNotGivenWhichIsAskedForLastOfAllButTheAppsVersion() async throws {
        let assertion = try self.kit.assertion(self.request)
        #expect(try await refusedStep { try await self.verify(assertion, isChallengeGiven: false) } == 6)
        let replayed = try self.kit.assertion(self.request, counter: 1)
        #expect(
            try await refusedStep { try await self.verify(replayed, counter: 1, isChallengeGiven: false) } == 5,
            "a repetition uses up no challenge")
    }

    @Test("steps 7 and 8: a system that was put back to an older version, and categories that are not accepted")
    func steps7And8ASystemThatWasPutBackToAnOlderVersion() async throws {
        let old = try self.kit.assertion(self.request)
        #expect(try await refusedStep { try await self.verify(old, names: true) } == 7)
        let development = try self.kit.assertion(
            self.request, extensions: AttestationKit.extensions(category: [3, 0, 0, 0]))
        #expect(try await refusedStep { try await self.verify(development) } == 7)
        _ = try await self.verify(development, categories: LaunchCategory.assigned)
        let half = try self.kit.assertion(
            self.request,
            extensions: CBOREncoding.map([("apple_validation_category_01", CBOREncoding.bytes([4, 0, 0, 0]))]))
        #expect(try await refusedStep { try await self.verify(half, names: true) } == 8)
        let trailing = try self.kit.assertion(self.request, extensions: [0xa0, 0x00])
        #expect(try await refusedStep { try await self.verify(trailing) } == 7)
    }

    @Test("a key that was just verified asks for what its attestation named")
    func keyThatWasJustVerifiedAsksForWhatItsAttestationNamed() async throws {
        let attestation = try self.kit.attestation {
            $0.extensions = AttestationKit.extensions(category: [4, 0, 0, 0])
        }
        let verified = try await AttestationVerifier(
            appID: AttestationKit.appID, environment: .production, root: self.kit.root.der
        ).verify(
            attestation, keyID: self.kit.keyID, challenge: .bytes(AttestationKit.challenge),
            at: .init(secondsSince1970: KitCertificate.time))
        let known = KnownKey(verified)
        #expect(known.namesCategory && known.namesBundleVersion && known.counter == 0)
    }

    @Test("what is no assertion is refused without a step")
    func whatIsNoAssertionIsRefusedWithoutAStep() async throws {
        for bytes in [[], [0xa0], [0x00]] as [[UInt8]] {
            #expect(try await refusedStep { try await self.verify(bytes) } == nil)
        }
    }
}
#endif

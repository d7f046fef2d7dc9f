// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import Testing
import SwiftASN1
import X509

/// Each step refuses by its number what the steps before it let through: attestations that Apple would never sign, made by
/// the kit.
@Suite("The steps of an attestation")
struct AttestationStepTests {
    let kit: AttestationKit

    init() throws { self.kit = try AttestationKit() }

    private func verify(
        _ attestation: [UInt8], environment: AttestationEnvironment = .production,
        categories: Set<LaunchCategory>? = nil, challenge: ClientData = .bytes(AttestationKit.challenge),
        root: [UInt8]? = nil, at time: Int64 = KitCertificate.time
    ) async throws -> VerifiedAttestation {
        try await AttestationVerifier(
            appID: AttestationKit.appID, environment: environment, categories: categories,
            root: root ?? self.kit.root.der
        ).verify(attestation, keyID: self.kit.keyID, challenge: challenge, at: Timestamp(secondsSince1970: time))
    }

    private func step(
        of change: (inout AttestationKit.Form) -> Void, environment: AttestationEnvironment = .production
    ) async throws -> Int? {
        let attestation = try self.kit.attestation(change)
        return try await refusedStep { try await self.verify(attestation, environment: environment) }
    }

    @Test("the kit's attestations are accepted, with and without what iOS 27 adds, with any flags")
    func kitsAttestationsAreAcceptedWithAndWithoutWhatIOS27AddsWithAnyFlags() async throws {
        let plain = try await self.verify(self.kit.attestation())
        #expect(plain.key.x963 == self.kit.point && plain.key.id == self.kit.keyID)
        #expect(plain.key.subjectPublicKeyInfo == Array(self.kit.deviceKey.publicKey.derRepresentation))
        #expect(plain.category == nil && plain.bundleVersion == nil && plain.environment == .production)
        #expect(plain.receipt == [0x30, 0x80, 0, 0])
        for flags: UInt8 in [0x40, 0xc0, 0x00, 0xff] {
            let extended = try await self.verify(
                self.kit.attestation {
                    $0.flags = flags
                    $0.extensions = AttestationKit.extensions(category: [4, 0, 0, 0], version: "2.1")
                })
            #expect(extended.category == .appStore && extended.bundleVersion == "2.1")
        }
        let development = try self.kit.attestation { $0.aaguid = Array("appattestdevelop".utf8) }
        #expect(try await self.verify(development, environment: .development).environment == .development)
    }

    @Test("a leaf of eleven months, for a purpose of Apple's own, is accepted")
    func leafOfElevenMonthsForAPurposeOfApplesOwnIsAccepted() async throws {
        let attestation = try self.kit.attestation {
            $0.lifetime = 330 * 86_400
            let purpose = try? ExtendedKeyUsage([.init(oid: [1, 2, 840, 113_635, 100, 4, 24])])
            if let purpose, let made = try? Certificate.Extension(purpose, critical: false) {
                $0.otherExtensions.append(made)
            }
        }
        _ = try await self.verify(attestation, at: KitCertificate.time)
    }

    @Test("what the app gave as its hash is taken as it is, at any length")
    func whatTheAppGaveAsItsHashIsTakenAsItIsAtAnyLength() async throws {
        let raw = Array("example_server_challenge".utf8)
        let attestation = try self.kit.attestation { $0.clientDataHash = raw }
        _ = try await self.verify(attestation, challenge: .hash(raw))
        #expect(try await refusedStep { try await self.verify(attestation, challenge: .bytes(raw)) } == 4)
    }

    @Test("step 1: another root, a time outside, a missing intermediate, a CA as the leaf, the root itself")
    func step1AnotherRootATimeOutsideAMissingIntermediateACAAsTheLeafTheRootItself() async throws {
        let attestation = try self.kit.attestation()
        let other = try KitCertificate.authority("Kit Root")
        #expect(try await refusedStep { try await self.verify(attestation, root: other.der) } == 1)
        for days: Int64 in [-2, 2] {
            let time = KitCertificate.time + days * 86_400
            #expect(try await refusedStep { try await self.verify(attestation, at: time) } == 1)
        }
        #expect(try await self.step(of: { $0.certificates = { leaf, _ in [leaf] } }) == 1)
        #expect(try await self.step(of: { $0.certificates = { leaf, intermediate in [intermediate, leaf] } }) == 1)
        #expect(try await self.step(of: { $0.isAuthority = true }) == 1)
        let root = self.kit.root.der
        #expect(try await self.step(of: { $0.certificates = { _, _ in [root] } }) == 1)
        #expect(try await self.step(of: { $0.certificates = { _, intermediate in [[1, 2, 3], intermediate] } }) == 1)
        #expect(try await self.step(of: { $0.certificates = { _, _ in [] } }) == 1)
        #expect(try await self.step(of: { $0.certificates = { Array(repeating: $0, count: 8) + [$1] } }) == 1)
        let critical = Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [5, 0])
        #expect(try await self.step(of: { $0.otherExtensions = [critical] }) == 1)
    }

    @Test("step 4: a nonce that is another, is missing, or is not wrapped as it must be")
    func step4ANonceThatIsAnotherIsMissingOrIsNotWrappedAsItMustBe() async throws {
        #expect(try await self.step(of: { $0.clientDataHash = [1] }) == 4)
        #expect(try await self.step(of: { $0.nonceExtension = { [0x30, 0x24, 0xa2, 0x22, 0x04, 0x20] + $0 } }) == 4)
        #expect(try await self.step(of: { $0.nonceExtension = { [0x04, 0x20] + $0 } }) == 4)
        #expect(
            try await self.step(of: { $0.nonceExtension = { [0x30, 0x24, 0xa1, 0x22, 0x04, 0x20] + $0 + [0] } }) == 4)
        #expect(try await self.step(of: { $0.nonceExtension = { _ in [] } }) == 4)
    }

    @Test("step 4: a Mac's key must have the policy of Full Security, and a phone's may have another")
    func step4AMacsKeyMustHaveThePolicyOfFullSecurityAndAPhonesMayHaveAnother() async throws {
        let wrapped = { (policy: [UInt8]) in
            ASN1Encoding.sequence(ASN1Encoding.element(0xa3, ASN1Encoding.element(0x04, policy)))
        }
        let good = wrapped(AttestationKit.macKeyPolicy)
        let weak = wrapped(Array(AttestationKit.macKeyPolicy.dropLast()) + [0])
        // The platform that the certificate names, the policy that it has, and the step that refuses.
        let cases: [(String?, [UInt8]?, Int?)] = [
            ("macosx", good, nil), ("macosx", weak, 4), ("macosx", nil, 4), ("macosx", [0x30, 0x00], 4),
            ("iphoneos", weak, nil), ("iphoneos", nil, nil), ("iphoneos", good, nil),
            (nil, good, nil), (nil, weak, 4), (nil, nil, nil), (nil, [0xff], 4),
            (nil, ASN1Encoding.sequence(ASN1Encoding.element(0x04, AttestationKit.macKeyPolicy)), nil),
            (nil, ASN1Encoding.element(0x04, AttestationKit.macKeyPolicy), 4), (nil, good + [0], 4),
        ]
        for (platform, policy, refused) in cases {
            let attestation = try self.kit.attestation {
                $0.platform = platform
                $0.keyPolicy = policy
            }
            if let refused {
                #expect(try await refusedStep { try await self.verify(attestation) } == refused)
            } else {
                _ = try await self.verify(attestation)
            }
        }
        let unreadable = appleExtension([8, 7], [0x30, 0x05])
        #expect(try await self.step(of: { $0.otherExtensions = [unreadable] }) == 4)
    }

    @Test("step 5: a certificate for another key, or a key that is not of P-256")
    func step5ACertificateForAnotherKeyOrAKeyThatIsNotOfP256() async throws {
        #expect(try await self.step(of: { $0.leafKey = Certificate.PrivateKey(P256.Signing.PrivateKey()) }) == 5)
        #expect(try await self.step(of: { $0.leafKey = Certificate.PrivateKey(P384.Signing.PrivateKey()) }) == 5)
    }

    @Test("steps 6 to 9: another app, a counter, another environment, another credential")
    func steps6To9AnotherAppACounterAnotherEnvironmentAnotherCredential() async throws {
        #expect(try await self.step(of: { $0.idHash[0] ^= 1 }) == 6)
        #expect(try await self.step(of: { $0.counter = [0, 0, 0, 1] }) == 7)
        #expect(try await self.step(of: { $0.counter = [1, 0, 0, 0] }) == 7)
        #expect(try await self.step(of: { $0.aaguid = Array("appattestdevelop".utf8) }) == 8)
        #expect(try await self.step(of: { $0.aaguid = [UInt8](repeating: 0, count: 16) }) == 8)
        #expect(try await self.step(of: { _ in }, environment: .development) == 8)
        #expect(try await self.step(of: { $0.credentialID[31] ^= 1 }) == 9)
        #expect(try await self.step(of: { $0.credentialID = [] }) == 9)
        let other = P256.Signing.PrivateKey()
        let foreign = AttestationKit.coseKey(Array(other.publicKey.x963Representation))
        #expect(try await self.step(of: { $0.coseKey = foreign }) == 9)
        #expect(try await self.step(of: { $0.coseKey = [] }) == 9)
    }

    @Test("authenticator data that ends too early is refused at the step whose field is missing")
    func authenticatorDataThatEndsTooEarlyIsRefusedAtTheStepWhoseFieldIsMissing() async throws {
        let attestation = try self.kit.attestation()
        let whole = try #require(Self.authenticatorData(in: attestation))
        for (length, step) in [
            (0, 6), (31, 6), (32, 7), (36, 7), (37, 8), (52, 8), (53, 9), (86, 9), (87, 9), (163, 9),
        ] {
            let refused = try await self.step(of: { $0.authenticatorData = Array(whole.prefix(length)) })
            #expect(refused == step, "\(length) bytes")
        }
    }

    /// The last member's bytes: 164 of them behind their head.
    private static func authenticatorData(in attestation: [UInt8]) -> [UInt8]? { attestation.suffix(164) }

    @Test("step 10: a category that is not accepted, of another form, and extensions that cannot be read")
    func step10ACategoryThatIsNotAcceptedOfAnotherFormAndExtensionsThatCannotBeRead() async throws {
        for category: UInt8 in [0, 1, 3, 6, 7, 8, 9, 10, 11, 255] {
            let made = AttestationKit.extensions(category: [category, 0, 0, 0])
            #expect(try await self.step(of: { $0.extensions = made }) == 10, "category \(category)")
        }
        for category: [UInt8] in [[0, 0, 0, 4], [4, 0, 0], [4, 0, 0, 0, 0], []] {
            let made = AttestationKit.extensions(category: category)
            #expect(try await self.step(of: { $0.extensions = made }) == 10)
        }
        let number = CBOREncoding.map([("apple_validation_category_01", [0x04])])
        #expect(try await self.step(of: { $0.extensions = number }) == 10)
        let good = AttestationKit.extensions(category: [4, 0, 0, 0])
        #expect(try await self.step(of: { $0.extensions = good + [0] }) == 10)
        #expect(try await self.step(of: { $0.extensions = good + good }) == 10)
        #expect(try await self.step(of: { $0.extensions = Array(good.dropLast()) }) == 10)
        #expect(try await self.step(of: { $0.extensions = [0xf6] }) == 10)
    }

    @Test("the categories of an environment, and those that the caller names")
    func categoriesOfAnEnvironmentAndThoseThatTheCallerNames() async throws {
        for (environment, accepted) in [
            (AttestationEnvironment.production, [2, 4, 5]), (.development, [1, 2, 3, 4, 5, 6, 10]),
        ] as [(AttestationEnvironment, [UInt8])] {
            for category: UInt8 in 0...12 {
                let attestation = try self.kit.attestation {
                    $0.extensions = AttestationKit.extensions(category: [category, 0, 0, 0])
                    if environment == .development { $0.aaguid = Array("appattestdevelop".utf8) }
                }
                if accepted.contains(category) {
                    let verified = try await self.verify(attestation, environment: environment)
                    #expect(verified.category?.rawValue == UInt32(category))
                } else {
                    #expect(
                        try await refusedStep { try await self.verify(attestation, environment: environment) } == 10)
                }
            }
        }
        let developerID = try self.kit.attestation {
            $0.extensions = AttestationKit.extensions(category: [6, 0, 0, 0])
        }
        _ = try await self.verify(developerID, categories: [.developerID])
    }

    @Test("step 11: a version that is no text, or is too long")
    func step11AVersionThatIsNoTextOrIsTooLong() async throws {
        let bytes = CBOREncoding.map([("apple_bundle_version_01", CBOREncoding.bytes([0x31]))])
        #expect(try await self.step(of: { $0.extensions = bytes }) == 11)
        let long = AttestationKit.extensions(category: [4, 0, 0, 0], version: String(repeating: "1", count: 256))
        #expect(try await self.step(of: { $0.extensions = long }) == 11)
    }

    @Test("extensions that are not known yet are passed over")
    func extensionsThatAreNotKnownYetArePassedOver() async throws {
        let attestation = try self.kit.attestation {
            $0.extensions = CBOREncoding.map([
                ("apple_cd_hash_02", CBOREncoding.bytes([1, 2, 3])),
                ("apple_validation_category_01", CBOREncoding.bytes([2, 0, 0, 0])),
            ])
        }
        let verified = try await self.verify(attestation)
        #expect(verified.category == .testFlight && verified.bundleVersion == nil)
    }

    @Test("what is no attestation is refused without a step")
    func whatIsNoAttestationIsRefusedWithoutAStep() async throws {
        #expect(try await self.step(of: { $0.format = "packed" }) == nil)
        let good = try self.kit.attestation()
        for bytes in [[], [0xa0], good + [0], Array(good.dropLast()), Array(good.dropFirst())] as [[UInt8]] {
            #expect(try await refusedStep { try await self.verify(bytes) } == nil)
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import PinListRepository

/// RFC 9881, section 6: three forms of one private key.
@Suite("A private key of ML-DSA-65 in a file")
struct MLDSAKeyTests {
    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    private static let formats = [
        ("seed-only", true), ("seed-priv", true), ("priv-only", false),
    ]

    @Sendable private static func pythonHasMLDSA() async throws -> Bool {
        let python = try await FinishedProcess.run(
            self.environment,
            ["python3", "-c", "from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey"],
            in: FileManager.default.temporaryDirectory)
        return python.status == 0
    }

    @Sendable private static func openSSLHasMLDSA() async throws -> Bool {
        guard let openssl = OpenSSL.installed else { return false }
        let listed = try? await openssl.shell(
            #""$0" list -signature-algorithms"#, in: FileManager.default.temporaryDirectory)
        return listed?.contains("ML-DSA-65") == true
    }

    private func python(_ script: String, in folder: URL) async throws -> String {
        let run = try await FinishedProcess.run(Self.environment, ["python3", "-c", script], in: folder)
        guard run.status == 0 else { throw OpenSSL.Failure(description: String(decoding: run.errors, as: UTF8.self)) }
        return String(decoding: run.output, as: UTF8.self)
    }

    private func key(_ pkcs8: [UInt8]) throws -> PrivateKey {
        let text = PEMBlock(label: "PRIVATE KEY", bytes: pkcs8).text
        return try KeyFile.key(in: Array(text.utf8), named: "key") { () throws(RepositoryError) in
            throw RepositoryError(.usage, "not asked")
        }
    }

    @Test("is read from its seed, and from seed and expanded key; both are the key that another implementation derives")
    func isReadFromItsSeedAndFromSeedAndExpandedKey() throws {
        #expect(MLDSA65Vector.expandedKey.count == 4_032)
        for form in [MLDSA65Vector.seedForm(), MLDSA65Vector.bothForm()] {
            let key = try self.key(form)
            #expect(key.kind == "ML-DSA-65")
            let publicKey = try #require(MetadataKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo))
            #expect(publicKey.algorithm == .mlDSA65)
            #expect(publicKey.keyID == MLDSA65Vector.keyID)
            let signature = try key.signature(over: [1, 2, 3])
            #expect(signature.count == 3_309)
            #expect(publicKey.isValidSignature(signature, for: [1, 2, 3]))
            #expect(!publicKey.isValidSignature(signature, for: [1, 2, 4]))
            // From each form that was read, the seed is written.
            #expect(try key.pkcs8 == MLDSA65Vector.seedForm())
            #expect(try PublicKeyBytes.ofPKCS8(form) == key.subjectPublicKeyInfo)
        }
    }

    @Test("is refused when it is the expanded key alone, and the error says that it needs the seed")
    func isRefusedWhenItIsTheExpandedKeyAloneAndTheErrorSaysThatItNeedsTheSeed() throws {
        let form = MLDSA65Vector.expandedForm()
        #expect(throws: PrivateKey.ParsingError.expandedKeyAlone) { try PrivateKey(pkcs8: form) }
        let error = #expect(throws: RepositoryError.self) { try self.key(form) }
        #expect(error?.code == .signer)
        #expect(error?.reason.contains("expanded key alone") == true)
        #expect(error?.reason.contains("seed") == true)
        #expect(error?.hint == PrivateKey.ParsingError.expandedKeyAlone.hint)
        #expect(throws: PublicKeyBytes.NotDerivableError.self) { try PublicKeyBytes.ofPKCS8(form) }
    }

    @Test("is refused when seed and expanded key are not of one key, in no form of RFC 9881, or cut anywhere")
    func isRefusedWhenSeedAndExpandedKeyAreNotOfOneKeyInNoFormOfRFC9881OrCutAnywhere() throws {
        let seed = MLDSA65Vector.seed
        let expanded = MLDSA65Vector.expandedKey
        let other = Array(seed.reversed())
        let tagged = MLDSA65Vector.tagged
        let forms = [
            MLDSA65Vector.bothForm(other), MLDSA65Vector.bothForm(seed, [expanded[0] ^ 1] + expanded.dropFirst()),
            MLDSA65Vector.bothForm(seed, expanded + [0]), MLDSA65Vector.bothForm(seed, Array(expanded.dropLast())),
            MLDSA65Vector.bothForm(seed, []), MLDSA65Vector.seedForm(seed + [0]),
            MLDSA65Vector.seedForm(Array(seed.dropLast())), MLDSA65Vector.seedForm([]),
            // NULL parameters; the seed without a frame; another tag; the seed in a frame within [0]; a third element.
            MLDSA65Vector.pkcs8(tagged(0x80, seed), parameters: [0x05, 0x00]), MLDSA65Vector.pkcs8(seed),
            MLDSA65Vector.pkcs8(tagged(0x81, seed)), MLDSA65Vector.pkcs8(tagged(0xA0, tagged(0x04, seed))),
            MLDSA65Vector.pkcs8(
                tagged(0x30, tagged(0x04, seed) + tagged(0x04, expanded) + tagged(0x04, seed))),
            MLDSA65Vector.pkcs8(tagged(0x30, tagged(0x04, seed))),
        ]
        for (index, form) in forms.enumerated() {
            #expect(throws: RepositoryError.self, "form \(index)") { try self.key(form) }
        }
        let whole = MLDSA65Vector.seedForm()
        for length in whole.indices {
            #expect(throws: RepositoryError.self, "\(length) bytes") { try self.key(Array(whole[..<length])) }
        }
    }

    @Test("is encrypted like any other, and is no key for a request")
    func isEncryptedLikeAnyOtherAndIsNoKeyForARequest() async throws {
        try await withTemporaryFolder { folder in
            var generator = SystemRandomNumberGenerator()
            let key = try PrivateKey(new: .mlDSA65)
            let path = folder.appendingPathComponent("key").path
            let passphrase = try Passphrase("a passphrase".utf8)
            try KeyFile.write(key, to: path, passphrase: passphrase, using: &generator)
            #expect(try folder.text(of: "key").hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
            let read = try KeyFile.read(path) { () throws(RepositoryError) in try Passphrase("a passphrase".utf8) }
            #expect(read.subjectPublicKeyInfo == key.subjectPublicKeyInfo)
            let publicKey = try PublicKeyForm.metadataKey(
                in: Array(try folder.contents(of: "key.pub")), named: "key.pub")
            #expect(publicKey.subjectPublicKeyInfo == key.subjectPublicKeyInfo)
            let error = #expect(throws: RepositoryError.self) {
                try CertificateRequest(for: key, subject: "CN=api.example.com", names: ["api.example.com"])
            }
            #expect(error?.code == .metadata)
            #expect(error?.reason.contains("ML-DSA-65") == true)
        }
    }

    @Test(
        "that was made here is read by Python's cryptography; each verifies what the other signs",
        .enabled("there is no python3 whose cryptography has ML-DSA", Self.pythonHasMLDSA))
    func thatWasMadeHereIsReadByPythonsCryptographyEachVerifiesWhatTheOtherSigns() async throws {
        try await withTemporaryFolder { folder in
            let key = try PrivateKey(new: .mlDSA65)
            try folder.write(Data(try key.pkcs8), as: "key.der")
            try folder.write(Data([1, 2, 3]), as: "message")
            try folder.write(Data(try key.signature(over: [1, 2, 3])), as: "ours.sig")
            let script = """
                from cryptography.hazmat.primitives.serialization import *
                key = load_der_private_key(open("key.der", "rb").read(), None)
                message = open("message", "rb").read()
                key.public_key().verify(open("ours.sig", "rb").read(), message)
                open("theirs.sig", "wb").write(key.sign(message))
                open("public.der", "wb").write(
                    key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
                open("again.der", "wb").write(
                    key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
                print("verified")
                """
            #expect(try await self.python(script, in: folder) == "verified\n")
            #expect(try folder.contents(of: "public.der").elementsEqual(key.subjectPublicKeyInfo))
            // It writes the same form, byte for byte.
            #expect(try folder.contents(of: "again.der").elementsEqual(try key.pkcs8))
            let publicKey = try #require(MetadataKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo))
            let theirs = Array(try folder.contents(of: "theirs.sig"))
            #expect(publicKey.isValidSignature(theirs, for: [1, 2, 3]))
            // The script says no to another message, so its yes means something.
            try folder.write(Data([1, 2, 4]), as: "message")
            await #expect(throws: OpenSSL.Failure.self) { try await self.python(script, in: folder) }
        }
    }

    @Test(
        "that openssl made is read where it holds the seed; openssl verifies what it signs",
        .enabled("the package registries have no openssl with ML-DSA (3.5 or later)", Self.openSSLHasMLDSA),
        arguments: Self.formats)
    func thatOpensslMadeIsReadWhereItHoldsTheSeedOpensslVerifiesWhatItSigns(format: String, holdsSeed: Bool)
        async throws
    {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run(
                "genpkey -algorithm ML-DSA-65 -provparam ml-dsa.output_formats=\(format) -out key", in: folder)
            let path = folder.appendingPathComponent("key").path
            func read() throws -> PrivateKey {
                try KeyFile.read(path) { () throws(RepositoryError) in throw RepositoryError(.usage, "not asked") }
            }
            guard holdsSeed else {
                #expect(throws: RepositoryError.self) { try read() }
                return
            }
            let key = try read()
            try await openssl.run("pkey -in key -pubout -outform DER -out public.der", in: folder)
            #expect(try folder.contents(of: "public.der").elementsEqual(key.subjectPublicKeyInfo))
            try folder.write(Data([1, 2, 3]), as: "message")
            try folder.write(Data(try key.signature(over: [1, 2, 3])), as: "ours.sig")
            try await openssl.run(
                "pkeyutl -verify -rawin -inkey key -in message -sigfile ours.sig", in: folder)
            try folder.write(Data(try key.pkcs8), as: "ours.der")
            try await openssl.run("pkey -inform DER -in ours.der -pubout -outform DER -out again.der", in: folder)
            #expect(try folder.contents(of: "again.der").elementsEqual(key.subjectPublicKeyInfo))
        }
    }
}

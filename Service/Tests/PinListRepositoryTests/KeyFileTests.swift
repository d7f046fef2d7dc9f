// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import PinListRepository

/// The passphrase of the keys in these tests; a blank and an umlaut in it.
private let passphraseText = "vier Wörter von hier"

private func passphrase() throws(RepositoryError) -> Passphrase { try Passphrase(passphraseText.utf8) }

/// Refuses to be asked: for keys that are not encrypted.
private func noPassphrase() throws(RepositoryError) -> Passphrase {
    Issue.record("asked for a passphrase")
    throw RepositoryError(.usage, "not asked")
}

extension URL {
    fileprivate func path(of name: String) -> String { self.appendingPathComponent(name).path }
}

@Suite("A private key in a file", .needsOpenSSL)
struct KeyFileTests {
    @Test(
        "that was made here is opened by openssl, and is the same key",
        // ML-DSA needs openssl 3.5: MLDSAKeyTests.
        arguments: PrivateKey.Algorithm.allCases.filter { $0 != .mlDSA65 })
    func thatWasMadeHereIsOpenedByOpensslAndIsTheSameKey(algorithm: PrivateKey.Algorithm) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let key = try PrivateKey(new: algorithm)
            var generator = SystemRandomNumberGenerator()
            try KeyFile.write(key, to: folder.path(of: "ours"), passphrase: try passphrase(), using: &generator)
            try folder.write(passphraseText, as: "pass")
            try await openssl.run("pkey -in ours -passin file:pass -check -noout", in: folder)
            try await openssl.run("pkey -in ours -passin file:pass -pubout -outform DER -out theirs.der", in: folder)
            #expect(try folder.contents(of: "theirs.der").elementsEqual(key.subjectPublicKeyInfo))
            try await openssl.run("pkey -pubin -in ours.pub -outform DER -out public.der", in: folder)
            #expect(try folder.contents(of: "public.der").elementsEqual(key.subjectPublicKeyInfo))
            let read = try KeyFile.read(folder.path(of: "ours"), passphrase: passphrase)
            #expect(read.subjectPublicKeyInfo == key.subjectPublicKeyInfo)
        }
    }

    @Test("is written as openssl writes it: PBES2, AES-256-CBC, 600,000 rounds of HMAC-SHA256")
    func isWrittenAsOpensslWritesItPBES2AES256CBC600000RoundsOfHMACSHA256() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            var generator = SystemRandomNumberGenerator()
            let key = try PrivateKey(new: .p256)
            try KeyFile.write(key, to: folder.path(of: "ours"), passphrase: try passphrase(), using: &generator)
            let structure = try await openssl.shell(#""$0" asn1parse -in ours"#, in: folder)
            for part in [":PBES2", ":PBKDF2", ":0927C0", ":hmacWithSHA256", ":aes-256-cbc"] {
                #expect(structure.contains(part), "\(structure)")
            }
        }
    }

    @Test(
        "that openssl encrypted is opened",
        arguments: [
            "-v2 aes-256-cbc", "-v2 aes-128-cbc", "-v2 aes-256-cbc -v2prf hmacWithSHA1", "-v2 aes-256-cbc -iter 1",
            "-v2 aes-128-cbc -v2prf hmacWithSHA256 -iter 100000",
        ],
        [
            "EC -pkeyopt ec_paramgen_curve:P-256", "EC -pkeyopt ec_paramgen_curve:P-384", "ED25519",
            "RSA -pkeyopt rsa_keygen_bits:2048",
        ])
    func thatOpensslEncryptedIsOpened(encryption: String, algorithm: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try folder.write(passphraseText, as: "pass")
            try await openssl.run("genpkey -algorithm \(algorithm) -out plain", in: folder)
            try await openssl.run("pkcs8 -topk8 \(encryption) -in plain -passout file:pass -out theirs", in: folder)
            try await openssl.run("pkey -in plain -pubout -outform DER -out public.der", in: folder)
            let key = try KeyFile.read(folder.path(of: "theirs"), passphrase: passphrase)
            #expect(try folder.contents(of: "public.der").elementsEqual(key.subjectPublicKeyInfo))
        }
    }

    @Test(
        "that is not encrypted is read in the forms that openssl writes",
        arguments: [
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key", "genpkey -algorithm ED25519 -out key",
            "ecparam -name prime256v1 -genkey -out key", "ecparam -name secp384r1 -genkey -noout -out key",
            "genrsa -traditional -out key 2048", "genpkey -algorithm RSA -out key",
        ])
    func thatIsNotEncryptedIsReadInTheFormsThatOpensslWrites(command: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run(command, in: folder)
            try await openssl.run("pkey -in key -pubout -outform DER -out public.der", in: folder)
            let key = try KeyFile.read(folder.path(of: "key"), passphrase: noPassphrase)
            #expect(try folder.contents(of: "public.der").elementsEqual(key.subjectPublicKeyInfo))
        }
    }

    @Test(
        "that is used nowhere here is refused with the reason",
        arguments: [
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -out key", "genpkey -algorithm ED448 -out key",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit -out key",
            "genpkey -algorithm X25519 -out key", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out key",
        ])
    func thatIsUsedNowhereHereIsRefusedWithTheReason(command: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run(command, in: folder)
            let error = #expect(throws: RepositoryError.self) {
                try KeyFile.read(folder.path(of: "key"), passphrase: noPassphrase)
            }
            #expect(error?.code == .signer)
        }
    }

    @Test("is not opened by another passphrase, nor by none, and no passphrase is in the error")
    func isNotOpenedByAnotherPassphraseNorByNoneAndNoPassphraseIsInTheError() async throws {
        try await withTemporaryFolder { folder in
            var generator = SystemRandomNumberGenerator()
            let key = try PrivateKey(new: .ed25519)
            try KeyFile.write(key, to: folder.path(of: "key"), passphrase: try passphrase(), using: &generator)
            let error = #expect(throws: RepositoryError.self) {
                try KeyFile.read(folder.path(of: "key")) { () throws(RepositoryError) in
                    try Passphrase("falsche Wörter".utf8)
                }
            }
            #expect(error?.code == .signer)
            #expect(error?.reason.contains("falsche") == false)
            #expect(throws: RepositoryError(.usage, "the passphrase is empty")) { try Passphrase([]) }
            #expect("\(try passphrase())" == "(passphrase)")
        }
    }

    @Test("never replaces a file, and is for its owner alone")
    func neverReplacesAFileAndIsForItsOwnerAlone() async throws {
        try await withTemporaryFolder { folder in
            var generator = SystemRandomNumberGenerator()
            let key = try PrivateKey(new: .ed25519)
            for existing in ["first", "second.pub"] { try folder.write("mine", as: existing) }
            for name in ["first", "second"] {
                #expect(throws: RepositoryError.self) {
                    try KeyFile.write(key, to: folder.path(of: name), passphrase: nil, using: &generator)
                }
            }
            #expect(try folder.text(of: "first") == "mine")
            #expect(try folder.text(of: "second.pub") == "mine")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(names) == ["first", "second.pub"])

            try KeyFile.write(key, to: folder.path(of: "third"), passphrase: nil, using: &generator)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(of: "third"))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test("that is cut anywhere, or has any byte changed, is an error or the same key, and never a crash")
    func thatIsCutAnywhereOrHasAnyByteChangedIsAnErrorOrTheSameKeyAndNeverACrash() throws {
        // One round, so that each attempt is quick.
        let bytes = try Self.encryptedWithOneRound()
        let text = PEMBlock(label: "ENCRYPTED PRIVATE KEY", bytes: bytes.file).text
        #expect(try KeyFile.key(in: Array(text.utf8), named: "key", passphrase: passphrase).kind == "Ed25519")
        var opened = 0
        for place in bytes.file.indices {
            for damaged in [Array(bytes.file[..<place]), bytes.file.with(bytes.file[place] ^ 0x55, at: place)] {
                let text = PEMBlock(label: "ENCRYPTED PRIVATE KEY", bytes: damaged).text
                let key = try? KeyFile.key(in: Array(text.utf8), named: "key", passphrase: passphrase)
                opened += key == nil ? 0 : 1
            }
        }
        // The seed itself is not covered by padding and structure: CBC authenticates nothing.
        #expect(opened < 64)
    }

    /// An encrypted key with the fewest rounds: what ours would be, with another number in it.
    private static func encryptedWithOneRound() throws -> (file: [UInt8], key: PrivateKey) {
        let key = try PrivateKey(new: .ed25519)
        let text = try #require(try? Self.rewritten(key))
        return (text, key)
    }

    private static func rewritten(_ key: PrivateKey) throws -> [UInt8] {
        let encryption = KeyEncryption(
            function: .sha256, iterations: 1, salt: Array(repeating: 7, count: 16), keyLength: 32,
            initialisationVector: Array(repeating: 9, count: 16))
        return try encryption.frame(try encryption.encrypt(try key.pkcs8, with: try passphrase()))
    }

    @Test(
        "whose rounds or salt would be too much work is refused before any work",
        arguments: [(10_000_001, 16), (0, 16), (-1, 16), (Int.max, 16), (1, 0), (1, 1_025)])
    func whoseRoundsOrSaltWouldBeTooMuchWorkIsRefusedBeforeAnyWork(iterations: Int, saltLength: Int) throws {
        let encryption = KeyEncryption(
            function: .sha256, iterations: iterations, salt: Array(repeating: 7, count: saltLength), keyLength: 32,
            initialisationVector: Array(repeating: 9, count: 16))
        let text = PEMBlock(
            label: "ENCRYPTED PRIVATE KEY", bytes: try encryption.frame([UInt8](repeating: 0, count: 64))
        ).text
        #expect(throws: RepositoryError.self) {
            try KeyFile.key(in: Array(text.utf8), named: "key", passphrase: noPassphrase)
        }
    }
}

extension [UInt8] {
    fileprivate func with(_ byte: UInt8, at place: Int) -> [UInt8] {
        var copy = self
        copy[place] = byte
        return copy
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A wrong pin locks users out: where a key cannot be read for certain there is none.
@Suite("A key that cannot be read gives no pin", .needsOpenSSL)
struct UntellableKeyTests {
    /// Runs commands that leave `key`, and asks for its pin.
    private func run(_ commands: [String]) async throws -> CommandRun {
        let openssl = try #require(OpenSSL.installed)
        return try await withTemporaryFolder { folder in
            for command in commands { try await openssl.run(command, in: folder) }
            return try await CommandRun.tumbler(["pin", "key"], in: folder)
        }
    }

    private func expectHint(_ run: CommandRun) {
        run.expectError(2, hint: true)
        #expect(run.errorLines.last?.contains("openssl") == true, "\(run)")
    }

    @Test(
        "an encrypted private key, with the way to its public key",
        arguments: [
            ["genpkey -algorithm ED25519 -aes256 -pass pass:secret -out key"],
            [
                "genpkey -algorithm ED25519 -out made",
                "pkcs8 -topk8 -in made -passout pass:secret -outform DER -out key",
            ],
            [
                "genpkey -algorithm ED25519 -out made",
                "pkcs8 -topk8 -v1 PBE-SHA1-3DES -in made -passout pass:secret -out key",
            ],
            [
                "ecparam -name prime256v1 -genkey -noout -out made",
                "ec -in made -aes128 -passout pass:secret -out key",
            ],
            [
                "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out made",
                "rsa -in made -traditional -aes128 -passout pass:secret -out key",
            ],
        ])
    func encryptedPrivateKeyWithTheWayToItsPublicKey(commands: [String]) async throws {
        self.expectHint(try await self.run(commands))
    }

    @Test("the way that the hint names leads to the pin")
    func wayThatTheHintNamesLeadsToThePin() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let curve = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"
            try await openssl.run("\(curve) -aes256 -pass pass:secret -out key", in: folder)
            let publicKey = "pkey -in key -passin pass:secret -pubout"
            let run = try await CommandRun.shell(#"\#(openssl.executable.path) \#(publicKey) | "$0" pin -"#, in: folder)
            run.expectResult()
            #expect(run.pins == [try await openssl.pin(of: publicKey, in: folder)])
        }
    }

    @Test(
        "a private key whose public key cannot be computed here, in PEM and in DER",
        arguments: [
            ["genpkey -algorithm ED448 -out key"], ["genpkey -algorithm ED448 -outform DER -out key"],
            ["genpkey -algorithm X25519 -out key"], ["genpkey -algorithm X448 -outform DER -out key"],
            ["ecparam -name secp256k1 -genkey -noout -out made", "ec -in made -no_public -out key"],
            ["ecparam -name secp256k1 -genkey -noout -out made", "ec -in made -no_public -outform DER -out key"],
            [
                "ecparam -name prime256v1 -genkey -noout -out made",
                "ec -in made -no_public -param_enc explicit -outform DER -out key",
            ],
        ])
    func privateKeyWhosePublicKeyCannotBeComputedHereInPEMAndInDER(commands: [String]) async throws {
        self.expectHint(try await self.run(commands))
    }

    @Test("a certificate with trust settings of openssl's own, with the way to the plain one")
    func certificateWithTrustSettingsOfOpensslsOwnWithTheWayToThePlainOne() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=server", in: folder)
            try await openssl.run("x509 -in server.pem -addtrust serverAuth -trustout -out key", in: folder)
            self.expectHint(try await CommandRun.tumbler(["pin", "key"], in: folder))
        }
    }

    /// A key that is not an RSA key must not be hashed as one because its first elements look like it.
    @Test(
        "a key under the label of another kind",
        arguments: ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PUBLIC KEY", "RSA PUBLIC KEY"])
    func keyUnderTheLabelOfAnotherKind(label: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run("genpkey -algorithm ED448 -out made", in: folder)
            let text = try folder.text(of: "made").replacingOccurrences(of: "PRIVATE KEY", with: label)
            try folder.write(text, as: "key")
            try await CommandRun.tumbler(["pin", "key"], in: folder).expectError(2)
        }
    }

    @Test("a DSA key in its old form begins with integers as an RSA key does")
    func dsaKeyInItsOldFormBeginsWithIntegersAsAnRSAKeyDoes() async throws {
        let commands = ["dsaparam -out parameters 1024", "gendsa -out made parameters"]
        let pem = try await self.run(commands + ["dsa -in made -out key"])
        let der = try await self.run(commands + ["dsa -in made -outform DER -out key"])
        pem.expectError(2)
        der.expectError(2)
    }

    @Test("a public key with bytes after it, and half a private key")
    func publicKeyWithBytesAfterItAndHalfAPrivateKey() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run("genpkey -algorithm ED25519 -outform DER -out private", in: folder)
            try await openssl.run("pkey -in private -pubout -outform DER -out public", in: folder)
            try folder.write(try folder.contents(of: "public") + [0], as: "long")
            try folder.write(try folder.contents(of: "private").dropLast(8), as: "short")
            for file in ["long", "short"] {
                try await CommandRun.tumbler(["pin", file], in: folder).expectError(2)
            }
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A private key in one of the forms in which people have them, and how openssl makes it as the file `key`.
struct PrivateKeyFile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let commands: [String]

    private init(_ description: String, _ commands: String...) {
        self.testDescription = description
        self.commands = commands
    }

    static let rsa: [PrivateKeyFile] = {
        let make = "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out made"
        return [
            PrivateKeyFile("RSA, PKCS#1", make, "rsa -in made -traditional -out key"),
            PrivateKeyFile("RSA, PKCS#1, DER", make, "rsa -in made -traditional -outform DER -out key"),
            PrivateKeyFile("RSA, PKCS#8", make, "pkcs8 -topk8 -nocrypt -in made -out key"),
            PrivateKeyFile("RSA, PKCS#8, DER", make, "pkcs8 -topk8 -nocrypt -in made -outform DER -out key"),
            PrivateKeyFile(
                "RSA of three primes, PKCS#1",
                "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_primes:3 -out made",
                "rsa -in made -traditional -outform DER -out key"),
            PrivateKeyFile("RSA of 1024 bits", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out key"),
            PrivateKeyFile(
                "RSA-PSS with parameters",
                "genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_pss_keygen_md:sha256 -out key"),
        ]
    }()

    static let ellipticCurves: [PrivateKeyFile] = ["prime256v1", "secp384r1", "secp521r1", "secp256k1"].flatMap {
        name in
        let make = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:\(name)"
        return [
            PrivateKeyFile("\(name), SEC1 after its EC PARAMETERS", "ecparam -name \(name) -genkey -out key"),
            PrivateKeyFile("\(name), SEC1, DER", "ecparam -name \(name) -genkey -noout -outform DER -out key"),
            PrivateKeyFile("\(name), PKCS#8", "\(make) -out key"),
            PrivateKeyFile("\(name), PKCS#8, DER", "\(make) -outform DER -out key"),
        ]
    }

    static let withoutPublicKey: [PrivateKeyFile] = ["prime256v1", "secp384r1", "secp521r1"].flatMap { name in
        let make = "ecparam -name \(name) -genkey -noout -out made"
        return [
            PrivateKeyFile("\(name) without its public key, SEC1", make, "ec -in made -no_public -out key"),
            PrivateKeyFile("\(name) without its public key, DER", make, "ec -in made -no_public -outform DER -out key"),
        ]
    }

    static let others: [PrivateKeyFile] = [
        PrivateKeyFile("Ed25519", "genpkey -algorithm ED25519 -out key"),
        PrivateKeyFile("Ed25519, DER", "genpkey -algorithm ED25519 -outform DER -out key"),
        PrivateKeyFile(
            "explicit parameters, SEC1", "ecparam -name prime256v1 -genkey -noout -out made",
            "ec -in made -param_enc explicit -out key"),
        PrivateKeyFile(
            "explicit parameters, PKCS#8",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit -out key"),
        PrivateKeyFile(
            "a compressed point", "ecparam -name prime256v1 -genkey -noout -out made",
            "ec -in made -conv_form compressed -out key"),
    ]
}

@Suite("The pin of a private key is that of its public key", .needsOpenSSL)
struct PrivateKeyPinTests {
    @Test(
        "as openssl has it",
        arguments: PrivateKeyFile.rsa + PrivateKeyFile.ellipticCurves + PrivateKeyFile.withoutPublicKey
            + PrivateKeyFile.others)
    func asOpensslHasIt(file: PrivateKeyFile) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            for command in file.commands { try await openssl.run(command, in: folder) }
            let expected = try await openssl.pin(of: "pkey -in key -pubout", in: folder)
            let run = try await CommandRun.tumbler(["pin", "--json", "key"], in: folder)
            run.expectResult()
            let pins = try run.decoded(as: [PrintedPin].self)
            #expect(pins.map(\.pin) == [expected])
            #expect(pins.map(\.kind) == ["private-key"])
        }
    }

    @Test("a key, its request and its certificate are one pin, in one file and in three")
    func keyItsRequestAndItsCertificateAreOnePinInOneFileAndInThree() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=api.example.com", in: folder)
            let request = "req -new -config request.cnf -subj /CN=api.example.com -key server.key -out server.csr"
            try await openssl.run(request, in: folder)
            let files = ["server.key", "server.csr", "server.pem"]
            try folder.join(files, into: "all.pem")
            let expected = try await openssl.pins(ofCertificates: ["server.pem"], in: folder)
            let run = try await CommandRun.tumbler(["pin", "all.pem"] + files, in: folder)
            run.expectResult()
            #expect(run.pins == Array(repeating: expected[0], count: 6))
        }
    }
}

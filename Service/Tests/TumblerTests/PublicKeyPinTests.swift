// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The pins of public keys and requests are openssl's", .needsOpenSSL)
struct PublicKeyPinTests {
    static let keys = [
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048", "genpkey -algorithm ED448",
        "genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048", "genpkey -algorithm ED25519",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -pkeyopt ec_param_enc:explicit",
    ]

    /// Makes `key` and asks for the pins of what some commands make of it.
    private func pins(
        ofKey command: String, madeInto files: [String], by commands: [String]
    ) async throws -> (printed: [PrintedPin], expected: String) {
        let openssl = try #require(OpenSSL.installed)
        return try await withTemporaryFolder { folder in
            try folder.write("[req]\ndistinguished_name = none\n[none]\n", as: "request.cnf")
            for command in ["\(command) -out key"] + commands { try await openssl.run(command, in: folder) }
            let run = try await CommandRun.tumbler(["pin", "--json"] + files, in: folder)
            run.expectResult()
            return (try run.decoded(), try await openssl.pin(of: "pkey -in key -pubout", in: folder))
        }
    }

    @Test("a public key in PEM and DER", arguments: Self.keys + ["genpkey -algorithm X25519"])
    func publicKeyInPEMAndDER(command: String) async throws {
        let (printed, expected) = try await self.pins(
            ofKey: command, madeInto: ["pem", "der"],
            by: ["pkey -in key -pubout -out pem", "pkey -in key -pubout -outform DER -out der"])
        #expect(printed.map(\.pin) == [expected, expected])
        #expect(printed.map(\.kind) == ["public-key", "public-key"])
        #expect(printed.map(\.subject) == [nil, nil])
    }

    @Test("a request in PEM, under its older label, and in DER", arguments: Self.keys)
    func requestInPEMUnderItsOlderLabelAndInDER(command: String) async throws {
        let request = "req -new -config request.cnf -key key -subj /CN=api.example.com/O=Example"
        let (printed, expected) = try await self.pins(
            ofKey: command, madeInto: ["pem", "new", "der"],
            by: [
                "\(request) -addext subjectAltName=DNS:api.example.com -out pem", "\(request) -newhdr -out new",
                "\(request) -outform DER -out der",
            ])
        #expect(printed.map(\.pin) == [expected, expected, expected])
        #expect(printed.map(\.kind) == ["request", "request", "request"])
        #expect(Set(printed.map(\.subject)) == ["O=Example, CN=api.example.com"])
    }

    @Test("an RSA PUBLIC KEY is the same key with less around it")
    func rsaPUBLICKEYIsTheSameKeyWithLessAroundIt() async throws {
        let (printed, expected) = try await self.pins(
            ofKey: Self.keys[0], madeInto: ["pem"], by: ["rsa -in key -RSAPublicKey_out -out pem"])
        #expect(printed.map(\.pin) == [expected])
        #expect(printed.map(\.algorithm) == ["RSA 2048"])
    }

    @Test("the pin of a public key that openssl prints, through a pipe")
    func pinOfAPublicKeyThatOpensslPrintsThroughAPipe() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run("genpkey -algorithm ED448 -out key", in: folder)
            let line = #"\#(openssl.executable.path) pkey -in key -pubout | "$0" pin -"#
            let run = try await CommandRun.shell(line, in: folder)
            run.expectResult()
            #expect(run.pins == [try await openssl.pin(of: "pkey -in key -pubout", in: folder)])
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The pins of certificate files are openssl's", .needsOpenSSL)
struct CertificateFilePinTests {
    /// Runs a test with a chain in a folder.
    private func withChain(_ body: (OpenSSL, URL, TestChain) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await body(openssl, folder, try await TestChain(with: openssl, in: folder))
        }
    }

    @Test("one certificate in PEM and in DER")
    func oneCertificateInPEMAndInDER() async throws {
        try await self.withChain { openssl, folder, chain in
            let leaf = chain.presented[0]
            try await openssl.run("x509 -in \(leaf) -outform DER -out leaf.der", in: folder)
            for file in [leaf, "leaf.der"] {
                let run = try await CommandRun.tumbler(["pin", file], in: folder)
                run.expectResult()
                #expect(try await run.pins == openssl.pins(ofCertificates: [leaf], in: folder))
            }
        }
    }

    @Test("a chain with text around its certificates, with Unix and with Windows line ends")
    func chainWithTextAroundItsCertificatesWithUnixAndWithWindowsLineEnds() async throws {
        try await self.withChain { openssl, folder, chain in
            var text = "What the server at api.example.com presents:\n"
            for file in chain.path {
                text += try await openssl.shell(#""$0" x509 -text -in \#(file)"#, in: folder) + "\n"
            }
            try folder.write(text, as: "unix.pem")
            try folder.write(text.replacingOccurrences(of: "\n", with: "\r\n"), as: "windows.pem")
            let expected = try await openssl.pins(ofCertificates: chain.path, in: folder)
            for file in ["unix.pem", "windows.pem"] {
                let run = try await CommandRun.tumbler(["pin", file], in: folder)
                run.expectResult()
                #expect(run.pins == expected)
            }
        }
    }

    @Test("several inputs, in the order in which they were named")
    func severalInputsInTheOrderInWhichTheyWereNamed() async throws {
        try await self.withChain { openssl, folder, chain in
            let inputs = [chain.root, chain.presented[0], chain.presented[2], chain.presented[0]]
            let run = try await CommandRun.tumbler(["pin"] + inputs, in: folder)
            run.expectResult()
            #expect(try await run.pins == openssl.pins(ofCertificates: inputs, in: folder))
        }
    }

    @Test("all or nothing: one input that cannot be read, and no pin is printed")
    func allOrNothingOneInputThatCannotBeReadAndNoPinIsPrinted() async throws {
        try await self.withChain { _, folder, chain in
            try await CommandRun.tumbler(["pin", chain.root, "missing.pem"], in: folder).expectError(2)
            try await CommandRun.tumbler(["pin", chain.file, "/dev/null"], in: folder).expectError(2, hint: false)
        }
    }

    @Test("standard input: a file and a pipe, PEM and DER")
    func standardInputAFileAndAPipePEMAndDER() async throws {
        try await self.withChain { openssl, folder, chain in
            let leaf = chain.presented[0]
            try await openssl.run("x509 -in \(leaf) -outform DER -out leaf.der", in: folder)
            let expected = try await openssl.pins(ofCertificates: [leaf], in: folder)
            for file in [leaf, "leaf.der"] {
                let run = try await CommandRun.tumbler(["pin", "-"], in: folder, standardInput: file)
                run.expectResult()
                #expect(run.pins == expected)
                let piped = try await CommandRun.shell(#"cat \#(file) | "$0" pin -"#, in: folder)
                piped.expectResult()
                #expect(piped.pins == expected)
            }
        }
    }

    @Test("a file that is called like a server is a file")
    func fileThatIsCalledLikeAServerIsAFile() async throws {
        try await self.withChain { openssl, folder, chain in
            try folder.join([chain.root], into: "api.example.com:443")
            let run = try await CommandRun.tumbler(["pin", "api.example.com:443"], in: folder)
            run.expectResult()
            #expect(try await run.pins == openssl.pins(ofCertificates: [chain.root], in: folder))
        }
    }

    /// Keys that no library here parses have a pin all the same.
    @Test(
        "a certificate whose key is of an unusual kind",
        arguments: [
            "genpkey -algorithm ED448", "genpkey -algorithm ED25519",
            "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024",
            "genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521",
        ])
    func certificateWhoseKeyIsOfAnUnusualKind(command: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run("\(command) -out unusual.key", in: folder)
            try await openssl.makeCertificate("unusual", subject: "/CN=unusual", in: folder)
            try await openssl.run("x509 -in unusual.pem -outform DER -out unusual.der", in: folder)
            let expected = try await openssl.pins(ofCertificates: ["unusual.pem"], in: folder)
            let run = try await CommandRun.tumbler(["pin", "unusual.pem", "unusual.der"], in: folder)
            run.expectResult()
            #expect(run.pins == expected + expected)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The output of `key show --json`.
private struct PrintedKey: Decodable {
    let keyid: String
    let pin: String
    let algorithm: String
    let signsMetadata: Bool
    let publicKey: String
}

@Suite("Keys on the command line", .needsOpenSSL)
struct KeyCommandTests {
    @Test(
        "a key that is made has the id and the pin that openssl computes",
        arguments: ["p256", "ed25519", "rsa2048", "rsa3072", "p384"])
    func keyThatIsMadeHasTheIdAndThePinThatOpensslComputes(algorithm: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try folder.writeSecret("correct horse\nsecond line\n", as: "pass")
            let run = try await CommandRun.tumbler(
                ["key", "new", "a.pem", "--algorithm", algorithm, "--passphrase-file", "pass", "--json"], in: folder)
            run.expectResult()
            let made: PrintedKey = try run.decoded()
            let pin = try await openssl.pin(of: "pkey -in a.pem -passin file:pass -pubout", in: folder)
            #expect(made.pin == pin)
            #expect(made.publicKey == (try folder.text(of: "a.pem.pub")))
            #expect(made.signsMetadata == ["p256", "ed25519"].contains(algorithm))
            let id = #""$0" pkey -pubin -in a.pem.pub -outform DER | "$0" dgst -sha256 -r | cut -c1-64"#
            #expect(try await openssl.shell(id, in: folder) == made.keyid)
            #expect(try folder.text(of: "a.pem").hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        }
    }

    @Test("the passphrase of an environment variable opens what a file's did, and another one does not")
    func passphraseOfAnEnvironmentVariableOpensWhatAFilesDidAndAnotherOneDoesNot() async throws {
        try await withTemporaryFolder { folder in
            try folder.writeSecret("correct horse\r\n", as: "pass")
            try folder.writeSecret("wrong horse\n", as: "wrong")
            try folder.writeSecret("\nsecond\n", as: "empty")
            try await CommandRun.tumbler(["key", "new", "a", "--passphrase-file", "pass"], in: folder).expectSuccess()
            let show = #""$0" key show a"#
            try await CommandRun.shell("P='correct horse' \(show) --passphrase-env P", in: folder).expectResult()
            for option in ["--passphrase-env NOT_SET_ANYWHERE", "--passphrase-file empty"] {
                try await CommandRun.shell("\(show) \(option)", in: folder).expectError(64)
            }
            for option in ["--passphrase-file wrong", "--passphrase-file missing"] {
                let run = try await CommandRun.shell("\(show) \(option)", in: folder)
                run.expectError(2)
                #expect(!run.errors.contains("wrong horse"))
            }
            // There is no terminal here; the public half stands beside it.
            let beside = try await CommandRun.shell(show, in: folder)
            #expect(beside.exitCode == 0)
            #expect(beside.errorLines.count == 1)
        }
    }

    @Test(
        "a passphrase file that other users can open is warned of, and used all the same; one of its owner alone is not"
    )
    func passphraseFileThatOtherUsersCanOpenIsWarnedOfAndUsedAllTheSame() async throws {
        try await withTemporaryFolder { folder in
            try folder.writeSecret("correct horse\n", as: "pass")
            let option = ["--passphrase-file", "pass"]
            try await CommandRun.tumbler(["key", "new", "a"] + option, in: folder).expectSuccess()
            let path = folder.appendingPathComponent("pass").path
            for (mode, isOpen) in [(0o644, true), (0o640, true), (0o604, true), (0o600, false), (0o400, false)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                let run = try await CommandRun.tumbler(["key", "show", "a"] + option, in: folder)
                #expect(run.exitCode == 0, "\(run)")
                let warning =
                    "tumbler: warning: pass: other users of this machine can open this file, and it holds a passphrase: "
                    + "chmod 600 pass"
                #expect(run.errorLines == (isOpen ? [warning] : []), "\(run)")
            }
            try folder.writeSecret("", as: "none")
            let none = try await CommandRun.tumbler(["key", "show", "a", "--passphrase-file", "none"], in: folder)
            none.expectError(2)
            #expect(none.errors.contains("none: the file is empty"), "\(none)")
        }
    }

    @Test("a public key that was exchanged beside its private one is noticed")
    func publicKeyThatWasExchangedBesideItsPrivateOneIsNoticed() async throws {
        try await withTemporaryFolder { folder in
            for name in ["a", "b"] { try await CommandRun.makeKey(name, in: folder) }
            try folder.write(try folder.contents(of: "b.pub"), as: "a.pub")
            try await CommandRun.tumbler(["key", "show", "a"], in: folder).expectError(1, hint: true)
        }
    }

    @Test("only a public key is shown as one, and a private key in DER or a certificate is not taken for it")
    func onlyAPublicKeyIsShownAsOneAndAPrivateKeyInDEROrACertificateIsNotTakenForIt() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=api.example.com", in: folder)
            try await openssl.run("x509 -in server.pem -outform DER -out certificate.der", in: folder)
            try await openssl.run("pkcs8 -topk8 -nocrypt -in server.key -outform DER -out key.der", in: folder)
            try await openssl.run("pkey -in server.key -pubout -outform DER -out public.der", in: folder)
            try folder.write("-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n", as: "empty.pem")
            let shown = try await CommandRun.tumbler(["key", "show", "public.der"], in: folder)
            shown.expectResult()
            #expect(shown.lines[1] == "pin \(try await openssl.pin(of: "pkey -in server.key -pubout", in: folder))")
            for file in ["certificate.der", "key.der", "empty.pem", "server.pem", "request.cnf"] {
                let run = try await CommandRun.tumbler(["key", "show", file], in: folder)
                #expect([1, 2].contains(run.exitCode), "\(run)")
                run.expectError(run.exitCode)
            }
        }
    }

    @Test("a file that is there is never overwritten")
    func fileThatIsThereIsNeverOverwritten() async throws {
        try await withTemporaryFolder { folder in
            for name in ["a", "b.pub"] { try folder.write("mine", as: name) }
            for name in ["a", "b"] {
                try await CommandRun.tumbler(["key", "new", name, "--insecure-plaintext"], in: folder)
                    .expectError(2, hint: true)
            }
            #expect(try folder.text(of: "a") == "mine")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a", "b.pub"])
        }
    }

    @Test(
        "a request for a backup key holds, asks for its names, and has the key's pin",
        arguments: ["p256", "ed25519", "rsa2048", "rsa3072", "p384"])
    func requestForABackupKeyHoldsAsksForItsNamesAndHasTheKeysPin(algorithm: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await CommandRun.makeKey("a", algorithm, in: folder)
            let names = ["api.example.com", "*.example.com", "192.0.2.7", "2001:db8::1"]
            let run = try await CommandRun.tumbler(
                ["key", "csr", "a", "--subject", #"CN=api.example.com, O=Example\, Inc., C=DE"#, "-o", "a.csr"]
                    + names.flatMap { ["--dns", $0] }, in: folder)
            run.expectResult()
            let text = try await openssl.shell(
                #""$0" req -in a.csr -verify -noout -text -nameopt RFC2253 2>&1"#, in: folder)
            #expect(text.contains("verify OK"), "\(text)")
            #expect(text.contains(#"Subject: CN=api.example.com,O=Example\, Inc.,C=DE"#), "\(text)")
            #expect(
                text.contains(
                    "DNS:api.example.com, DNS:*.example.com, IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:1"),
                "\(text)")
            let pin = try await CommandRun.tumbler(["pin", "a.csr"], in: folder)
            #expect(pin.pins == [try await openssl.pin(of: "pkey -in a -pubout", in: folder)])
        }
    }

    @Test(
        "a request with a subject or a name that is none is not written",
        arguments: [
            ["--subject", "api.example.com", "--dns", "a.example"], ["--subject", "CN=", "--dns", "a.example"],
            ["--subject", "CN=a+O=b", "--dns", "a.example"], ["--subject", "CN=a,", "--dns", "a.example"],
            ["--subject", "X=a", "--dns", "a.example"], ["--subject", #"CN=a\"#, "--dns", "a.example"],
            ["--subject", "CN=a", "--dns", "b ad"], ["--subject", "CN=a", "--dns", "*.192.0.2.7"],
            ["--subject", "CN=a", "--dns", "*.*.example"], ["--subject", "CN=a"],
        ])
    func requestWithASubjectOrANameThatIsNoneIsNotWritten(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeKey("a", "ed25519", in: folder)
            try await CommandRun.tumbler(["key", "csr", "a", "-o", "a.csr"] + options, in: folder).expectError(64)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("a.csr").path))
        }
    }
}

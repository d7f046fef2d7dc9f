// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The file that a signature is written to")
struct SignedPlaceTests {
    /// Runs `body` in a folder with keys, a list, root 1 as `root.json` and in its place, and an unsigned root 2.
    private func withRoots(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            let roots = folder.appendingPathComponent("project/root")
            try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: true)
            try roots.write(try folder.contents(of: "root.json"), as: "1.json")
            try await self.rotate("2.payload", at: "2026-11-22T00:00:00Z", in: folder).expectSuccess()
            try await body(folder)
        }
    }

    private func rotate(_ output: String, at time: String, in folder: URL) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["root", "rotate", "--root", "root.json", "--at", time, "-o", output], in: folder)
    }

    private func sign(_ file: String, with key: String = "root", to output: String, in folder: URL) async throws
        -> CommandRun
    {
        try await CommandRun.tumbler(
            ["sign", file, "--root", "root.json", "--key", key, "--yes", "-o", output], in: folder)
    }

    /// Expects a refusal in some words, which leaves a file as it was.
    private func expectRefusal(
        _ words: [String], leaving file: String, in folder: URL, exitCode: Int32 = 1,
        sourceLocation: SourceLocation = #_sourceLocation, _ command: () async throws -> CommandRun
    ) async throws {
        let before = try folder.contents(of: file)
        let run = try await command()
        run.expectError(exitCode, hint: true, sourceLocation: sourceLocation)
        for words in words { #expect(run.errors.contains(words), "\(run)", sourceLocation: sourceLocation) }
        #expect(try folder.contents(of: file) == before, sourceLocation: sourceLocation)
    }

    @Test("root 2 that is signed into the place of root 1 is refused, and root 1 stays: older clients go on from it")
    func rootSignedIntoThePlaceOfAnotherRootIsRefused() async throws {
        try await self.withRoots { folder in
            let one = "project/root/1.json"
            let words = [
                "\(one) holds another root: version 1 of com.example.app", "write root 2 to project/root/2.json",
            ]
            try await self.expectRefusal(words, leaving: one, in: folder) {
                try await self.sign("2.payload", to: one, in: folder)
            }
            try await self.sign("2.payload", to: "2.json", in: folder).expectSuccess()
            try await self.expectRefusal(words, leaving: one, in: folder) {
                try await CommandRun.tumbler(["combine", "2.json", "-o", one], in: folder)
            }
            // A place that no root has yet: clients would ask for root 2, and never find it.
            let three = try await self.sign("2.payload", to: "project/root/3.json", in: folder)
            three.expectError(1, hint: true)
            #expect(three.errors.contains("is the place of root 3, and this is root 2"), "\(three)")
            let path = folder.appendingPathComponent("project/root/3.json").path
            #expect(!FileManager.default.fileExists(atPath: path))
            // What is in the place of root 2 is no root 2: no other file is the place of it.
            let two = "project/root/2.json"
            try folder.write(try folder.contents(of: "root.json"), as: two)
            let hint = "move that file away: \(two) is the place of this root"
            try await self.expectRefusal([hint], leaving: two, in: folder) {
                try await self.sign("2.payload", to: two, in: folder)
            }
        }
    }

    @Test("the same root with more signatures replaces itself, and another root of that version does not")
    func sameRootReplacesItselfAndAnotherRootOfThatVersionDoesNot() async throws {
        try await self.withRoots { folder in
            let two = "project/root/2.json"
            for _ in 0..<2 { try await self.sign("2.payload", to: two, in: folder).expectSuccess() }
            try await self.sign(two, to: two, in: folder).expectSuccess()
            // Elsewhere a root that waits for its turn may be made once more.
            try await self.sign("2.payload", to: "next-root.json", in: folder).expectSuccess()
            try await self.rotate("2.payload", at: "2026-11-23T00:00:00Z", in: folder).expectSuccess()
            try await self.sign("2.payload", to: "next-root.json", in: folder).expectSuccess()
            try await self.expectRefusal(
                ["\(two) holds another root: version 2 ", "tumbler root rotate"], leaving: two, in: folder
            ) { try await self.sign("2.payload", to: two, in: folder) }
        }
    }

    @Test("a list does not replace a root, nor a list of another name")
    func listReplacesNoRootAndNoListOfAnotherName() async throws {
        try await self.withRoots { folder in
            for file in ["root.json", "project/root/1.json"] {
                try await self.expectRefusal(["\(file) holds a root: version 1 "], leaving: file, in: folder) {
                    try await self.sign("list", with: "pins", to: file, in: folder)
                }
            }
            try await self.sign("list", with: "pins", to: "pins.json", in: folder).expectSuccess()
            try folder.write(MetadataFixture.list(version: 8), as: "list")
            try await self.sign("list", with: "pins", to: "pins.json", in: folder).expectSuccess()

            let other = [
                "root", "new", "--name", "com.example.other", "--root", "root.pub", "--pins", "pins.pub", "--at",
                MetadataFixture.issued, "-o", "other.payload",
            ]
            try await CommandRun.tumbler(other, in: folder).expectSuccess()
            try await CommandRun.tumbler(
                ["sign", "other.payload", "--key", "root", "--yes", "-o", "other.json"], in: folder
            ).expectSuccess()
            try folder.write(MetadataFixture.list(version: 9, name: "com.example.other"), as: "list")
            let words = "pins.json holds another list: version 8 of com.example.app"
            try await self.expectRefusal([words], leaving: "pins.json", in: folder) {
                try await CommandRun.tumbler(
                    ["sign", "list", "--root", "other.json", "--key", "pins", "--yes", "-o", "pins.json"], in: folder)
            }
        }
    }

    @Test("what is not signed yet replaces no signed root and no signed list")
    func whatIsNotSignedReplacesNothingSigned() async throws {
        try await self.withRoots { folder in
            try await self.sign("list", with: "pins", to: "pins.json", in: folder).expectSuccess()
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let new = [
                "root", "new", "--name", "com.example.app", "--root", "root.pub", "--pins", "pins.pub", "-o",
                "root.json",
            ]
            try await self.expectRefusal(["root.json holds a signed root: "], leaving: "root.json", in: folder) {
                try await CommandRun.tumbler(new, in: folder)
            }
            try await self.expectRefusal(["root.json holds a signed root: "], leaving: "root.json", in: folder) {
                try await self.rotate("root.json", at: "2026-11-22T00:00:00Z", in: folder)
            }
            try await self.expectRefusal(["pins.json holds a signed list: "], leaving: "pins.json", in: folder) {
                try await CommandRun.tumbler(["build", "-o", "pins.json"], in: folder)
            }
        }
    }

    @Test("a request for a certificate that is to be written over its own key leaves the key")
    func requestThatIsToBeWrittenOverItsOwnKeyLeavesTheKey() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeKey("next.pem", in: folder)
            let request = [
                "key", "csr", "next.pem", "--subject", "CN=api.example.com", "--dns", "api.example.com", "-o",
                "next.pem",
            ]
            try await self.expectRefusal(
                ["next.pem holds a private key"], leaving: "next.pem", in: folder, exitCode: 2
            ) { try await CommandRun.tumbler(request, in: folder) }
        }
    }

    @Test(
        "a year later: the request of the next key does not replace the file from which the pin of the served key is read",
        arguments: ["current.csr", "current.pem.pub"])
    func requestOfTheNextKeyDoesNotReplaceTheFileFromWhichThePinOfTheServedKeyIsRead(file: String) async throws {
        try await withTemporaryFolder { folder in
            func request(_ key: String, _ output: String) async throws -> CommandRun {
                try await CommandRun.tumbler(
                    [
                        "key", "csr", key, "--subject", "CN=api.example.com", "--dns", "api.example.com", "-o", output,
                    ], in: folder)
            }
            try await CommandRun.makeKey("current.pem", in: folder)
            try await CommandRun.makeKey("next.pem", in: folder)
            try await request("current.pem", "current.csr").expectSuccess()
            try await self.expectRefusal(
                ["\(file) holds ", " of another key, sha256/", "never overwritten"], leaving: file, in: folder,
                exitCode: 2
            ) { try await request("next.pem", file) }
            // For its own key it may be made once more, and what holds no pin is replaced as before.
            try await request("current.pem", file).expectSuccess()
            try folder.write("notes", as: "next.csr")
            try await request("next.pem", "next.csr").expectSuccess()
        }
    }

    @Test(
        "a private key in any form is no file that -o replaces: PKCS #8, SEC 1, PKCS #1, in DER, encrypted, with headers",
        .needsOpenSSL,
        arguments: [
            "pkey -outform DER", "ec -outform DER",
            "pkcs8 -topk8 -outform DER -v2 aes-256-cbc -passout pass:secret", "rsa -traditional -outform DER",
            "ec -aes256 -passout pass:secret",
        ])
    func privateKeyInAnyFormIsNoFileThatIsReplaced(_ form: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let kind = form.hasPrefix("rsa") ? "RSA" : "EC -pkeyopt ec_paramgen_curve:P-256"
            try await openssl.run("genpkey -algorithm \(kind) -out key.pem", in: folder)
            try await openssl.run("\(form) -in key.pem -out old.key", in: folder)
            let request = [
                "key", "csr", "key.pem", "--subject", "CN=api.example.com", "--dns", "api.example.com", "-o", "old.key",
            ]
            try await self.expectRefusal(["old.key holds a private key"], leaving: "old.key", in: folder, exitCode: 2) {
                try await CommandRun.tumbler(request, in: folder)
            }
        }
    }
}

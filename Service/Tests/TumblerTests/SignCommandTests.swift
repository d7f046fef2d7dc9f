// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Signing on the command line")
struct SignCommandTests {
    /// Runs `body` in a folder with keys, a signed root and an unsigned list.
    private func withRoot(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            try await body(folder)
        }
    }

    private func exists(_ name: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
    }

    private let sign = ["sign", "list", "--root", "root.json", "-o", "pins.json"]
    private let verify = ["verify", "pins.json", "--root", "root.json", "--at", MetadataFixture.now]

    @Test("a list that is signed is what a client takes, and says by whom")
    func listThatIsSignedIsWhatAClientTakesAndSaysByWhom() async throws {
        try await self.withRoot { folder in
            let run = try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("api.example.com: enforce: sha256/AAAA"), "\(run)")
            let verified = try await CommandRun.tumbler(self.verify, in: folder)
            verified.expectResult()
            let shown = try await CommandRun.tumbler(["key", "show", "pins.pub"], in: folder)
            let keyID = try #require(shown.lines.first?.split(separator: " ").last)
            #expect(verified.lines.first == "list 7 of com.example.app")
            #expect(verified.lines.last == "signed by \(keyID) ed25519")
        }
    }

    @Test("into pins.json: the difference to what is published is shown, and not to itself; with --yes as well")
    func intoPinsJsonTheDifferenceToWhatIsPublishedIsShownAndNotToItselfWithYesAsWell() async throws {
        try await withTemporaryFolder { folder in
            let script = #"""
                set -e
                "$0" init project --name com.example.app --insecure-plaintext \
                    --domain "api.example.com=\#(ProjectText.pin("a")),\#(ProjectText.pin("b"))" >/dev/null 2>&1
                cd project
                sed 's/mode: enforce/mode: report/' tumbler.yaml > new.yaml; mv new.yaml tumbler.yaml
                "$0" build -o list.payload >/dev/null
                "$0" sign list.payload --yes -o pins.json
                """#
            let first = try await CommandRun.shell(script, in: folder)
            #expect(first.exitCode == 0, "\(first)")
            #expect(first.errors.contains("against version 1, which is published:"), "\(first)")
            // Once more, as the next signer does: pins.json is this very list by now.
            let second = try await CommandRun.shell(
                #"cd project && "$0" sign pins.json --yes -o pins.json"#, in: folder)
            #expect(second.exitCode == 0, "\(second)")
            #expect(second.errors.contains("against version 1, which is published:"), "\(second)")
        }
    }

    @Test("a list that lacks a signature does not replace that of the project which has all: releases go on working")
    func listThatLacksASignatureDoesNotReplaceThatOfTheProjectWhichHasAll() async throws {
        try await withTemporaryFolder { folder in
            let project = folder.appendingPathComponent("project")
            try FileManager.default.createDirectory(
                at: project.appendingPathComponent("root"), withIntermediateDirectories: true)
            try project.write(ProjectText.good, as: "tumbler.yaml")
            for key in ["root", "a", "b"] { try await CommandRun.makeKey("\(key).pem", in: project) }
            let made = try await CommandRun.shell(
                #"""
                set -e
                "$0" root new --name com.example.app --root root.pem.pub --pins a.pem.pub --pins b.pem.pub \
                    --threshold pins=2 -o root.payload
                "$0" sign root.payload --key root.pem --yes -o root/1.json
                "$0" build -o list.payload
                "$0" sign list.payload --key a.pem --key b.pem --yes -o pins.json
                "$0" build -o list.payload
                "$0" sign list.payload --key a.pem --yes -o one.json || test $? -eq 1
                """#, in: project)
            #expect(made.exitCode == 0, "\(made)")
            let before = try project.contents(of: "pins.json")
            let sign = ["sign", "list.payload", "--key", "a.pem", "--yes", "-o", "pins.json"]
            for command in [sign, ["combine", "one.json", "-o", "pins.json"]] {
                let run = try await CommandRun.tumbler(command, in: project)
                run.expectError(1, hint: true)
                #expect(run.errors.contains("signatures are missing, and pins.json holds"), "\(run)")
                #expect(try project.contents(of: "pins.json") == before)
                #expect(!self.exists("lists/2.json", in: project))
            }
            // Who put it there by other means is told the way back.
            try project.write(try project.contents(of: "one.json"), as: "pins.json")
            for command in [["lint"], ["diff"], ["build", "-o", "other"], ["export", "www"]] {
                let run = try await CommandRun.tumbler(command, in: project)
                #expect(run.errors.contains("cp lists/1.json pins.json"), "\(run)")
            }
            // The others sign it there, as they always could.
            try await CommandRun.tumbler(
                ["sign", "pins.json", "--key", "b.pem", "--yes", "-o", "pins.json"], in: project
            ).expectSuccess()
            #expect(self.exists("lists/2.json", in: project))
        }
    }

    @Test("a pipe gets no question: without --yes and --expect it is a usage error, and nothing is written")
    func noQuestionIsAskedInAPipeWithoutYesAndWithoutExpectItIsAUsageError() async throws {
        try await self.withRoot { folder in
            let run = try await CommandRun.tumbler(self.sign + ["--key", "pins"], in: folder)
            run.expectError(64, hint: true)
            #expect(!self.exists("pins.json", in: folder))
        }
    }

    @Test("--expect signs the payload that was agreed on, and no other")
    func expectSignsThePayloadThatWasAgreedOnAndNoOther() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await self.withRoot { folder in
            let digest = try await openssl.shell(#""$0" dgst -sha256 -r list | cut -c1-64"#, in: folder)
            let sign = self.sign + ["--key", "pins", "--expect"]
            let other = try await CommandRun.tumbler(sign + [String(digest.reversed())], in: folder)
            other.expectError(1, hint: true)
            #expect(!self.exists("pins.json", in: folder))
            try await CommandRun.tumbler(sign + ["tomorrow"], in: folder).expectError(64)
            try await CommandRun.tumbler(sign + [digest.uppercased()], in: folder).expectSuccess()
            #expect(self.exists("pins.json", in: folder))
        }
    }

    @Test(
        "a signer that cannot sign, or not for this root, leaves the envelope that is there as it was",
        arguments: [
            ("stranger", 2), ("missing", 2), ("root", 2), ("pins.pub", 2), ("exec:exit 1", 2), ("exec:cat", 2),
            ("exec:printf rubbish", 2), ("exec:yes", 2), ("exec:", 64), ("pkcs11:object=a?pin-value=1", 64),
            ("pkcs11:object=a", 64), ("pkcs11:object=a?module-path=/nonexistent.so", 2),
            ("pkcs11:object=a?module-path=/bin/sh", 2),
        ] as [(String, Int32)])
    func signerThatCannotSignOrNotForThisRootLeavesTheEnvelopeThatIsThereAsItWas(key: String, exitCode: Int32)
        async throws
    {
        try await self.withRoot { folder in
            try await CommandRun.makeKey("stranger", in: folder)
            try folder.write("as it was", as: "pins.json")
            let run = try await CommandRun.shell(
                #"unset TUMBLER_PKCS11_MODULE; "$0" sign list --root root.json -o pins.json --yes --key "# + "'\(key)'",
                in: folder)
            run.expectError(exitCode)
            #expect(try folder.text(of: "pins.json") == "as it was")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!left.contains { $0.hasSuffix(".part") })
        }
    }

    @Test("one good signer and one bad one together write nothing")
    func oneGoodSignerAndOneBadOneTogetherWriteNothing() async throws {
        try await self.withRoot { folder in
            let run = try await CommandRun.tumbler(
                self.sign + ["--key", "pins", "--key", "exec:exit 1", "--yes"], in: folder)
            run.expectError(2)
            #expect(!self.exists("pins.json", in: folder))
        }
    }

    @Test("the n-th passphrase belongs to the n-th key, from files and from the environment mixed")
    func nThPassphraseBelongsToTheNThKeyFromFilesAndFromTheEnvironmentMixed() async throws {
        try await withTemporaryFolder { folder in
            for name in ["one", "two", "three"] {
                try folder.writeSecret("passphrase \(name)\n", as: "\(name).pass")
                try await CommandRun.tumbler(
                    ["key", "new", name, "--algorithm", "ed25519", "--passphrase-file", "\(name).pass"], in: folder
                ).expectSuccess()
            }
            try await CommandRun.tumbler(
                [
                    "root", "new", "--name", "a", "--root", "one.pub", "--root", "two.pub", "--root", "three.pub",
                    "--pins", "one.pub", "--threshold", "root=3", "-o", "root",
                ], in: folder
            ).expectSuccess()
            let sign = #"TWO='passphrase two' "$0" sign root -o root.json --yes --key one --key two --key three"#
            let right = "--passphrase-file one.pass --passphrase-env TWO --passphrase-file=three.pass"
            try await CommandRun.shell("\(sign) \(right)", in: folder).expectSuccess()
            let wrong = "--passphrase-env TWO --passphrase-file one.pass --passphrase-file=three.pass"
            try await CommandRun.shell("\(sign) \(wrong)", in: folder).expectError(2)
            let many = "\(right) --passphrase-env TWO"
            try await CommandRun.shell("\(sign) \(many)", in: folder).expectError(64)
        }
    }

    @Test("signing again replaces the signature, and an envelope may be its own output")
    func signingAgainReplacesTheSignatureAndAnEnvelopeMayBeItsOwnOutput() async throws {
        try await self.withRoot { folder in
            try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder).expectSuccess()
            let again = ["sign", "pins.json", "--root", "root.json", "-o", "pins.json", "--key", "pins", "--yes"]
            let run = try await CommandRun.tumbler(again, in: folder)
            try run.expectSuccess()
            #expect(run.lines.first?.hasSuffix("in place of its last") == true, "\(run)")
            let envelope = try JSONSerialization.jsonObject(with: try folder.contents(of: "pins.json"))
            let signatures = (envelope as? [String: Any])?["signatures"] as? [Any]
            #expect(signatures?.count == 1)
        }
    }

    @Test("all that is signed is shown: where reports go, logs, each pin of a long entry, what cannot be read")
    func allThatIsSignedIsShown() async throws {
        try await self.withRoot { folder in
            let host = "a-host-whose-name-is-nearly-as-long-as-a-label-can-be.example.com"
            let letters = Array("abcdefghijklmnop")
            let pins = letters.map { #"{"pin": "\#(ProjectText.pin($0))", "position": "issuer"}"# }
            let logs = String(repeating: "0", count: 64)
            let entry =
                #"{"domain": "\#(host)", "reportTo": ["https://to.example/v1"], "transparency": {"mode": "enforce", "#
                + #""policy": "chrome"}, "pins": [\#(pins.joined(separator: ", "))]}, "#
                + #"{"domain": "b.example.com", "pins": [{"pin": "sha512/x"}, {"pin": "\#(ProjectText.pin("a"))"}]}, "#
            let list = MetadataFixture.list(
                extra: #""reportTo": ["https://list.example/v1"], "logs": {"sha256": "\#(logs)", "length": 9}, "#
            ).replacing(#""domains": ["#, with: #""domains": [\#(entry)"#)
            try folder.write(list, as: "list")
            let run = try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            for letter in letters { #expect(run.errors.contains("\(ProjectText.pin(letter)) (issuer)"), "\(run)") }
            for words in [
                "failures are reported to https://list.example/v1", "log list SHA-256 \(logs)",
                "\(host): failures are reported to https://to.example/v1",
                "\(host): Certificate Transparency enforce chrome", "does not know their form: 1 pins or demands",
            ] { #expect(run.errors.contains(words), "\(run)") }
            #expect(!run.errors.contains("…"), "\(run)")
        }
    }

    @Test("a payload with an unknown member is never signed; a client ignores the member")
    func payloadWithAnUnknownMemberIsNeverSignedAClientIgnoresTheMember() async throws {
        try await self.withRoot { folder in
            try folder.write(MetadataFixture.list(extra: #""surprise": 1, "#), as: "list")
            try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder).expectError(1)
            #expect(!self.exists("pins.json", in: folder))
        }
    }

    @Test("a list that denies a certificate by its hash is never signed: it would look like protection, and is none")
    func listThatDeniesACertificateByItsHashIsNeverSigned() async throws {
        try await self.withRoot { folder in
            let hash = "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
            for entry in ["\"cert-\(hash)\"", #"{"pin": "cert-\#(hash)", "mode": "report"}"#] {
                try folder.write(MetadataFixture.list(extra: "\"denied\": [\(entry)], "), as: "list")
                let run = try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder)
                run.expectError(1, hint: true)
                #expect(run.errors.contains("denied has the hash of a certificate: "), "\(run)")
                #expect(run.errors.contains("deny its key: tumbler pin FILE prints sha256/"), "\(run)")
                #expect(!self.exists("pins.json", in: folder))
            }
            // Its key may be denied.
            try folder.write(MetadataFixture.list(extra: "\"denied\": [\"\(hash)\"], "), as: "list")
            try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder).expectSuccess()
        }
    }

    @Test("a list that no client would read in its envelope is not written")
    func listThatNoClientWouldReadInItsEnvelopeIsNotWritten() async throws {
        try await self.withRoot { folder in
            // White space is a part of the payload: base64 takes it over what clients read.
            let list = MetadataFixture.list() + String(repeating: " ", count: 3_300_000)
            try folder.write(list, as: "list")
            let run = try await CommandRun.tumbler(self.sign + ["--key", "pins", "--yes"], in: folder)
            run.expectError(1)
            #expect(!self.exists("pins.json", in: folder))
        }
    }

    @Test("a device that is named as the output is not replaced by a file")
    func deviceThatIsNamedAsTheOutputIsNotReplacedByAFile() async throws {
        try await self.withRoot { folder in
            let sign = ["sign", "list", "--root", "root.json", "--key", "pins", "--yes", "-o"]
            for output in ["/dev/null", folder.path, "no/such/folder/pins.json"] {
                try await CommandRun.tumbler(sign + [output], in: folder).expectError(2)
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/null")
            #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
        }
    }
}

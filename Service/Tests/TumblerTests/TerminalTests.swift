// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("A person at a terminal")
struct TerminalTests {
    @Test(
        "is asked twice for a new passphrase and once for an old one, and sees neither",
        .enabled("there is no python3 to type", Typist.hasPython))
    func isAskedTwiceForANewPassphraseAndOnceForAnOldOneAndSeesNeither() async throws {
        try await withTemporaryFolder { folder in
            let new = ["key", "new", "key", "--algorithm", "ed25519"]
            let typo = try await Typist.type(
                [
                    "New passphrase of key: ": "open sesame", "The same again: ": "open sesam",
                    "New passphrase of key: ": "open sesame", "The same again: ": "open sesam",
                    "New passphrase of key: ": "open sesame", "The same again: ": "open sesam",
                ], new, in: folder)
            #expect(typo.exitCode == 64, "\(typo)")
            let made = try await Typist.type(
                [
                    "New passphrase of key: ": "open sesame", "The same again: ": "open sesam",
                    "New passphrase of key: ": "open sesame", "The same again: ": "open sesame",
                ], new, in: folder)
            #expect(made.exitCode == 0 && made.shown.contains("The two differ"), "\(made)")
            try FileManager.default.removeItem(at: folder.appendingPathComponent("key.pub"))
            let right = try await Typist.type(
                ["Passphrase of key: ": "open sesame"], ["key", "show", "key"], in: folder)
            #expect(right.exitCode == 0, "\(right)")
            let wrong = try await Typist.type(
                ["Passphrase of key: ": "open sesam"], ["key", "show", "key"], in: folder)
            #expect(wrong.exitCode == 2, "\(wrong)")
            for run in [typo, made, right, wrong] { #expect(!run.shown.contains("sesam"), "\(run)") }
        }
    }

    @Test(
        "a key whose name is an escape sequence writes nothing of its own onto the terminal that asks for its passphrase",
        .enabled("there is no python3 to type", Typist.hasPython))
    func keyWhoseNameIsAnEscapeSequenceWritesNothingOfItsOwnOntoTheTerminal() async throws {
        try await withTemporaryFolder { folder in
            let name = "\u{1b}]0;title\u{7}key"
            try folder.writeSecret("open sesame\n", as: "pass")
            try await CommandRun.tumbler(["key", "new", name, "--passphrase-file", "pass"], in: folder).expectSuccess()
            try FileManager.default.removeItem(at: folder.appendingPathComponent("\(name).pub"))
            let run = try await Typist.type(
                ["Passphrase of ?]0;title?key: ": "open sesame"], ["key", "show", name], in: folder)
            #expect(run.exitCode == 0 && !run.shown.contains("\u{1b}]0;"), "\(run)")
        }
    }

    @Test(
        "may correct what was typed, and may give up; the terminal shows again what is typed afterwards",
        .enabled("there is no python3 to type", Typist.hasPython))
    func mayCorrectWhatWasTypedAndMayGiveUpTheTerminalShowsAgainWhatIsTypedAfterwards() async throws {
        try await withTemporaryFolder { folder in
            let typed = "\u{15}wrong\u{15}open s\u{e4}\u{20ac}\u{7f}\u{7f}esame"
            let made = try await Typist.type(
                ["New passphrase of key: ": typed, "The same again: ": "open sesame"],
                ["key", "new", "key", "--algorithm", "ed25519"], in: folder)
            #expect(made.exitCode == 0, "\(made)")
            let program = try #require(CommandRun.program)
            let line = #""\#(program.path)" key new b; echo "ended with $?"; stty -a"#
            let given = try await Typist.type(
                ["New passphrase of b: ": "open\u{3}"], line: line, in: folder)
            #expect(given.shown.contains("interrupted") && given.shown.contains("ended with 130"), "\(given)")
            #expect(given.shown.contains(" echo ") && given.shown.contains(" icanon "), "\(given)")
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("b").path))
        }
    }

    @Test(
        "a program that is ended while it asks for a passphrase leaves a terminal that shows what is typed",
        .enabled("there is no python3 to type", Typist.hasPython))
    func programThatIsEndedWhileItAsksForAPassphraseLeavesATerminalThatShowsWhatIsTyped() async throws {
        try await withTemporaryFolder { folder in
            let program = try #require(CommandRun.program)
            let asking = #"sh -c 'echo $$ > pid; exec "$0" key new b' "\#(program.path)""#
            let ended = try await Typist.type(
                ["New passphrase of b: ": "SIGTERM"], line: #"\#(asking); echo "ended with $?"; stty -a"#, in: folder)
            #expect(ended.shown.contains("ended with 143"), "\(ended)")
            #expect(ended.shown.contains(" echo ") && ended.shown.contains(" icanon "), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("b").path))
        }
    }

    @Test(
        "Control-C at the question before a step of a rotation is released leaves the source as it was",
        .enabled("there is no python3 to type", Typist.hasPython))
    func controlCAtTheQuestionBeforeAStepOfARotationIsReleasedLeavesTheSourceAsItWas() async throws {
        try await withTemporaryFolder { folder in
            let (old, new) = (ProjectText.pin("a"), ProjectText.pin("f"))
            let at = ["-C", "project", "--no-look", "--at", "2026-11-23T00:00:00Z"]
            for line in [
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--at",
                    "2026-11-01T00:00:00Z", "--domain", "api.example.com=\(old),\(ProjectText.pin("b"))",
                ],
                ["rotate", "plan", "api.example.com", "--old", old, "--pin", new] + at,
            ] { try await CommandRun.tumbler(line, in: folder).expectSuccess() }
            let (source, list) = (
                try folder.text(of: "project/tumbler.yaml"), try folder.contents(of: "project/pins.json")
            )
            let next = ["rotate", "next", "api.example.com", "--export", "www"] + at
            let stopped = try await Typist.type(["Release this? [yes/no] ": "\u{3}"], next, in: folder)
            #expect(stopped.exitCode != 0, "\(stopped)")
            #expect(try folder.text(of: "project/tumbler.yaml") == source, "\(stopped)")
            #expect(try folder.contents(of: "project/pins.json") == list)
            // The plan is where it was, and the step can be done.
            let done = try await Typist.type(["Release this? [yes/no] ": "yes"], next, in: folder)
            #expect(done.exitCode == 0 && done.shown.contains("planned, now announced"), "\(done)")
            #expect(try folder.text(of: "project/tumbler.yaml").contains(new))
        }
    }

    /// Makes a project at a terminal, with the host of the scene.
    private func initialise(
        _ answers: KeyValuePairs<String, String>, _ scene: ProbeScene
    ) async throws -> (exitCode: Int32, shown: String) {
        try await Typist.type(
            answers,
            [
                "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain", ProbeScene.host,
                "--roots", "anchors.pem", "--connect-to", "::127.0.0.1:\(scene.server.port)",
            ], in: scene.folder)
    }

    @Test(
        "a host is pinned by its own key and a backup key that is made on the spot, with a request for its certificate",
        .enabled("there is no python3 to type", Typist.hasPython))
    func hostIsPinnedByItsOwnKeyAndABackupKeyThatIsMadeOnTheSpot() async throws {
        try await ProbeScene.with { scene in
            let made = try await self.initialise(
                ["Pin it? [yes/no] ": "yes", "Make a backup key for api.example.com now? [yes/no] ": "yes"], scene)
            #expect(made.exitCode == 0, "\(made)")
            #expect(made.shown.contains("the chain validates") && made.shown.contains("backup-api.example.com.csr"))
            let source = try scene.folder.text(of: "project/tumbler.yaml")
            #expect(source.contains(try scene.pki.leaf.pin.description))
            // The certificates above it in the chain are never offered.
            for above in [scene.pki.intermediate, scene.pki.root] {
                let pin = try above.pin.description
                #expect(!source.contains(pin) && !made.shown.contains(pin))
            }
            let backup = try await CommandRun.tumbler(
                ["pin", "project/backup-api.example.com.csr", "project/keys/backup-api.example.com.pem.pub"],
                in: scene.folder)
            #expect(Set(backup.pins).count == 1 && backup.pins.count == 2, "\(backup)")
            #expect(source.contains("{pin: \"\(try #require(backup.pins.first))\", note: \"backup\"}"), "\(source)")
            #expect(
                try await CommandRun.tumbler(["lint", "--strict", "-C", "project"], in: scene.folder).exitCode == 0)
        }
    }

    @Test(
        "an issuer of the same chain is no backup; without any backup nothing is signed",
        .enabled("there is no python3 to type", Typist.hasPython))
    func issuerOfTheSameChainIsNoBackupWithoutAnyBackupNothingIsSigned() async throws {
        try await ProbeScene.with { scene in
            let question = "The pin of a backup key that is there already, or nothing: "
            for (answer, words) in [
                (try scene.pki.intermediate.pin.description, "it is no backup"),
                (try scene.pki.leaf.pin.description, "it is no backup"), ("sha256/x", "tumbler pin FILE"),
                ("", "no-backup-pin"),
            ] {
                let refused = try await self.initialise(
                    [
                        "Pin it? [yes/no] ": "yes", "Make a backup key for api.example.com now? [yes/no] ": "no",
                        question: answer,
                    ], scene)
                #expect(refused.exitCode != 0 && refused.shown.contains(words), "\(refused)")
                let source = scene.folder.appendingPathComponent("project/tumbler.yaml").path
                #expect(!FileManager.default.fileExists(atPath: source))
            }
        }
    }

    @Test(
        "what is served and does not validate is not proposed, and what is wrong with it is said",
        .enabled("there is no python3 to type", Typist.hasPython))
    func whatIsServedAndDoesNotValidateIsNotProposedAndWhatIsWrongWithItIsSaid() async throws {
        for (words, chain) in ProbeScene.invalidChains {
            try await ProbeScene.with(chain) { scene in
                let refused = try await self.initialise([:], scene)
                #expect(refused.exitCode == 1 && refused.shown.contains(words), "\(refused)")
                #expect(!refused.shown.contains("Pin it?"))
            }
        }
    }

    @Test(
        "sees what is to be signed and its digest, and only yes signs it",
        .enabled("there is no python3 to type", Typist.hasPython))
    func seesWhatIsToBeSignedAndItsDigestAndOnlyYesSignsIt() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            let sign = ["sign", "list", "--root", "root.json", "--key", "pins", "-o", "pins.json"]
            let output = folder.appendingPathComponent("pins.json").path
            for answer in ["no", "", "yesterday"] {
                let refused = try await Typist.type(["Sign this? [yes/no] ": answer], sign, in: folder)
                #expect(refused.exitCode == 1, "\(refused)")
                #expect(!FileManager.default.fileExists(atPath: output))
            }
            let signed = try await Typist.type(["Sign this? [yes/no] ": "yes"], sign, in: folder)
            #expect(signed.exitCode == 0, "\(signed)")
            let question = try #require(signed.shown.range(of: "Sign this?"))
            let before = signed.shown[..<question.lowerBound]
            #expect(before.contains("payload SHA-256 ") && before.contains("api.example.com: enforce"), "\(signed)")
        }
    }
}

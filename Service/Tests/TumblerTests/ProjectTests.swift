// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@Suite("A project from nothing")
struct ProjectTests {
    private static let time = "2026-11-21T00:00:00Z"
    private static let pins =
        "sha256/\(String(repeating: "A", count: 43))=,sha256/\(String(repeating: "B", count: 42))A="

    /// Makes a project with keys in plain text.
    private func initialise(_ folder: URL, _ more: [String] = []) async throws -> CommandRun {
        try await CommandRun.tumbler(
            [
                "init", "project", "--name", "com.example.app", "--domain", "api.example.com=\(Self.pins)",
                "--insecure-plaintext", "--at", Self.time,
            ] + more, in: folder)
    }

    private func release(_ folder: URL, _ more: [String] = [], at time: String = "2026-11-22T00:00:00Z") async throws
        -> CommandRun
    {
        try await CommandRun.tumbler(["release", "-C", "project", "--at", time] + more, in: folder)
    }

    private func verify(_ folder: URL, at time: String = "2026-11-22T00:00:00Z") async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["verify", "project/pins.json", "--root", "project/root/1.json", "--at", time], in: folder)
    }

    @Test("init makes keys, a root, a source and a list that verifies; private keys are kept from others and from git")
    func initMakesKeysARootASourceAndAListThatVerifies() async throws {
        try await withTemporaryFolder { folder in
            let run = try await self.initialise(folder)
            #expect(run.exitCode == 0, "\(run)")
            let project = folder.appendingPathComponent("project")
            #expect(
                try project.text(of: ".gitignore") == "keys/\n*.token\ntoken\ntoken-pin\ntumbler-data/\nservice/data/\n"
            )
            #expect(run.errors.contains("failures are reported nowhere"), "\(run)")
            for key in ["keys/root.pem", "keys/pins.pem"] {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: project.appendingPathComponent(key).path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            #expect(try await self.verify(folder).exitCode == 0)
            let again = try await self.initialise(folder)
            again.expectError(2, hint: true)
            let lint = try await CommandRun.tumbler(["lint", "-C", "project", "--at", Self.time], in: folder)
            #expect(lint.exitCode == 0, "\(lint)")
        }
    }

    @Test("init begins with report and an address where that is asked; what a .gitignore says already stays")
    func initBeginsWithReportAndAnAddressWhereThatIsAsked() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("project"), withIntermediateDirectories: true)
            try folder.write("build/\nkeys/\n", as: "project/.gitignore")
            let address = "https://pins.example.com/v1/reports"
            let run = try await self.initialise(folder, ["--mode", "report", "--report-to", address])
            #expect(run.exitCode == 0 && !run.errors.contains("reported nowhere"), "\(run)")
            let source = try folder.text(of: "project/tumbler.yaml")
            #expect(source.contains("    mode: report\n") && source.contains("reportTo: [\"\(address)\"]"))
            let ignored = try folder.text(of: "project/.gitignore")
            #expect(ignored == "build/\nkeys/\n*.token\ntoken\ntoken-pin\ntumbler-data/\nservice/data/\n")
            try await CommandRun.tumbler(
                ["init", "other", "--name", "com.example.app", "--mode", "off", "--insecure-plaintext"], in: folder
            ).expectError(64)
        }
    }

    @Test("verify and diff take the project's own list, roots and source; a renewal says that only dates change")
    func verifyAndDiffTakeTheProjectsOwnListRootsAndSource() async throws {
        try await withTemporaryFolder { folder in
            for command in ["verify", "diff"] {
                try await CommandRun.tumbler([command], in: folder).expectError(64, hint: true)
            }
            #expect(try await self.initialise(folder).exitCode == 0)
            let verify = try await CommandRun.tumbler(["verify", "-C", "project", "--at", Self.time], in: folder)
            verify.expectResult()
            let named = try await self.verify(folder, at: Self.time)
            #expect(verify.output == named.output)

            let later = ["-C", "project", "--at", "2026-11-25"]
            let renewal = try await CommandRun.tumbler(["diff"] + later, in: folder)
            #expect(renewal.exitCode == 0, "\(renewal)")
            #expect(renewal.errors == "tumbler: note: only dates change\n")
            #expect(renewal.lines.count == 3 && renewal.lines.allSatisfy { $0.hasPrefix("~ list: ") }, "\(renewal)")

            let source = try folder.text(of: "project/tumbler.yaml")
            try folder.write(source.replacing("mode: enforce", with: "mode: report"), as: "project/tumbler.yaml")
            let edited = try await CommandRun.tumbler(["diff"] + later, in: folder)
            #expect(edited.exitCode == 1 && edited.errors.isEmpty, "\(edited)")
            #expect(edited.output.contains("mode enforce → report"), "\(edited)")
            try await CommandRun.tumbler(["diff", "project/pins.json"], in: folder).expectError(64)
            // What clients have is not known: that is no "the same".
            let away = try await CommandRun.tumbler(
                ["diff", "--server", "https://127.0.0.1:1"] + later, in: folder)
            away.expectError(2, hint: true)
        }
    }

    @Test("a passphrase for both keys comes from the environment, and the keys are encrypted")
    func passphraseForBothKeysComesFromTheEnvironmentAndTheKeysAreEncrypted() async throws {
        try await withTemporaryFolder { folder in
            let line = """
                PASS=correct-horse "$0" init project --name com.example.app --passphrase-env PASS --at \(Self.time)
                PASS=correct-horse "$0" release -C project --yes --passphrase-env PASS --at 2026-11-22T00:00:00Z
                """
            let run = try await CommandRun.shell(line, in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(try folder.text(of: "project/keys/pins.pem").contains("ENCRYPTED"))
            let wrong = try await CommandRun.shell(
                #"PASS=wrong-horse "$0" release -C project --yes --passphrase-env PASS"#, in: folder)
            #expect(wrong.exitCode == 2, "\(wrong)")
        }
    }

    @Test("init --from takes what convert wrote, beside hosts that are named; anything else is refused")
    func initFromTakesWhatConvertWroteBesideHostsThatAreNamedAnythingElseIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let (a, b, c) = (ProjectText.pin("a"), ProjectText.pin("b"), ProjectText.pin("c"))
            try folder.write(
                "CertificatePinner.Builder().add(\"api.example.com\", \"\(a)\", \"\(b)\").build()", as: "Pins.kt")
            let converted = try await CommandRun.shell(
                #""$0" convert Pins.kt --from okhttp > domains.yaml"#, in: folder)
            #expect(converted.exitCode == 0, "\(converted)")
            let start = ["init", "project", "--name", "com.example.app", "--insecure-plaintext", "--from"]
            for text in ["", "domains: []\n", ProjectText.good, "denied: [\"\(c)\"]\n", "domains: [\n"] {
                try folder.write(text, as: "other.yaml")
                let refused = try await CommandRun.tumbler(start + ["other.yaml"], in: folder)
                #expect(refused.exitCode != 0 && refused.errors.contains("other.yaml"), "\(text)\(refused)")
            }
            #expect(try await CommandRun.tumbler(start + ["missing.yaml"], in: folder).exitCode == 2)
            let made = try await CommandRun.tumbler(
                start + ["domains.yaml", "--domain", "www.example.com=\(b),\(c)"], in: folder)
            #expect(made.exitCode == 0, "\(made)")
            let list = try PinList(
                payload: Envelope(
                    Array(try folder.contents(of: "project/pins.json")), of: .pins, limits: MetadataLimits()
                ).payload)
            #expect(list.domains.map(\.entry.domain.description) == ["api.example.com", "www.example.com"])
            #expect(list.domains.map { $0.entry.pins.map(\.pin.description) } == [[a, b], [b, c]])
        }
    }

    @Test("a host without pins is asked on a terminal alone, and a pin that is none is a mistake")
    func hostWithoutPinsIsAskedOnATerminalAloneAndAPinThatIsNoneIsAMistake() async throws {
        try await withTemporaryFolder { folder in
            for domain in ["api.example.com", "api.example.com=", "api.example.com=sha256/x"] {
                let run = try await CommandRun.tumbler(
                    ["init", "project", "--name", "a", "--insecure-plaintext", "--domain", domain], in: folder)
                run.expectError(64, hint: true)
            }
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("project").path))
        }
    }

    @Test("release puts a change out: the next version, shown against the published one, signed and verified")
    func releasePutsAChangeOutTheNextVersionShownAgainstThePublishedOne() async throws {
        try await withTemporaryFolder { folder in
            #expect(try await self.initialise(folder).exitCode == 0)
            let source = try folder.text(of: "project/tumbler.yaml")
            try folder.write(
                source.replacing("mode: enforce", with: "mode: report"), as: "project/tumbler.yaml")
            let asked = try await self.release(folder)
            asked.expectError(64, hint: true)
            let run = try await self.release(folder, ["--yes", "--export", "site"])
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("against version 1") && run.errors.contains("report"), "\(run)")
            #expect(run.output.contains("version 2"))
            #expect(try await self.verify(folder).output.contains("list 2 of com.example.app"))
            let exported = try folder.contents(of: "site/v1/lists/com.example.app/pins.json")
            #expect(try exported == folder.contents(of: "project/pins.json"))
        }
    }

    @Test("release stops before the first thing that fails, with nothing written")
    func releaseStopsBeforeTheFirstThingThatFailsWithNothingWritten() async throws {
        try await withTemporaryFolder { folder in
            #expect(try await self.initialise(folder).exitCode == 0)
            let before = try folder.contents(of: "project/pins.json")
            let source = try folder.text(of: "project/tumbler.yaml")
            let backup = try #require(source.split(separator: "\n").first { $0.contains("backup") })
            try folder.write(source.replacing("\(backup)\n", with: ""), as: "project/tumbler.yaml")
            let linted = try await self.release(folder, ["--yes"])
            linted.expectError(1, hint: true)
            #expect(linted.errors.contains("no-backup-pin"), "\(linted)")
            try folder.write(source, as: "project/tumbler.yaml")
            let rubbish = try await self.release(folder, ["--yes", "--key", "exec:echo rubbish"])
            rubbish.expectError(2, hint: true)
            let foreign = try await CommandRun.shell(
                #""$0" key new other.pem --insecure-plaintext >&2 && "$0" release -C project --yes --key other.pem"#,
                in: folder)
            #expect(foreign.exitCode == 2, "\(foreign)")
            #expect(try folder.contents(of: "project/pins.json") == before)
            #expect(try await self.release(folder, ["--yes"]).exitCode == 0)
        }
    }

    @Test("a list that refuses what the one before accepts recommends to ask the hosts; another one does not")
    func listThatRefusesWhatTheOneBeforeAcceptsRecommendsToAskTheHosts() async throws {
        try await withTemporaryFolder { folder in
            #expect(try await self.initialise(folder).exitCode == 0)
            let source = try folder.text(of: "project/tumbler.yaml")
            let current = try #require(source.split(separator: "\n").first { $0.contains("current") })
            let new = "      - {pin: \"\(ProjectText.pin("n"))\", note: \"next\"}"
            let announced = source.replacing(current, with: "\(current)\n\(new)")
            let denied = "denied: [{pin: \"\(ProjectText.pin("d"))\"}]"
            let edits = [
                (announced, false), (announced.replacing("refreshAfter: 12h", with: "refreshAfter: 6h"), false),
                (source.replacing(current, with: new), true),
                (source.replacing(current, with: new).replacing("denied: []", with: denied), true),
            ]
            for (number, (text, isRecommended)) in edits.enumerated() {
                try folder.write(text, as: "project/tumbler.yaml")
                let run = try await self.release(folder, ["--yes"], at: "2026-11-2\(number + 2)T00:00:00Z")
                #expect(run.exitCode == 0, "\(run)")
                #expect(run.errors.contains("with --live") == isRecommended, "\(run)")
            }
        }
    }

    @Test("the kill switch: suspend, release, resume, release; the source is what it was")
    func killSwitchSuspendReleaseResumeReleaseTheSourceIsWhatItWas() async throws {
        try await withTemporaryFolder { folder in
            #expect(try await self.initialise(folder).exitCode == 0)
            let source = try folder.contents(of: "project/tumbler.yaml")
            let suspended = try await CommandRun.tumbler(
                [
                    "suspend", "api.example.com", "--for", "6h", "--reason", "incident 4711", "-C", "project", "--at",
                    "2026-11-22T00:00:00Z",
                ], in: folder)
            #expect(suspended.exitCode == 0, "\(suspended)")
            #expect(try await self.release(folder, ["--yes"]).exitCode == 0)
            let list = try PinList(
                payload: Envelope(
                    Array(try folder.contents(of: "project/pins.json")), of: .pins, limits: MetadataLimits()
                ).payload)
            #expect(list.suspended.map(\.reason) == ["incident 4711"])
            let resumed = try await CommandRun.tumbler(["resume", "api.example.com", "-C", "project"], in: folder)
            #expect(resumed.exitCode == 0, "\(resumed)")
            #expect(try await self.release(folder, ["--yes"], at: "2026-11-22T01:00:00Z").exitCode == 0)
            #expect(try folder.contents(of: "project/tumbler.yaml") == source)
        }
    }
}

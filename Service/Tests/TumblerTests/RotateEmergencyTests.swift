// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("An emergency rotation on the command line")
struct RotateEmergencyTests {
    private static let time = "2026-11-23T00:00:00Z"
    private static let planPath = "rotations/api.example.com.yaml"
    private static let new = ProjectText.pin("f")

    private static let questions = [
        "Write the plan? [yes/no] ", "Edit the source? [yes/no] ", "Release this? [yes/no] ",
        "Is the new key to be deployed now? [yes/no] ",
    ]

    private static let emergency = [
        "rotate", "emergency", "api.example.com", "-C", "project", "--no-look", "--at", Self.time, "--old",
        ProjectText.pin("a"),
    ]
    private static let ofNewPin = Self.emergency + ["--pin", Self.new]
    private static let short = Self.ofNewPin + ["--suspend-for", "12h"]

    /// A project whose list is out since three weeks.
    private func withProject(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let made = try await CommandRun.tumbler(
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--at",
                    "2026-11-01T00:00:00Z", "--domain",
                    "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))",
                ], in: folder)
            #expect(made.exitCode == 0, "\(made)")
            try await body(folder)
        }
    }

    /// The files of the project by path, but for those of this machine.
    private static func files(in folder: URL) throws -> [String: Data] {
        let project = folder.appendingPathComponent("project")
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: project.path) {
            var isFolder: ObjCBool = false
            let file = project.appendingPathComponent(path)
            guard !path.hasPrefix(".tumbler"),
                FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            files[path] = try Data(contentsOf: file)
        }
        return files
    }

    /// The source with the new pin and a suspension for twelve hours.
    private static func edited(_ source: Data?) throws -> String {
        let text = String(decoding: try #require(source), as: UTF8.self)
        let suspension =
            "{domain: api.example.com, until: 2026-11-23T12:00:00Z, reason: \"emergency rotation of api.example.com\"}"
        return text.replacing("    pins:\n", with: "    pins:\n      - {pin: \"\(Self.new)\"}\n")
            .replacing("suspended: []", with: "suspended: [\(suspension)]")
    }

    @Test(
        "with four times yes the plan is ready; each step says what it does and how to go back",
        .enabled("there is no python3 to type", Typist.hasPython))
    func withFourTimesYesThePlanIsReadyEachStepSaysWhatItDoesAndHowToGoBack() async throws {
        try await self.withProject { folder in
            let before = try Self.files(in: folder)
            let run = try await Typist.type(Self.questions.map { ($0, "yes") }, Self.short, in: folder)
            #expect(run.exitCode == 0, "\(run)")
            let base = "simulated with 10000 installations that hold 1 list, refreshAfter 12h"
            #expect(run.shown.contains(base), "\(run)")
            for step in 1...4 { #expect(run.shown.contains("step \(step) of 4: "), "\(run)") }
            #expect(run.shown.components(separatedBy: "the way back: ").count == 5, "\(run)")
            #expect(run.shown.contains("api.example.com: ready, with version 2 of the list"), "\(run)")
            let after = try Self.files(in: folder)
            #expect(try folder.text(of: "project/tumbler.yaml") == Self.edited(before["tumbler.yaml"]))
            #expect(after["pins.json"] != before["pins.json"])
            let plan = try folder.text(of: "project/\(Self.planPath)")
            #expect(plan.contains("{state: announced, at: \(Self.time), version: 2}"), "\(plan)")
            #expect(plan.contains("{state: ready, at: \(Self.time), forced: \"emergency: "), "\(plan)")
        }
    }

    @Test(
        "a no stops before its step: what was done is said and stays, and nothing else changes",
        .enabled("there is no python3 to type", Typist.hasPython), arguments: 1...4)
    func noStopsBeforeItsStepWhatWasDoneIsSaidAndStaysAndNothingElseChanges(step: Int) async throws {
        try await self.withProject { folder in
            let before = try Self.files(in: folder)
            let answers = Self.questions.prefix(step).enumerated().map { ($1, $0 == step - 1 ? "no" : "yes") }
            let run = try await Typist.type(answers, Self.short, in: folder)
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.shown.contains("stopped before step \(step) of 4: "), "\(run)")
            #expect(!run.shown.contains("step \(step + 1) of 4"), "\(run)")
            var after = try Self.files(in: folder)
            let plan = after.removeValue(forKey: Self.planPath).map { String(decoding: $0, as: UTF8.self) }
            #expect((plan == nil) == (step == 1))
            #expect(plan?.contains("state: announced") == (step == 1 ? nil : step == 4))
            #expect(plan?.contains("state: ready") != true)
            var expected = before
            if step >= 3 { expected["tumbler.yaml"] = Data(try Self.edited(before["tumbler.yaml"]).utf8) }
            guard step < 4 else {
                #expect(after["tumbler.yaml"] == expected["tumbler.yaml"])
                #expect(after["pins.json"] != before["pins.json"])
                return
            }
            #expect(after == expected)
        }
    }

    @Test(
        "who stopped before the release goes on with next, or back by the edited lines and abort",
        .enabled("there is no python3 to type", Typist.hasPython), arguments: [true, false])
    func whoStoppedBeforeTheReleaseGoesOnWithNextOrBackByTheEditedLinesAndAbort(goesOn: Bool) async throws {
        try await self.withProject { folder in
            let before = try Self.files(in: folder)
            let answers = zip(Self.questions, ["yes", "yes", "no"]).map { ($0, $1) }
            #expect(try await Typist.type(answers, Self.short, in: folder).exitCode == 1)
            // Another emergency for the same host would lose the plan.
            try await CommandRun.tumbler(Self.short + ["--yes"], in: folder).expectError(1, hint: true)
            let rest = ["api.example.com", "-C", "project", "--no-look", "--at", Self.time]
            if goesOn {
                let next = try await CommandRun.tumbler(
                    ["rotate", "next"] + rest + ["--yes", "--export", "www"], in: folder)
                let line = "api.example.com: planned, now announced, with version 2 of the list"
                #expect(next.lines == [line], "\(next)")
                #expect(try folder.text(of: "project/tumbler.yaml") == Self.edited(before["tumbler.yaml"]))
            } else {
                try folder.write(try #require(before["tumbler.yaml"]), as: "project/tumbler.yaml")
                let abort = try await CommandRun.tumbler(["rotate", "abort"] + rest, in: folder)
                #expect(abort.lines == ["api.example.com: aborted"], "\(abort)")
                var after = try Self.files(in: folder)
                #expect(after.removeValue(forKey: Self.planPath) != nil)
                #expect(after == before)
            }
        }
    }

    @Test("--yes does all four steps without a person, who is needed otherwise")
    func yesDoesAllFourStepsWithoutAPersonWhoIsNeededOtherwise() async throws {
        try await self.withProject { folder in
            let before = try Self.files(in: folder)
            try await CommandRun.tumbler(Self.short, in: folder).expectError(64, hint: true)
            #expect(try Self.files(in: folder) == before)
            let run = try await CommandRun.tumbler(Self.short + ["--yes"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.lines.first == "api.example.com: ready, with version 2 of the list", "\(run)")
            for step in 1...4 { #expect(run.errors.contains("step \(step) of 4: "), "\(run)") }
            #expect(try folder.text(of: "project/tumbler.yaml") == Self.edited(before["tumbler.yaml"]))
        }
    }

    @Test("an emergency on a static host says to export first, unless it does that itself")
    func emergencyOnAStaticHostSaysToExportFirstUnlessItDoesThatItself() async throws {
        try await self.withProject { folder in
            let export = ["export", "www", "-C", "project", "--at", "2026-11-01T00:00:00Z"]
            try await CommandRun.tumbler(export, in: folder).expectResult()
            let run = try await CommandRun.tumbler(Self.short + ["--yes"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(
                run.lines.dropFirst().first?.hasPrefix("1. tumbler export DIR, and upload it: nothing is out yet")
                    == true)
            #expect(run.errors.contains("nothing is out before you do this: tumbler export DIR"), "\(run)")
            #expect(try !folder.text(of: "project/lists/published.jsonl").contains(#""version":2"#))
        }
        try await self.withProject { folder in
            let run = try await CommandRun.tumbler(Self.short + ["--yes", "--export", "www"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(!run.output.contains("tumbler export") && !run.errors.contains("tumbler export"), "\(run)")
            let exported = try folder.contents(of: "www/v1/lists/com.example.app/pins.json")
            #expect(try exported == folder.contents(of: "project/pins.json"))
            #expect(try folder.text(of: "project/lists/published.jsonl").contains(#""version":2"#))
        }
    }

    /// The domains that the released list suspends.
    private static func suspended(in folder: URL) throws -> Set<String> {
        struct Envelope: Decodable { let payload: Data }
        struct List: Decodable {
            struct Suspended: Decodable { let domain: String }
            let suspended: [Suspended]?
        }
        let envelope = try JSONDecoder().decode(Envelope.self, from: try folder.contents(of: "project/pins.json"))
        return Set(try JSONDecoder().decode(List.self, from: envelope.payload).suspended?.map(\.domain) ?? [])
    }

    @Test("the way back from a key that was a backup before ends the suspension for clients, too")
    func wayBackFromAKeyThatWasABackupBeforeEndsTheSuspensionForClientsToo() async throws {
        try await self.withProject { folder in
            let host = "api.example.com"
            let source = try folder.text(of: "project/tumbler.yaml")
            let spare = "    pins:\n      - {pin: \"\(ProjectText.pin("c"))\"}\n"
            try folder.write(source.replacing("    pins:\n", with: spare), as: "project/tumbler.yaml")
            let backup = Self.emergency + ["--pin", ProjectText.pin("b"), "--suspend-for", "12h", "--yes"]
            let run = try await CommandRun.tumbler(backup, in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(try Self.suspended(in: folder) == [host])
            let back = "tumbler resume \(host), then tumbler release, then tumbler rotate abort \(host): "
            #expect(run.errors.contains("the way back: \(back)"), "\(run)")
            #expect(run.errors.contains("put the old key back on the servers, then \(back)"), "\(run)")
            // As it is said there: the abort of such a plan releases nothing.
            let at = ["-C", "project", "--at", "2026-11-23T01:00:00Z"]
            try await CommandRun.tumbler(["resume", host, "-C", "project"], in: folder).expectSuccess()
            try await CommandRun.tumbler(["release", "--yes"] + at, in: folder).expectSuccess()
            #expect(try Self.suspended(in: folder) == [])
            let abort = try await CommandRun.tumbler(["rotate", "abort", host, "--no-look"] + at, in: folder)
            #expect(abort.lines == ["\(host): aborted"], "\(abort)")
            #expect(try folder.text(of: "project/tumbler.yaml").contains(ProjectText.pin("b")))
        }
    }

    @Test("the hosts of a pin set are suspended together, and what is said of the end names each of them")
    func hostsOfAPinSetAreSuspendedTogetherAndTheEndNamesEachOfThem() async throws {
        try await self.withProject { folder in
            let head = try folder.text(of: "project/tumbler.yaml").components(separatedBy: "domains:")[0]
            let set = """
                pinSets: {edge: [{pin: "\(ProjectText.pin("a"))"}, {pin: "\(ProjectText.pin("b"))"}]}
                domains:
                  - {domain: api.example.com, mode: enforce, use: [edge]}
                  - {domain: www.example.com, mode: enforce, use: [edge]}
                denied: []
                suspended: []

                """
            try folder.write(head + set, as: "project/tumbler.yaml")
            let run = try await CommandRun.tumbler(Self.short + ["--yes"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(try Self.suspended(in: folder) == ["api.example.com", "www.example.com"])
            let both = ["api.example.com", "www.example.com"].map { "tumbler resume \($0)" }
            #expect(run.errors.contains("\(both[0]), then \(both[1]), then tumbler rotate abort "), "\(run)")
            #expect(run.output.contains("\(both[0]), \(both[1]) and tumbler release"), "\(run)")
        }
    }

    @Test("a key that cannot be read, and a host without an entry, change nothing")
    func keyThatCannotBeReadAndAHostWithoutAnEntryChangeNothing() async throws {
        try await self.withProject { folder in
            let before = try Self.files(in: folder)
            for key in ["missing.pem", "project", "project/tumbler.yaml"] {
                try await CommandRun.tumbler(Self.emergency + ["--yes", "--key", key], in: folder).expectError(2)
            }
            let other = Self.ofNewPin.map { $0 == "api.example.com" ? "www.example.com" : $0 }
            try await CommandRun.tumbler(other + ["--yes"], in: folder).expectError(1, hint: true)
            let long = Self.ofNewPin + ["--yes", "--suspend-for", "8d"]
            try await CommandRun.tumbler(long, in: folder).expectError(1, hint: true)
            #expect(try Self.files(in: folder) == before)
        }
    }

    @Test("without the key that signs the plan and the edit are kept, that is said, and next goes on")
    func withoutTheKeyThatSignsThePlanAndTheEditAreKeptThatIsSaidAndNextGoesOn() async throws {
        try await self.withProject { folder in
            let before = try Self.files(in: folder)
            let key = folder.appendingPathComponent("project/keys/pins.pem")
            try FileManager.default.removeItem(at: key)
            let run = try await CommandRun.tumbler(Self.short + ["--yes"], in: folder)
            #expect(run.exitCode != 0 && run.output.isEmpty, "\(run)")
            #expect(run.errors.contains("tumbler.yaml is edited, and nothing was released"), "\(run)")
            var after = try Self.files(in: folder)
            #expect(after["pins.json"] == before["pins.json"])
            #expect(after.removeValue(forKey: Self.planPath) != nil)
            #expect(try folder.text(of: "project/tumbler.yaml") == Self.edited(before["tumbler.yaml"]))
            try folder.write(try #require(before["keys/pins.pem"]), as: "project/keys/pins.pem")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
            let next = try await CommandRun.tumbler(
                [
                    "rotate", "next", "api.example.com", "-C", "project", "--no-look", "--yes", "--export", "www",
                    "--at",
                    Self.time,
                ], in: folder)
            #expect(next.lines == ["api.example.com: planned, now announced, with version 2 of the list"], "\(next)")
        }
    }

    @Test("a suspension that lasts longer stays, one that a person named another length for is replaced")
    func suspensionThatLastsLongerStaysOneThatAPersonNamedAnotherLengthForIsReplaced() async throws {
        for (scope, length, more, stays) in [
            ("api.example.com", "6d", [], true), ("*", "6d", [], true), ("api.example.com", "1h", [], false),
            ("api.example.com", "6d", ["--suspend-for", "12h"], false),
        ] as [(String, String, [String], Bool)] {
            try await self.withProject { folder in
                let suspended = try await CommandRun.tumbler(
                    ["suspend", scope, "--for", length, "--reason", "4711", "-C", "project", "--at", Self.time],
                    in: folder)
                #expect(suspended.exitCode == 0, "\(suspended)")
                let before = try folder.text(of: "project/tumbler.yaml")
                let run = try await CommandRun.tumbler(Self.ofNewPin + more + ["--yes"], in: folder)
                #expect(run.exitCode == 0, "\(run)")
                let after = try folder.text(of: "project/tumbler.yaml")
                if stays {
                    let note = "is suspended until 2026-11-29T00:00:00Z already, and stays so"
                    #expect(run.errors.contains(note), "\(run)")
                    let pin = "    pins:\n      - {pin: \"\(Self.new)\"}\n"
                    #expect(after == before.replacing("    pins:\n", with: pin))
                } else {
                    #expect(run.errors.contains(" is replaced"), "\(run)")
                    #expect(!after.contains("4711"), "\(after)")
                    #expect(after.contains("emergency rotation of api.example.com"), "\(after)")
                }
            }
        }
    }

    @Test("nothing is suspended when that is not wanted; an installation base out of range is not simulated")
    func nothingIsSuspendedWhenThatIsNotWanted() async throws {
        try await self.withProject { folder in
            let source = try folder.text(of: "project/tumbler.yaml")
            let opened = "opened: {model: gamma-poisson, shape: 0.005, scale: 2.6d}\n"
            let text = source.replacing("reportTo: []", with: "\(opened)reportTo: []")
            try folder.write(text, as: "project/tumbler.yaml")
            let run = try await CommandRun.tumbler(Self.ofNewPin + ["--no-suspension", "--yes"], in: folder)
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.errors.contains("not simulated (shape is not in "), "\(run)")
            #expect(run.errors.contains("calculated from opened: in tumbler.yaml"), "\(run)")
            let after = try folder.text(of: "project/tumbler.yaml")
            #expect(after.contains(Self.new) && after.contains("suspended: []"), "\(after)")
        }
    }
}

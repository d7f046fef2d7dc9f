// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Suspending and resuming on the command line")
struct SuspendCommandTests {
    private static let time = ["--at", "2026-11-21T00:00:00Z"]

    @Test("suspend, build, resume: the list is suspended, and the file is what it was but for one line")
    func suspendBuildResumeTheListIsSuspendedAndTheFileIsWhatItWasButForOneLine() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let arguments = ["suspend", "api.example.com", "--for", "12h", "--reason", "incident 4711"] + Self.time
            let run = try await CommandRun.tumbler(arguments, in: folder)
            run.expectResult()
            #expect(run.lines == ["api.example.com suspended until 2026-11-21T12:00:00Z; tumbler release puts it out"])
            let line = "  - {domain: api.example.com, until: 2026-11-21T12:00:00Z, reason: \"incident 4711\"}\n"
            #expect(try folder.text(of: "tumbler.yaml") == ProjectText.good + "suspended:\n" + line)

            let built = try await CommandRun.tumbler(["build", "-o", "-"] + Self.time, in: folder)
            #expect(built.output.contains("\"suspended\":[{\"domain\":\"api.example.com\""))

            let resumed = try await CommandRun.tumbler(["resume", "API.example.com"], in: folder)
            resumed.expectResult()
            #expect(try folder.text(of: "tumbler.yaml") == ProjectText.good + "suspended:\n")
        }
    }

    @Test("a host that is resumed while all entries stay suspended is said to be, and the other way round")
    func hostThatIsResumedWhileAllEntriesStaySuspendedIsSaidToBe() async throws {
        try await withTemporaryFolder { folder in
            let host = "api.example.com"
            for (resumed, other, words) in [
                (host, "*", "every entry is suspended"), ("*", host, "\(host) is suspended"),
            ] {
                try folder.write(ProjectText.good, as: "tumbler.yaml")
                for scope in [host, "*"] {
                    try await CommandRun.tumbler(
                        ["suspend", scope, "--for", "24h", "--reason", "incident 4711"], in: folder
                    ).expectSuccess()
                }
                let run = try await CommandRun.tumbler(["resume", resumed], in: folder)
                #expect(run.exitCode == 0 && run.errorLines.count == 1, "\(run)")
                #expect(run.errors.contains(words) && run.errors.contains(" all the same: tumbler resume "), "\(run)")
                try await CommandRun.tumbler(["resume", other], in: folder).expectResult()
            }
        }
    }

    @Test("all entries, as JSON; over a day is said")
    func allEntriesAsJSONOverADayIsSaid() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let arguments = ["suspend", "*", "--for", "25h", "--reason", "drill", "--json"] + Self.time
            let run = try await CommandRun.tumbler(arguments, in: folder)
            #expect(run.exitCode == 0)
            #expect(try run.decoded(as: [String: String].self)["until"] == "2026-11-22T01:00:00Z")
            #expect(run.errorLines.count == 1 && run.errors.contains("over 24 hours"), "\(run)")
            try await CommandRun.tumbler(["resume", "*"], in: folder).expectResult()
            try await CommandRun.tumbler(["resume", "*"], in: folder).expectError(1)
        }
    }

    @Test("a refusal writes nothing, and a source keeps its rights")
    func refusalWritesNothingAndASourceKeepsItsRights() async throws {
        try await withTemporaryFolder { folder in
            let file = try folder.write(ProjectText.good, as: "tumbler.yaml")
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            let reason = ["--reason", "x"] + Self.time
            for (domain, length, code) in [
                ("api.example.com", "8d", Int32(1)), ("www.example.com", "1h", 1), ("api.example.com", "1", 64),
                ("api.example.com", "-1h", 64), ("a b", "1h", 1),
            ] {
                let run = try await CommandRun.tumbler(["suspend", domain, "--for=\(length)"] + reason, in: folder)
                run.expectError(code, hint: true)
            }
            try await CommandRun.tumbler(["suspend", "*", "--for", "1h"], in: folder).expectError(64)
            #expect(try folder.text(of: "tumbler.yaml") == ProjectText.good)
            try await CommandRun.tumbler(["suspend", "*", "--for", "1h"] + reason, in: folder).expectResult()
            let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(rights == 0o640)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == ["tumbler.yaml"])
        }
    }
}

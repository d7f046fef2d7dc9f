// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The differences between two lists, on the command line")
struct DiffCommandTests {
    private struct Difference: Decodable {
        struct Change: Decodable {
            let kind: String
            let subject: String
            let what: String
            let weakens: Bool
        }
        let changes: [Change]
    }

    @Test("the same, another one, and what is no list")
    func sameAnotherOneAndWhatIsNoList() async throws {
        try await withTemporaryFolder { folder in
            let build = ["build", "--at", "2026-11-21T00:00:00Z", "-o"]
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            try await CommandRun.tumbler(build + ["old.json"], in: folder).expectResult()
            try folder.write(
                ProjectText.good.replacing("    pins:", with: "    mode: report\n    pins:"), as: "tumbler.yaml")
            try await CommandRun.tumbler(build + ["new.json"], in: folder).expectResult()

            let same = try await CommandRun.tumbler(["diff", "old.json", "old.json"], in: folder)
            same.expectResult()
            #expect(same.lines.isEmpty)
            let run = try await CommandRun.tumbler(["diff", "old.json", "new.json"], in: folder)
            #expect(run.exitCode == 1 && run.errors.isEmpty)
            #expect(run.lines == ["~ api.example.com: mode enforce → report (accepts more)"])
            let json = try await CommandRun.tumbler(["diff", "--json", "old.json", "new.json"], in: folder)
            let changes = try json.decoded(as: Difference.self).changes
            #expect(changes.map(\.what) == ["mode"] && changes.map(\.weakens) == [true])
            try await CommandRun.tumbler(["diff", "old.json", "tumbler.yaml"], in: folder).expectError(2)
            try await CommandRun.tumbler(["diff", "old.json", "no.json"], in: folder).expectError(2)
        }
    }

    @Test("a runbook that goes on where lists differ stops where nothing is known: a source, a list, a root that fails")
    func runbookThatGoesOnWhereListsDifferStopsWhereNothingIsKnown() async throws {
        try await withTemporaryFolder { folder in
            let made = try await CommandRun.tumbler(
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--at",
                    "2026-11-21T00:00:00Z", "--domain",
                    "api.example.com=\(ProjectText.pin("a")),\(ProjectText.pin("b"))",
                ], in: folder)
            #expect(made.exitCode == 0, "\(made)")
            let good = try folder.text(of: "project/tumbler.yaml")
            func diff() async throws -> CommandRun {
                try await CommandRun.tumbler(["diff", "-C", "project"], in: folder)
            }
            try await diff().expectEnd(0)
            for (name, text) in [
                // What `sed` leaves when the command that gives the pin failed.
                ("tumbler.yaml", good.replacing(ProjectText.pin("a"), with: "")), ("tumbler.yaml", "domains: ["),
                ("pins.json", "{}"), ("root/1.json", "{}"),
            ] {
                let before = try folder.text(of: "project/\(name)")
                try folder.write(text, as: "project/\(name)")
                try await diff().expectError(2)
                try folder.write(before, as: "project/\(name)")
            }
            try await diff().expectEnd(0)
        }
    }
}

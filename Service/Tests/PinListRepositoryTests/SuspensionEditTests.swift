// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("Suspending and resuming by whole lines")
struct SuspensionEditTests {
    /// Sources in which `suspended` is written in all the ways that people write it.
    static let layouts: [String: String] = {
        let head = "# ours\nname: com.example.app\ndomains:\n  - {domain: api.example.com, mode: off}   # one\n"
        let other = "{domain: \"*\", until: 2026-11-22T12:00:00Z, reason: 'it''s, [so] {x} # no'}"
        let entry = "name: com.example.app\ndomains: [{domain: api.example.com, mode: off}]\n"
        return [
            "missing": head, "missing, no end": String(head.dropLast()), "empty": "\(head)suspended:   # none\n",
            "empty, then more": "suspended:\n\(head)", "flow": "\(head)suspended: []  # none\n",
            "flow, no end": "\(head)suspended: []",
            "flow with one": "\(head)suspended: [\(other)]  # one\ndenied: []\n",
            "flow over lines": "\(head)suspended: [\n  # why\n  \(other),\n]\ndenied: []\n",
            "flow over lines, empty": "\(head)suspended: [\n]\n",
            "block": "\(head)suspended:\n  # night shift\n  - \(other)\n\n# end\ndenied: []\n",
            "block, no end": "\(head)suspended:\n  - \(other)",
            "block without indentation": "\(head)suspended:\n- \(other)\ndenied: []\n",
            "block, deep":
                "\(head)suspended:\n        - domain: '*'\n          until: 2026-11-22T12:00:00Z\n          reason: >-\n            many\n            words\ndenied: []\n",
            "in front": "suspended: []\n\(entry)", "BOM": "\u{FEFF}suspended: []\n\(entry)",
        ]
    }()

    private static func edit(_ bytes: [UInt8]) throws(RepositoryError) -> SuspensionEdit {
        try SuspensionEdit(bytes, file: "tumbler.yaml", files: FilesInMemory())
    }

    private static func suspension(_ scope: Suspension.Scope, reason: String = "incident \"4711\": {x} # y")
        -> Suspension
    {
        Suspension(scope, until: SourceText.now.later(3_600), reason: reason)
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number of lines of the one text that are not in the other, in order.
    private static func removedLines(_ old: [UInt8], _ new: [UInt8]) -> Int {
        Self.lines(new).difference(from: Self.lines(old)).removals.count
    }

    @Test(
        "in every layout, with LF and CRLF: it says what was meant, and every other line stays",
        arguments: layouts.keys.sorted())
    func inEveryLayoutWithLFAndCRLFItSaysWhatWasMeantAndEveryOtherLineStays(name: String) throws {
        let text = try #require(Self.layouts[name])
        for text in [text, text.replacing("\n", with: "\r\n")] {
            let bytes = Array(text.utf8)
            let edit = try Self.edit(bytes)
            let scope = try edit.scope("API.example.com")
            let suspension = Self.suspension(scope)
            let suspended = try edit.suspending(suspension, at: SourceText.now)

            let read = try Self.edit(suspended).source
            #expect(read.suspended.contains { $0.value == suspension })
            #expect(read.suspended.count == edit.source.suspended.count + 1)
            // A list in [] has to give up the line that it begins in.
            #expect(Self.removedLines(bytes, suspended) <= (name.contains("no end") ? 2 : 1))
            if !name.contains("flow"), !name.contains("no end"), name != "in front", name != "BOM" {
                #expect(Self.removedLines(bytes, suspended) == 0)
            }

            let resumed = try Self.edit(suspended).resuming(scope)
            #expect(try Self.edit(resumed).source == edit.source)
            if !name.hasPrefix("missing") { #expect(resumed == bytes, "\(String(decoding: resumed, as: UTF8.self))") }
            #expect(suspended.last == 0x0A || name.contains("no end"))
        }
    }

    @Test("an edit that was there before is replaced; suspending twice and resuming once gives the file back")
    func editThatWasThereBeforeIsReplaced() throws {
        let bytes = Array((try #require(Self.layouts["block"])).utf8)
        let edit = try Self.edit(bytes)
        let scope = try edit.scope("api.example.com")
        let first = try edit.suspending(Self.suspension(scope, reason: "a"), at: SourceText.now)
        let second = try Self.edit(first).suspending(Self.suspension(scope, reason: "b"), at: SourceText.now)
        #expect(try Self.edit(second).source.suspended.map(\.value.reason).contains("b"))
        #expect(try Self.edit(second).source.suspended.count == 2)
        #expect(try Self.edit(second).resuming(scope) == bytes)
    }

    @Test("resuming an entry written by hand takes its lines and leaves the comments of others")
    func resumingAnEntryWrittenByHandTakesItsLinesAndLeavesTheCommentsOfOthers() throws {
        let text = """
            name: a
            domains: [{domain: x.example, mode: off}, {domain: y.example, mode: off}]
            suspended:
              # first
              - domain: x.example
                until: 2026-11-22T12:00:00Z
                # of x
                reason: |
                  many

                  lines

              # second
              - domain: y.example
                until: 2026-11-22T12:00:00Z
                reason: y
            """
        let edit = try Self.edit(Array(text.utf8))
        let resumed = String(decoding: try edit.resuming(.entry(try HostName("x.example"))), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(resumed == (lines[..<4] + lines[11...]).joined(separator: "\n"))
        let both = try Self.edit(Array(resumed.utf8)).resuming(.entry(try HostName("y.example")))
        #expect(try Self.edit(both).source.suspended.isEmpty)
    }

    @Test("a source that cannot be edited by whole lines is said, and nothing comes out")
    func sourceThatCannotBeEditedByWholeLinesIsSaidAndNothingComesOut() throws {
        for text in [
            "{name: a, domains: [{domain: x.example, mode: off}]}",
            "name: a\ndomains: [{domain: x.example, mode: off}]\nsuspended: ~",
            "name: a\ndomains: [{domain: x.example, mode: off}]\n...\n",
        ] {
            let edit = try Self.edit(Array(text.utf8))
            do {
                _ = try edit.suspending(Self.suspension(.everything), at: SourceText.now)
                Issue.record("edited: \(text)")
            } catch { #expect(error.hint?.contains("by hand") == true, "\(error)") }
        }
    }

    @Test("a suspension in an included file is not ours to edit")
    func suspensionInAnIncludedFileIsNotOursToEdit() throws {
        let files = FilesInMemory(["b.yaml": "suspended: [{domain: '*', until: 2026-11-22T12:00:00Z, reason: x}]"])
        let edit = try SuspensionEdit(Array("name: a\ninclude: b.yaml".utf8), file: "tumbler.yaml", files: files)
        do {
            _ = try edit.resuming(.everything)
            Issue.record("edited")
        } catch { #expect(error.reason.hasPrefix("b.yaml:1:13: "), "\(error)") }
    }

    @Test("over seven days, no entry of that name, nothing to resume, a reason of two lines")
    func overSevenDaysNoEntryOfThatNameNothingToResumeAReasonOfTwoLines() throws {
        let edit = try Self.edit(Array((try #require(Self.layouts["missing"])).utf8))
        let until = { (seconds: Int64) in
            Suspension(.everything, until: SourceText.now.later(seconds), reason: "x")
        }
        _ = try edit.suspending(until(7 * 86_400), at: SourceText.now)
        #expect(throws: RepositoryError.self) { try edit.suspending(until(7 * 86_400 + 1), at: SourceText.now) }
        #expect(throws: RepositoryError.self) { try edit.resuming(.everything) }
        for reason in ["", "a\nb", "a\u{1b}[31m", String(repeating: "x", count: 513)] {
            #expect(throws: RepositoryError.self) {
                try edit.suspending(Self.suspension(.everything, reason: reason), at: SourceText.now)
            }
        }
        do {
            _ = try edit.scope("apl.example.com")
            Issue.record("found")
        } catch { #expect(error.hint == "there is api.example.com") }
    }

    @Test("PyYAML reads the edited files as we do", .enabled("there is no python3 with a YAML parser", pythonReadsYAML))
    func pyYAMLReadsTheEditedFilesAsWeDo() async throws {
        struct Line: Decodable, Equatable {
            let domain: String
            let until: String
            let reason: String
        }
        struct Source: Decodable { let suspended: [Line] }
        try await withTemporaryFolder { folder in
            var expected: [String: [Line]] = [:]
            for (index, name) in Self.layouts.keys.sorted().enumerated() {
                let edit = try Self.edit(Array((try #require(Self.layouts[name])).utf8))
                let edited = try edit.suspending(Self.suspension(try edit.scope("api.example.com")), at: SourceText.now)
                try folder.write(Data(edited), as: "\(index).yaml")
                expected["\(index).yaml"] = try Self.edit(edited).source.suspended.map { suspension in
                    let value = suspension.value
                    return Line(domain: value.scope.description, until: "\(value.until)", reason: value.reason)
                }
            }
            // BaseLoader takes every value for the text that it is.
            let script = """
                import glob, json, yaml
                print(json.dumps({f: yaml.load(open(f, encoding='utf-8-sig'), Loader=yaml.BaseLoader)
                                  for f in glob.glob('*.yaml')}))
                """
            let environment = URL(fileURLWithPath: "/usr/bin/env")
            let run = try await FinishedProcess.run(environment, ["python3", "-c", script], in: folder)
            let read = try JSONDecoder().decode([String: Source].self, from: run.output)
            #expect(read.mapValues(\.suspended) == expected)
            #expect(read.count == Self.layouts.count)
        }
    }

    @Sendable private static func pythonReadsYAML() async throws -> Bool {
        let environment = URL(fileURLWithPath: "/usr/bin/env")
        let python = try await FinishedProcess.run(
            environment, ["python3", "-c", "import yaml"], in: FileManager.default.temporaryDirectory)
        return python.status == 0
    }
}

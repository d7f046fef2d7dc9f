// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Options that every command has")
struct CommonOptionTests {
    private static let formats = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs/formats.md")

    /// The commands that formats.md, section 8, excepts from an option.
    private static func exceptions(of option: String) throws -> Set<String> {
        let page = try String(contentsOf: self.formats, encoding: .utf8)
        let start = "* **Without `\(option)`:** "
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0.hasPrefix(start) }, "no line \(start)")
        // An item goes on in lines that are indented.
        let item = [lines[first].dropFirst(start.count)] + lines[(first + 1)...].prefix { $0.hasPrefix("  ") }
        let spans = item.joined(separator: " ").split(separator: "`", omittingEmptySubsequences: false)
        return Set(spans.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) })
    }

    @Test(
        "--json and -C are on every command but those that the contract names, and on none of these",
        arguments: ["--json", "-C"])
    func jsonAndTheProjectFolderAreOnEveryCommandButThoseThatTheContractNames(option: String) async throws {
        try await withTemporaryFolder { folder in
            let commands = try await DescribedCommand.all(in: folder)
            #expect(commands.count > 50)
            let without = Set(commands.filter { !$0.value.has(option) }.keys)
            let excepted = try Self.exceptions(of: option)
            #expect(without.subtracting(excepted).isEmpty, "the contract does not except \(without)")
            #expect(excepted.subtracting(without).isEmpty, "the contract excepts \(excepted)")
        }
    }

    @Test("every value that is a file or a folder is completed as one, and every value out of a few as one of them")
    func everyValueThatIsAFileOrAFolderIsCompletedAsOne() async throws {
        // As the help writes them, and positional arguments by their names.
        let files: Set = [
            "file", "file|system", "file|url", "file|-", "file|base64", "file.md", "dir", "payload", "pub", "list|pin",
            "inputs", "input", "files", "envelopes", "source", "scenario", "directory",
        ]
        let choices: Set = [
            "--transparency", "--policy", "--revocation", "--algorithm", "--environment", "--up-to", "--case",
            "--allow",
            "--scope", "--log-level", "--mode", "--scenario", "--force",
        ]
        try await withTemporaryFolder { folder in
            var seen = Set<String>()
            for (command, described) in try await DescribedCommand.all(in: folder) {
                for argument in described.arguments ?? [] where argument.kind != .flag {
                    let names = (argument.names ?? []).map(\.typed)
                    let isChoice = names.contains(where: choices.contains)
                    seen.formUnion(names.filter(choices.contains))
                    guard isChoice || files.contains(argument.valueName ?? "") else { continue }
                    #expect(
                        argument.completionKind != nil, "tumbler \(command): \(names) \(argument.valueName ?? "")")
                    if isChoice { #expect(argument.completionKind?.list?.values.count ?? 0 > 1, "\(command) \(names)") }
                }
            }
            #expect(seen == choices)
        }
    }
}

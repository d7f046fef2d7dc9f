// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What the two programs say of their commands, from which help, completions and manual pages are made.
struct DescribedCommand: Decodable {
    struct Argument: Decodable {
        enum Kind: String, Decodable { case positional, option, flag }
        struct Name: Decodable {
            let kind: String
            let name: String
            var typed: String { (self.kind == "long" ? "--" : "-") + self.name }
        }
        /// How a value is completed.
        struct Completion: Decodable {
            struct Values: Decodable { let values: [String] }
            let list: Values?
        }

        let kind: Kind
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let completionKind: Completion?
    }

    let commandName: String
    let arguments: [Argument]?
    let subcommands: [DescribedCommand]?

    /// The commands of a program that do something, by the words that are typed behind its name.
    static func all(of program: String, in folder: URL) async throws -> [String: DescribedCommand] {
        struct Description: Decodable { let command: DescribedCommand }
        let file = try #require(CommandRun.program).deletingLastPathComponent().appendingPathComponent(program)
        let run = try await FinishedProcess.run(file, ["--experimental-dump-help"], in: folder)
        let root = try JSONDecoder().decode(Description.self, from: run.output).command
        var found: [String: DescribedCommand] = [:]
        root.collect(into: &found, behind: [])
        return found
    }

    /// The commands of both programs; those that are handed over as the other program describes them.
    static func all(in folder: URL) async throws -> [String: DescribedCommand] {
        let service = try await self.all(of: "tumbler-service", in: folder)
        let handedOver = Set(service.keys.compactMap { $0.split(separator: " ").first.map(String.init) })
        return try await self.all(of: "tumbler", in: folder).filter { !handedOver.contains($0.key) }
            .merging(service) { own, _ in own }
    }

    /// Whether it has an option, as it is typed.
    func has(_ option: String) -> Bool {
        (self.arguments ?? []).contains { ($0.names ?? []).contains { $0.typed == option } }
    }

    private func collect(into found: inout [String: DescribedCommand], behind words: [String]) {
        let below = (self.subcommands ?? []).filter { $0.commandName != "help" }
        if below.isEmpty { found[words.joined(separator: " ")] = self }
        for command in below { command.collect(into: &found, behind: words + [command.commandName]) }
    }
}

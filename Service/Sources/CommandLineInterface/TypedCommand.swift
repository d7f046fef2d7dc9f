// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import PinListRepository

/// The command that was typed, as far as it is one: for the hint of a usage error.
package struct TypedCommand {
    /// The command and its parents: `tumbler key show`.
    package let path: String

    /// The word that should be a command and is none, with those that stand there.
    private let unknown: (word: String, known: [String])?

    /// The command, and the words behind it, up to those of another program behind `--`.
    private let command: any ParsableCommand.Type
    private let words: [String]

    /// Follows the words that were typed.
    ///
    /// - Parameters:
    ///   - words: What was typed behind the program's name.
    ///   - root: The program's root command.
    package init(_ words: [String], of root: any ParsableCommand.Type) {
        var command = root
        var path = [Self.names(of: root)[0]]
        var unknown: (String, [String])?
        for word in words.first == "help" ? words.dropFirst() : words[...] {
            let known = command.configuration.subcommands
            guard !word.hasPrefix("-"), !known.isEmpty else { break }
            guard let next = known.first(where: { Self.names(of: $0).contains(word) }) else {
                unknown = (word, known.flatMap { Self.names(of: $0) })
                break
            }
            command = next
            path.append(Self.names(of: next)[0])
        }
        self.path = path.joined(separator: " ")
        self.unknown = unknown
        self.command = command
        self.words = Array(words.prefix { $0 != "--" })
    }

    /// The sentence on the first option that the command does not have, with the nearest one; `nil` where it has all
    /// of them, or none is near. The parser says that a needed option is missing before it says that one is misspelt.
    package var unknownOption: String? {
        let help = self.command.helpMessage()
        let parts = help.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        // Without their dashes: two letters that are the same in every option make none the nearest.
        let known = Set(parts.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) })
        for word in self.words where word.hasPrefix("--") {
            let option = String(word.dropFirst(2).prefix { $0 != "=" })
            guard !known.contains(option), let nearest = NearestName.of(option, among: known.sorted()) else { continue }
            return "Unknown option '--\(option)'. Did you mean '--\(nearest)'?"
        }
        return nil
    }

    /// The usage error of a command that is none, with the nearest one; `nil` where the command is one.
    package var failure: CommandError? {
        guard let unknown else { return nil }
        let nearest = NearestName.of(unknown.word, among: unknown.known)
        return CommandError(
            .usage, "there is no command \(self.path) \(unknown.word)",
            hint: (nearest.map { "did you mean \(self.path) \($0)? " } ?? "") + "\(self.path) --help lists them")
    }

    /// The name of a command, then its aliases.
    private static func names(of command: any ParsableCommand.Type) -> [String] {
        let configuration = command.configuration
        return [configuration.commandName ?? "\(command)".lowercased()] + configuration.aliases
    }
}

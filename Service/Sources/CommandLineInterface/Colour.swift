// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The few colours of the output: what refuses, what warns, what holds. Everything else stays as the terminal has it.
package enum Colour: Int, Sendable {
    /// Errors, and verdicts that refuse.
    case red = 31
    /// Verdicts that hold.
    case green = 32
    /// Warnings, and what is not known.
    case yellow = 33

    /// Whether standard output is coloured. The program decides that once, from what was typed.
    @TaskLocal package static var isInOutput = false

    /// Whether standard error is coloured.
    @TaskLocal package static var isInErrors = false

    /// A line of standard output with a word in this colour, where standard output is coloured.
    ///
    /// - Parameters:
    ///   - word: The word; it is coloured where it first stands behind a colon, else where it begins the
    ///     line.
    ///   - line: The line.
    package func word(_ word: String, of line: String) -> String {
        guard Self.isInOutput, StandardOutput.taker == nil else { return line }
        // A host has no colon with a blank behind it: what it is called is not taken for the verdict.
        if let place = line.range(of: ": \(word)") {
            return line.replacingCharacters(in: place, with: ": \(self.around(word))")
        }
        return line.hasPrefix("\(word): ") ? self.around(word) + line.dropFirst(word.count) : line
    }

    /// A text in this colour (ECMA-48, SGR).
    func around(_ text: String) -> String { "\u{1B}[\(self.rawValue)m\(text)\u{1B}[0m" }
}

/// `--color WHEN`. Every command takes it, anywhere before `--`: it is taken out before the command is parsed, because
/// errors of the parser are coloured, too.
package enum ColourChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
    case auto
    case always
    case never

    private static let option = "--color"

    /// Takes the option out of what was typed; the last one counts.
    ///
    /// - Parameter words: What was typed behind the program's name.
    /// - Returns: The choice, and the other words.
    /// - Throws: ``CommandError`` with the code ``CommandExit/usage`` for a value that is none.
    package static func taken(
        from words: [String]
    ) throws(CommandError) -> (choice: ColourChoice, words: [String]) {
        var choice = ColourChoice.auto
        var rest: [String] = []
        var index = 0
        while index < words.count, words[index] != "--" {
            let word = words[index]
            if word == self.option {
                index += 1
                choice = try self.value(index < words.count ? words[index] : "")
            } else if word.hasPrefix("\(self.option)=") {
                choice = try self.value(String(word.dropFirst(self.option.count + 1)))
            } else {
                rest.append(word)
            }
            index += 1
        }
        return (choice, rest + words.dropFirst(index))
    }

    private static func value(_ text: String) throws(CommandError) -> ColourChoice {
        guard let choice = ColourChoice(rawValue: text) else {
            throw CommandError(
                .usage, "\(self.option) is auto, always or never", hint: "NO_COLOR=1 in the environment is never, too")
        }
        return choice
    }

    /// Whether a stream is coloured.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether it is a terminal.
    ///   - environment: The environment of the process. `NO_COLOR` counts when it is not empty (no-color.org).
    package func colours(isTerminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// `--color` as help, completions and manual pages have it. Its value is taken before anything is parsed
/// (``ColourChoice/taken(from:)``).
package struct ColourOption: ParsableArguments {
    @Option(
        name: .customLong("color"),
        help: ArgumentHelp(
            "Colours: on a terminal unless NO_COLOR is set, always, or never. Every command takes it.",
            valueName: "when"))
    package var choice = ColourChoice.auto

    package init() {}
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A line that a person types in a drill.
enum DrillLine: Hashable, Sendable {
    /// A line that is meant for the drill itself.
    enum Typed: Hashable, Sendable {
        case nothing
        case noticed
        case cause(DrillCause)
        case causes
        case pages
        case help
        /// The line begins as one for the drill, and is invalid; why.
        case wrong(String)
    }

    /// The drill is to end.
    case quit
    /// A line of shell.
    case shell(String)
    /// Any other line.
    case other(Typed)

    /// The maximum length of a line that is read, in bytes: what is longer is for a script.
    static let maximumLength = 4_096

    /// Reads a line. Its first word decides; what is no word of the drill is shell.
    init(_ line: String) {
        guard line.utf8.count <= Self.maximumLength else {
            self = .other(.wrong("That line is over \(Self.maximumLength) bytes; put it into a script."))
            return
        }
        let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
        switch words.first {
        case nil: self = .other(.nothing)
        case "quit", "exit": self = Self.alone(words) ?? .quit
        case "noticed": self = Self.alone(words) ?? .other(.noticed)
        case "causes": self = Self.alone(words) ?? .other(.causes)
        case "pages": self = Self.alone(words) ?? .other(.pages)
        case "help": self = Self.alone(words) ?? .other(.help)
        case "cause": self = .other(Self.cause(words))
        default: self = .shell(line)
        }
    }

    private static func alone(_ words: [String]) -> DrillLine? {
        words.count == 1 ? nil : .other(.wrong("\(words[0]) stands alone; help says what can be typed."))
    }

    private static func cause(_ words: [String]) -> Typed {
        guard words.count == 2, let number = Int(words[1]), let cause = DrillCause(rawValue: number) else {
            return .wrong("cause takes a number from 1 to \(DrillCause.allCases.count); causes lists them.")
        }
        return .cause(cause)
    }

    /// The help on what can be typed.
    static let help = [
        "  noticed    you know that something is wrong",
        "  pages      has the installations ask again",
        "  causes     the possible causes, with numbers",
        "  cause N    names the cause",
        "  quit       ends the drill",
        "Anything else is run by the shell, in the project of the drill: tumbler suspend …, an editor.",
    ]
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Untrusted text from reports, certificates and lists, shown so that it cannot mislead the reader.
///
/// Every sender of reports can write such text. Characters that turn the direction of a line, are invisible or grow out
/// of their line are shown by their number; each text is isolated from the direction of its surroundings, and cut where
/// it would push others away.
enum VisibleText {
    /// The maximum number of scalars that stand in a line before the rest moves into a fold: it fits into a column of a
    /// table.
    static let lineLength = 96
    /// The maximum number of scalars that stand in a fold. What is beyond is counted and not sent.
    static let foldedLength = 1_024
    /// The maximum number of scalars of a text of many lines, such as a sample of a report.
    static let blockLength = 65_536
    /// The maximum number of scalars of a line that are named; a name is thirty times as long as what it names.
    static let maximumNamed = 48
    /// The same, of a text of many lines.
    static let maximumNamedInBlock = 1_024
    /// The maximum number of combining marks in a row: no orthography needs more.
    static let maximumMarks = 3

    /// One line: cut after ``lineLength``, with the rest in a fold. For places where a fold may stand.
    static func folded(_ text: String) -> Markup {
        guard text.unicodeScalars.dropFirst(Self.lineLength).first != nil else { return Self.line(text) }
        let full = Self.shown(text, limit: Self.foldedLength, keepsLines: false)
        return """
            <details class="long"><summary>\(Self.line(text))</summary><bdi class="full">\(full)</bdi></details>
            """
    }

    /// One line: cut after so many scalars.
    static func line(_ text: String, limit: Int = Self.lineLength) -> Markup {
        let warning: Markup = Confusables.mixesAlphabets(text) ? " <span class=\"cp\">mixed alphabets</span>" : ""
        return "<bdi>\(Self.shown(text, limit: limit, keepsLines: false))</bdi>\(warning)"
    }

    /// Many lines, for `pre`.
    static func block(_ text: String) -> Markup {
        "<bdi>\(Self.shown(text, limit: Self.blockLength, keepsLines: true))</bdi>"
    }

    /// Text alone, for attributes, options and names of pages: what is not seen is written `[U+202E]`.
    static func plain(_ text: String, limit: Int = Self.lineLength) -> String {
        Self.pieces(of: text, limit: limit, keepsLines: false).reduce(into: "") { plain, piece in
            switch piece {
            case .seen(let seen): plain += seen
            case .named(let name): plain += "[\(name)]"
            case .cut: plain += "…"
            }
        }
    }

    private static func shown(_ text: String, limit: Int, keepsLines: Bool) -> Markup {
        Markup.join(
            Self.pieces(of: text, limit: limit, keepsLines: keepsLines).map { piece in
                switch piece {
                case .seen(let seen): keepsLines ? "\(seen)" : Self.breakable(seen)
                case .named(let name): "<span class=\"cp\">\(name)</span>"
                case .cut(let count):
                    count > 0 && limit > Self.lineLength
                        ? "<span class=\"cp\">cut here: \(count) more</span>" : "<span class=\"cut\">…</span>"
                }
            })
    }

    /// Names of hosts and lists break at their dots.
    private static func breakable(_ text: String) -> Markup {
        Markup.join(text.split(separator: ".", omittingEmptySubsequences: false).map { "\($0)" }, separator: ".<wbr>")
    }

    private enum Piece {
        case seen(String)
        case named(String)
        case cut(Int)
    }

    private static func pieces(of text: String, limit: Int, keepsLines: Bool) -> [Piece] {
        var pieces: [Piece] = []
        var seen = ""
        var marks = 0
        var surplus = 0
        func flush() {
            if !seen.isEmpty { pieces.append(.seen(seen)) }
            seen = ""
            if surplus > 0 { pieces.append(.named("+\(surplus) marks")) }
            surplus = 0
        }
        let scalars = text.unicodeScalars
        let maximumNamed = keepsLines ? Self.maximumNamedInBlock : Self.maximumNamed
        var taken = 0
        var named = 0
        for scalar in scalars.prefix(limit) where named < maximumNamed {
            taken += 1
            if Self.isMark(scalar) {
                marks += 1
                // A mark never sits on a character that HTML knows, nor at the beginning of a text.
                let hasBase = seen.unicodeScalars.last.map { Self.isMark($0) || $0.properties.isAlphabetic } ?? false
                if marks > Self.maximumMarks || !hasBase { surplus += 1 } else { seen.unicodeScalars.append(scalar) }
                continue
            }
            marks = 0
            if surplus > 0 { flush() }
            if Self.canBeSeen(scalar) || (keepsLines && (scalar == "\n" || scalar == "\t")) {
                seen.unicodeScalars.append(scalar)
            } else {
                flush()
                named += 1
                pieces.append(.named(Self.name(of: scalar)))
            }
        }
        flush()
        let rest = scalars.count - taken
        if rest > 0 { pieces.append(.cut(rest)) }
        return pieces
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }

    private static func canBeSeen(_ scalar: Unicode.Scalar) -> Bool {
        // A blank braille cell is a symbol by its category, and empty.
        if scalar == " " { return true }
        if scalar.value == 0x2800 || scalar.properties.isWhitespace { return false }
        if scalar.properties.isDefaultIgnorableCodePoint { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        default: return true
        }
    }
}

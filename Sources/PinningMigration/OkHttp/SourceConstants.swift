// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The texts that a file of Kotlin or Java gives a name to, wherever they stand in it: `const val` and
/// `static final String`, with literals alone.
///
/// Other variables are left out, and so is a constant whose name one of them has: it may be meant where the name is used.
struct SourceConstants {
    /// A text, and the places of its literals.
    struct Constant {
        let text: String
        var literals: [Int]
    }

    /// The constants by their names; `nil` of a name that stands for something else, too.
    private var constants: [String: Constant?] = [:]
    /// The types that the file declares.
    private var types: Set<String> = ["Companion"]

    /// The maximum length: no pattern and no pin is longer.
    private static let bytes = 512

    /// Finds the constants of a file.
    init(_ tokens: [SourceToken]) {
        for index in tokens.indices.dropLast() {
            if case .word(let word) = tokens[index], case .word(let type) = tokens[index + 1],
                ["object", "class", "interface"].contains(word)
            {
                self.types.insert(type)
            }
            guard tokens[index] == .symbol(UInt8(ascii: "=")),
                let (name, isConstant) = Self.declaration(before: index, tokens)
            else { continue }
            var constant = isConstant ? Self.value(behind: index, tokens) : nil
            if let known = self.constants[name] {
                // The same text in several types is one constant.
                if known?.text != constant?.text { constant = nil }
                constant?.literals += known?.literals ?? []
            }
            self.constants[name] = .some(constant)
        }
    }

    /// The constant of a name.
    subscript(name: String) -> Constant? { self.constants[name] ?? nil }

    /// Whether a name before a dot is that of a type whose constants are known.
    func isType(_ name: String) -> Bool { self.types.contains(name) }

    /// The name that is declared before an equals sign, and whether it is that of a constant.
    private static func declaration(
        before index: Int, _ tokens: [SourceToken]
    ) -> (name: String, isConstant: Bool)? {
        func words(_ places: Range<Int>) -> Set<SourceToken> {
            places.lowerBound < 0 ? [] : Set(tokens[places])
        }
        let isTyped =
            index >= 3 && tokens[index - 1] == .word("String") && tokens[index - 2] == .symbol(UInt8(ascii: ":"))
        let place = isTyped ? index - 3 : index - 1
        guard place >= 1, case .word(let name) = tokens[place] else { return nil }
        switch tokens[place - 1] {
        case .word("val"): return (name, words(place - 2..<place - 1) == [.word("const")])
        case .word("String"): return (name, words(place - 3..<place - 1) == [.word("static"), .word("final")])
        case .word("var"): return (name, false)
        default: return nil
        }
    }

    /// The text behind an equals sign: a literal, or several that are joined.
    private static func value(behind index: Int, _ tokens: [SourceToken]) -> Constant? {
        var text = ""
        var place = index + 1
        while place < tokens.count, case .literal(let part?) = tokens[place], text.utf8.count <= Self.bytes {
            text += part
            let next = place + 1 < tokens.count ? tokens[place + 1] : .symbol(UInt8(ascii: ";"))
            guard next == .symbol(UInt8(ascii: "+")) else {
                // What a function makes of it is only known when the program runs.
                guard next != .symbol(UInt8(ascii: ".")), text.utf8.count <= Self.bytes else { return nil }
                return Constant(text: text, literals: Array(index + 1...place))
            }
            place += 2
        }
        return nil
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The texts that a file of Kotlin or Java gives a name to: `const val` and `static final String`, with literals alone.
///
/// Their order in the file does not matter, and their place does: alone a name stands for a constant in the block of
/// that one, and of a companion in the class around it; elsewhere behind the name of a type. A constant whose name
/// something else has in the file, a variable or a parameter, is left out: that may be meant where the name is used.
struct SourceConstants {
    /// A text, the places of its literals, and those where its name alone stands for it.
    struct Constant {
        let text: String
        var literals: [Int]
        var blocks: [Range<Int>]
    }

    /// The constants by their names; `nil` of a name that stands for something else, too.
    private var constants: [String: Constant?] = [:]
    /// The types that the file declares.
    private var types: Set<String> = ["Companion"]

    /// The maximum length: no pattern and no pin is longer.
    private static let bytes = 512

    private static let beforeTypes: [SourceToken] = [.word("object"), .word("class"), .word("interface")]
    private static let beforeNames: [SourceToken] = [.word("val"), .word("var"), .word("String")]
    /// What stands behind the name of a parameter, of a variable with a type, and of a part of another value.
    private static let behindNames: [[SourceToken]] = [
        [.symbol(UInt8(ascii: ":"))], [.symbol(UInt8(ascii: "-")), .symbol(UInt8(ascii: ">"))],
        [.symbol(UInt8(ascii: ")")), .word("in")], [.symbol(UInt8(ascii: ")")), .symbol(UInt8(ascii: "="))],
    ]
    private static let textType: [SourceToken] = [.symbol(UInt8(ascii: ":")), .word("String")]

    /// Finds the constants of a file.
    init(_ tokens: [SourceToken]) {
        let ends = Self.ends(of: tokens)
        var blocks = [0..<tokens.count]
        var isCompanion = false
        for (place, token) in tokens.enumerated() {
            switch token {
            case .symbol(UInt8(ascii: "{")):
                blocks.append(isCompanion ? blocks[blocks.count - 1] : place..<(ends[place] ?? tokens.count))
                isCompanion = false
            case .symbol(UInt8(ascii: "}")): if blocks.count > 1 { blocks.removeLast() }
            case .word("companion"): isCompanion = true
            case .word(let name):
                if place > 0, Self.beforeTypes.contains(tokens[place - 1]) { self.types.insert(name) }
                guard Self.isDeclared(at: place, tokens) else { break }
                self.add(name, Self.constant(at: place, tokens, in: blocks[blocks.count - 1]))
            default: break
            }
        }
    }

    private mutating func add(_ name: String, _ constant: Constant?) {
        var constant = constant
        if let known = self.constants[name] {
            // The same text in several types is one constant.
            if known?.text != constant?.text { constant = nil }
            constant?.literals += known?.literals ?? []
            constant?.blocks += known?.blocks ?? []
        }
        self.constants[name] = .some(constant)
    }

    /// The constant that a name stands for.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - place: The place at which it is used; `nil` behind the name of a type.
    func constant(_ name: String, at place: Int?) -> Constant? {
        guard let constant = self.constants[name] ?? nil else { return nil }
        guard let place else { return constant }
        return constant.blocks.contains { $0.contains(place) } ? constant : nil
    }

    /// Whether a name before a dot is that of a type whose constants are known.
    func isType(_ name: String) -> Bool { self.types.contains(name) }

    /// The ends of the blocks in braces, by their beginnings.
    private static func ends(of tokens: [SourceToken]) -> [Int: Int] {
        var open: [Int] = []
        var ends: [Int: Int] = [:]
        for (place, token) in tokens.enumerated() {
            if token == .symbol(UInt8(ascii: "{")) { open.append(place) }
            if token == .symbol(UInt8(ascii: "}")), let start = open.popLast() { ends[start] = place }
        }
        return ends
    }

    /// Whether a name is declared at a place: a constant or a variable, a parameter, a part of another value.
    private static func isDeclared(at place: Int, _ tokens: [SourceToken]) -> Bool {
        if place > 0, self.beforeNames.contains(tokens[place - 1]) { return true }
        return self.behindNames.contains { tokens[(place + 1)...].starts(with: $0) }
    }

    /// The constant that is declared at a place; `nil` where something else is.
    private static func constant(at place: Int, _ tokens: [SourceToken], in block: Range<Int>) -> Constant? {
        func words(_ count: Int) -> Set<SourceToken> {
            place > count ? Set(tokens[place - 1 - count..<place - 1]) : []
        }
        guard place > 0 else { return nil }
        let isKotlin = tokens[place - 1] == .word("val") && words(1) == [.word("const")]
        let isJava = tokens[place - 1] == .word("String") && words(2) == [.word("static"), .word("final")]
        let equals = tokens[(place + 1)...].starts(with: self.textType) ? place + 3 : place + 1
        guard isKotlin || isJava, equals < tokens.count, tokens[equals] == .symbol(UInt8(ascii: "=")),
            let value = self.value(behind: equals, tokens)
        else { return nil }
        return Constant(text: value.text, literals: value.literals, blocks: [block])
    }

    /// The text behind an equals sign: a literal, or several that are joined; and their places.
    private static func value(behind index: Int, _ tokens: [SourceToken]) -> (text: String, literals: [Int])? {
        var text = ""
        var place = index + 1
        while place < tokens.count, case .literal(let part?) = tokens[place], text.utf8.count <= Self.bytes {
            text += part
            let next = place + 1 < tokens.count ? tokens[place + 1] : .symbol(UInt8(ascii: ";"))
            guard next == .symbol(UInt8(ascii: "+")) else {
                // What a function makes of it is only known when the program runs.
                guard next != .symbol(UInt8(ascii: ".")), text.utf8.count <= Self.bytes else { return nil }
                return (text, Array(index + 1...place))
            }
            place += 2
        }
        return nil
    }
}

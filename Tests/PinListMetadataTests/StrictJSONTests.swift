// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListMetadata
import PinningTesting
import Testing

@Suite("Strict JSON: one text, one meaning")
struct StrictJSONTests {
    private func reason(_ text: String) -> String? { self.reason(Array(text.utf8)) }

    private func reason(_ bytes: [UInt8]) -> String? {
        do throws(JSONValue.ParsingError) {
            _ = try JSONValue(strict: bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        "a member twice is refused, also when one is written with escapes, and in unknown members",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":1}"#, #"{"/":1,"\/":1}"#, #"{"x":[{"y":{"a":1,"b":2,"\u0061":3}}]}"#,
            #"{"\ud834\udd1e":1,"𝄞":1}"#, #"{"":1,"":2}"#, #"{"\n":1,"\u000a":2}"#,
        ])
    func memberTwiceIsRefusedAlsoWhenOneIsWrittenWithEscapes(text: String) {
        #expect(self.reason(text) == "a repeated member")
    }

    @Test("names that only look the same are two, and so are those that Unicode calls equivalent")
    func namesThatOnlyLookTheSameAreTwoAndSoAreThoseThatUnicodeCallsEquivalent() throws {
        let value = try JSONValue(strict: Array("{\"\u{e9}\":1,\"e\u{301}\":2,\"E\u{301}\":3}".utf8))
        guard case .object(let members) = value else {
            Issue.record("not an object")
            return
        }
        #expect(members.map(\.value) == [.integer(1), .integer(2), .integer(3)])
    }

    @Test("a member twice among very many, at either end and in the middle", arguments: [1, 15, 16, 17, 18, 5_000])
    func memberTwiceAmongVeryManyAtEitherEndAndInTheMiddle(count: Int) {
        let names = (0..<count).map { "\"n\($0)\":\($0)" }
        #expect(self.reason("{\(names.joined(separator: ","))}") == nil)
        for again in [0, count / 2, count - 1] {
            let text = "{\(names.joined(separator: ",")),\"n\(again)\":0}"
            #expect(self.reason(text) == "a repeated member")
        }
    }

    @Test("as deep as is read, and one level deeper; and so deep that a parser that recurses without end would die")
    func asDeepAsIsReadAndOneLevelDeeper() {
        let maximum = JSONValue.maximumDepth
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            func nested(_ levels: Int) -> String {
                String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
            }
            #expect(self.reason(nested(maximum)) == nil)
            #expect(self.reason(nested(maximum + 1)) == "too many levels")
            #expect(self.reason(String(repeating: open, count: 500_000)) == "too many levels")
        }
        // Beside one another is not in one another.
        let wide = "[" + [String](repeating: "[[]]", count: 1_000).joined(separator: ",") + "]"
        #expect(self.reason(wide) == nil)
    }

    @Test(
        "bytes that are not UTF-8, wherever they stand",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xE2, 0x82],
            [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func bytesThatAreNotUTF8WhereverTheyStand(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(self.reason([quote] + bytes + [quote]) == "bytes that are not UTF-8")
        #expect(self.reason([quote, 0x61] + bytes + [0x61, quote]) == "bytes that are not UTF-8")
        #expect(self.reason(Array("{\"".utf8) + bytes + Array("\":1}".utf8)) == "bytes that are not UTF-8")
        #expect(self.reason(Array("\"\\n".utf8) + bytes + [quote]) == "bytes that are not UTF-8")
    }

    @Test(
        "a byte order mark, a blank that is none of the four, and a NUL",
        arguments: ["\u{feff}", "\u{a0}", "\u{0}", "\u{c}"])
    func byteOrderMarkABlankThatIsNoneOfTheFourAndANUL(mark: String) {
        #expect(self.reason(mark + "{}") == "not the beginning of a value")
        #expect(self.reason("{}" + mark) == "bytes after the value")
    }

    @Test(
        "half of a surrogate pair",
        arguments: [
            #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\udc00\ud800""#,
            #""\ud800\u0061""#, #""\uDBFF\uE000""#,
        ])
    func halfOfASurrogatePair(text: String) { #expect(self.reason(text) == "half a surrogate pair") }

    @Test("the first and the last that a pair can say")
    func firstAndTheLastThatAPairCanSay() throws {
        let pairs = [(#""\ud800\udc00""#, "\u{10000}"), (#""\udbff\udfff""#, "\u{10ffff}"), (#""\uFFFF""#, "\u{ffff}")]
        for (text, expected) in pairs { #expect(try JSONValue(strict: Array(text.utf8)) == .string(expected)) }
    }

    @Test(
        "a number with a fraction or an exponent, in unknown members as well",
        arguments: ["1.0", "-1.5", "1e3", "1E+3", "0.0", "-0.0", "0e0", "10000000000000000000000.5", "1e999999999"])
    func numberWithAFractionOrAnExponentInUnknownMembersAsWell(number: String) {
        for text in [number, "[\(number)]", "{\"unknown\":{\"deep\":[\(number)]}}"] {
            #expect(self.reason(text) == "a number with a fraction or an exponent")
        }
    }

    @Test("whole numbers of 64 bits, and the next ones")
    func wholeNumbersOf64BitsAndTheNextOnes() throws {
        for number in [Int64.min, -1, 0, 1, 9_007_199_254_740_993, .max] {
            let value = JSONValue.integer(number)
            #expect(try JSONValue(strict: Array(String(number).utf8)) == value)
            #expect(try JSONValue(strict: value.bytes) == value)
        }
        #expect(try JSONValue(strict: Array("-0".utf8)) == .integer(0))
        for text in ["9223372036854775808", "-9223372036854775809", "18446744073709551617", "100000000000000000000"] {
            #expect(self.reason(text) == "a number beyond 64 bits")
        }
    }

    @Test("of a sender's numbers the whole part is kept, and one with an exponent or beyond 64 bits is null")
    func ofASendersNumbersTheWholePartIsKeptAndOneWithAnExponentOrBeyond64BitsIsNull() throws {
        let numbers: [(String, JSONValue)] = [
            ("0.5", .integer(0)), ("-0.5", .integer(0)), ("443.0", .integer(443)), ("-1.999", .integer(-1)),
            ("9223372036854775807.5", .integer(.max)), ("-9223372036854775808.0", .integer(.min)),
            ("9223372036854775808", .null), ("-9223372036854775809.5", .null), ("10000000000000000000000", .null),
            ("1e3", .null), ("1E+3", .null), ("1.5e-3", .null), ("1e999999999", .null),
        ]
        for (text, value) in numbers {
            #expect(try JSONValue(strict: Array("[\(text)]".utf8), numbers: .truncated) == .array([value]), "\(text)")
        }
        for text in ["1.", ".5", "1e", "1e+", "-", "01", "-01.5", "1.e3", "+1", "1.5.5", "0x1"] {
            #expect(throws: JSONValue.ParsingError.self, "\(text)") {
                try JSONValue(strict: Array(text.utf8), numbers: .truncated)
            }
        }
    }

    @Test("of a sender's numbers what is no whole one of 64 bits is the text that was written, where shares count")
    func ofASendersNumbersWhatIsNoWholeOneOf64BitsIsTheTextThatWasWrittenWhereSharesCount() throws {
        for text in ["0.05", "-0.5", "443.0", "4e-05", "1E+3", "-1.5e-3", "9223372036854775808", "1e999999999"] {
            #expect(
                try JSONValue(strict: Array("[\(text)]".utf8), numbers: .written) == .array([.string(text)]), "\(text)")
        }
        for number in [Int64.min, -1, 0, 7, .max] {
            #expect(try JSONValue(strict: Array("\(number)".utf8), numbers: .written) == .integer(number))
        }
        for text in ["1.", ".5", "1e", "-", "01", "1.e3", "1.5.5"] {
            #expect(throws: JSONValue.ParsingError.self, "\(text)") {
                try JSONValue(strict: Array(text.utf8), numbers: .written)
            }
        }
    }

    @Test("any text comes back from what is written of it", arguments: [1, 2, 3, 4] as [UInt64])
    func anyTextComesBackFromWhatIsWrittenOfIt(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let value = Self.value(depth: 4, using: &random)
            #expect(try JSONValue(strict: value.bytes) == value)
        }
    }

    /// Any value, names all different.
    static func value(depth: Int, using random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3, 4: return .string(self.text(using: &random))
        case 5:
            return .array(
                (0..<Int.random(in: 0...5, using: &random)).map { _ in self.value(depth: depth - 1, using: &random) })
        default:
            // Two texts that Unicode calls equivalent would be one member to Swift's `==`: the number keeps them apart.
            return .object(
                (0..<Int.random(in: 0...20, using: &random)).map { number in
                    JSONValue.Member(
                        self.text(using: &random) + "\(number)", self.value(depth: depth - 1, using: &random))
                })
        }
    }

    private static func text(using random: inout SeededGenerator) -> String {
        let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ -> Unicode.Scalar? in
            let top: UInt32 = [0x20, 0x80, 0x800, 0x1_0000, 0x10_FFFF].randomElement(using: &random) ?? 0x80
            return Unicode.Scalar(UInt32.random(in: 0...top, using: &random))
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

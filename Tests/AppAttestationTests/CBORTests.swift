// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Parsers) @testable import AppAttestation
import Foundation
import TestData
import Testing

/// The strict reader: what RFC 8949 allows and App Attest does not write is refused by the rule that it breaks.
@Suite("CBOR")
struct CBORTests {
    /// One example of RFC 8949, Appendix A: with its value as JSON where that can say it, else in diagnostic notation.
    struct Example: Decodable {
        let hex: String
        let diagnostic: String?
        let decoded: Decoded?

        private enum CodingKeys: String, CodingKey { case hex, diagnostic, decoded }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            self.hex = try members.decode(String.self, forKey: .hex)
            self.diagnostic = try members.decodeIfPresent(String.self, forKey: .diagnostic)
            // A value that is null is there.
            if members.contains(.decoded) {
                self.decoded =
                    try members.decodeNil(forKey: .decoded) ? .null : members.decode(Decoded.self, forKey: .decoded)
            } else {
                self.decoded = nil
            }
        }
    }

    /// A value of JSON, read without the reader that is tested.
    indirect enum Decoded: Decodable, Equatable {
        case null, boolean(Bool), number(Decimal), real(Double), text(String), array([Decoded]), object(
            [String: Decoded])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let boolean = try? value.decode(Bool.self) {
                self = .boolean(boolean)
            } else if let number = try? value.decode(Decimal.self) {
                self = .number(number)
            } else if let real = try? value.decode(Double.self) {
                // Beyond what Decimal has, as 1e300 is: the reader has no such values.
                self = .real(real)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let array = try? value.decode([Decoded].self) {
                self = .array(array)
            } else {
                self = .object(try value.decode([String: Decoded].self))
            }
        }

        /// What the reader read, as JSON; `nil` where JSON cannot say it.
        init?(_ value: CBORValue) {
            switch value {
            case .null: self = .null
            case .boolean(let boolean): self = .boolean(boolean)
            case .unsigned(let number): self = .number(Decimal(number))
            case .negative(let number): self = .number(-1 - Decimal(number))
            case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
            case .array(let values): self = .array(values.compactMap { Decoded($0) })
            case .map(let members):
                var object: [String: Decoded] = [:]
                for (key, value) in members {
                    guard let name = key.asText, let value = Decoded(value) else { return nil }
                    object[name] = value
                }
                self = .object(object)
            default: return nil
            }
        }
    }

    /// What the reader read in diagnostic notation, as far as the examples need it.
    private static func diagnostic(_ value: CBORValue) -> String? {
        switch value {
        case .unsigned(let number): "\(number)"
        case .bytes(let bytes): "h'" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
        case .map(let members):
            "{"
                + members.compactMap { key, value in
                    self.diagnostic(key).flatMap { key in self.diagnostic(value).map { "\(key): \($0)" } }
                }.sorted().joined(separator: ", ") + "}"
        default: nil
        }
    }

    private static func value(_ bytes: [UInt8]) throws -> CBORValue { try CBORReader.value(of: bytes[...]) }

    private static func defect(of bytes: [UInt8]) -> CBORError? {
        do throws(CBORError) {
            _ = try CBORReader.value(of: bytes[...])
            return nil
        } catch {
            return error
        }
    }

    /// The rule that an example breaks, by where its bytes first leave the definite-length subset: found without the reader,
    /// from the text of the specification's diagnostic notation and the first byte that matters.
    private static func brokenRule(_ hex: String) -> CBORError? {
        // What each kind of example begins with, alone or as the first offender within arrays and maps.
        let offenders: [(prefixes: [String], defect: CBORError)] = [
            (["c", "d"], .tag), (["f9", "fa", "fb"], .floatingPoint), (["f7", "f0", "f8"], .simpleValue),
            (["5f", "7f", "9f", "bf"], .indefiniteLength),
        ]
        return offenders.first { $0.prefixes.contains { hex.hasPrefix($0) } }?.defect
            ?? (["83018202039f", "83019f", "826161bf"].contains { hex.hasPrefix($0) } ? .indefiniteLength : nil)
    }

    @Test(
        "each example of RFC 8949 is read as the value that it has, or refused by the rule that it breaks",
        .enabled(if: SharedData.holds(SharedData.cborExamples), "there is no ../shared/data/cbor beside the checkout"))
    func eachExampleOfRFC8949IsReadAsTheValueThatItHasOrRefusedByTheRuleThatItBreaks() throws {
        let examples = try JSONDecoder().decode(
            [Example].self, from: Data(contentsOf: SharedData.cborExamples))
        #expect(examples.count == 82)
        var compared = (json: 0, diagnostic: 0)
        for example in examples {
            let bytes = try #require(hexBytes(example.hex))
            let rule = Self.brokenRule(example.hex)
            #expect(Self.defect(of: bytes) == rule, "\(example.hex)")
            guard rule == nil, let value = try? Self.value(bytes) else { continue }
            if let decoded = example.decoded {
                #expect(Decoded(value) == decoded, "\(example.hex)")
                compared.json += 1
            } else {
                #expect(Self.diagnostic(value) == example.diagnostic, "\(example.hex)")
                compared.diagnostic += 1
            }
        }
        // 37 of all break no rule: each was compared by its value.
        #expect(compared.json == 34 && compared.diagnostic == 3)
    }

    @Test("numbers, texts and collections are what RFC 8949 says")
    func numbersTextsAndCollectionsAreWhatRFC8949Says() throws {
        #expect(try Self.value([0x1b] + [UInt8](repeating: 0xff, count: 8)) == .unsigned(.max))
        #expect(try Self.value([0x3b] + [UInt8](repeating: 0xff, count: 8)) == .negative(.max))
        #expect(try Self.value([0x64, 0xf0, 0x90, 0x85, 0x91]).asText == "\u{10151}")
        #expect(try Self.value([0x82, 0x20, 0x43, 1, 2, 3]) == .array([.negative(0), .bytes([1, 2, 3])]))
        let map = try Self.value([0xa2, 0x61, 0x61, 0xf5, 0x61, 0x62, 0xf6])
        #expect(map["a"] == .boolean(true) && map["b"] == .null && map["c"] == nil)
        // A longer form than is needed is well-formed (RFC 8949, section 4.1 asks writers, not readers).
        #expect(try Self.value([0x18, 0x01]) == .unsigned(1))
    }

    @Test(
        "a key that stands twice is refused, also when it is written differently",
        arguments: [[0xa2, 0x01, 0x02, 0x01, 0x03], [0xa2, 0x01, 0x02, 0x18, 0x01, 0x03]] as [[UInt8]])
    func keyThatStandsTwiceIsRefusedAlsoWhenItIsWrittenDifferently(bytes: [UInt8]) {
        #expect(Self.defect(of: bytes) == .duplicateKey)
    }

    @Test("texts that Unicode calls equivalent are two keys")
    func textsThatUnicodeCallsEquivalentAreTwoKeys() throws {
        // é as one character, and as e with an accent.
        let map = try Self.value([0xa2, 0x62, 0xc3, 0xa9, 0x01, 0x63, 0x65, 0xcc, 0x81, 0x02])
        #expect(map == .map([.text([0xc3, 0xa9]): .unsigned(1), .text([0x65, 0xcc, 0x81]): .unsigned(2)]))
    }

    @Test("a length of 16 EiB takes no memory and is refused")
    func lengthOf16EiBTakesNoMemoryAndIsRefused() {
        for major: UInt8 in [0x5b, 0x7b, 0x9b, 0xbb] {
            #expect(Self.defect(of: [major] + [UInt8](repeating: 0xff, count: 8) + [1]) == .truncated)
        }
        // As many members as there are bytes left: half of them would be missing.
        #expect(Self.defect(of: [0xa2, 1, 2, 3]) == .truncated)
    }

    @Test("eight collections within each other are read, and nine are not")
    func eightCollectionsWithinEachOtherAreReadAndNineAreNot() {
        let arrays = { (count: Int) in [UInt8](repeating: 0x81, count: count) + [0x00] }
        #expect(Self.defect(of: arrays(8)) == nil)
        #expect(Self.defect(of: arrays(9)) == .tooDeep)
        #expect(Self.defect(of: [UInt8](repeating: 0x81, count: 60_000)) == .tooDeep)
        #expect(Self.defect(of: [UInt8](repeating: 0xa1, count: 60_000)) == .tooDeep)
    }

    @Test("65,536 bytes are read, and one more is not")
    func of65536BytesAreReadAndOneMoreIsNot() {
        let string = { (length: Int) in
            [0x5a, 0, UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff)]
                + [UInt8](repeating: 0, count: length)
        }
        #expect(Self.defect(of: string(65_531)) == nil)
        #expect(Self.defect(of: string(65_532)) == .tooLarge)
    }

    @Test("bytes behind the item, breaks, reserved bytes and broken texts are refused")
    func bytesBehindTheItemBreaksReservedBytesAndBrokenTextsAreRefused() {
        #expect(Self.defect(of: []) == .truncated)
        #expect(Self.defect(of: [0x00, 0x00]) == .trailingBytes)
        #expect(Self.defect(of: [0xff]) == .indefiniteLength)
        #expect(Self.defect(of: [0x1c]) == .reserved)
        #expect(Self.defect(of: [0xfc]) == .reserved)
        #expect(Self.defect(of: [0xf8, 0x14]) == .simpleValue)
        #expect(Self.defect(of: [0x61, 0xff]) == .notUTF8)
        #expect(Self.defect(of: [0x63, 0xed, 0xa0, 0x80]) == .notUTF8)
        #expect(Self.defect(of: [0x19, 0x01]) == .truncated)
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The DER and CBOR encoder of the test kit: short definite lengths, without code of any reader.
enum DERText {
    /// An element of any tag.
    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        switch contents.count {
        case ..<0x80: [tag, UInt8(contents.count)] + contents
        case ..<0x100: [tag, 0x81, UInt8(contents.count)] + contents
        default: [tag, 0x82, UInt8(contents.count >> 8 & 0xff), UInt8(contents.count & 0xff)] + contents
        }
    }

    /// SEQUENCE.
    static func sequence(_ elements: [UInt8]...) -> [UInt8] { Self.element(0x30, Array(elements.joined())) }

    /// A name of one common name.
    static func name(_ text: String) -> [UInt8] {
        Self.sequence(
            Self.element(0x31, Self.sequence([0x06, 0x03, 0x55, 0x04, 0x03], Self.element(0x0c, Array(text.utf8)))))
    }

    /// BIT STRING of whole bytes.
    static func bits(_ bytes: [UInt8]) -> [UInt8] { Self.element(0x03, [0] + bytes) }

    /// An extension (RFC 5280, section 4.1).
    static func certificateExtension(_ identifier: [UInt8], isCritical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        Self.sequence(
            Self.element(0x06, identifier), isCritical ? [0x01, 0x01, 0xff] : [], Self.element(0x04, value))
    }

    /// An identifier of Apple's, below 1.2.840.113635.100.
    static func apple(_ arcs: UInt8...) -> [UInt8] { [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64] + arcs }
}

/// CBOR (RFC 8949) of definite lengths.
enum CBORText {
    static func head(_ major: UInt8, _ number: Int) -> [UInt8] {
        switch number {
        case ..<24: [major << 5 | UInt8(number)]
        case ..<0x100: [major << 5 | 24, UInt8(number)]
        default: [major << 5 | 25, UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
        }
    }

    static func text(_ text: String) -> [UInt8] { Self.head(3, text.utf8.count) + Array(text.utf8) }

    static func bytes(_ bytes: [UInt8]) -> [UInt8] { Self.head(2, bytes.count) + bytes }

    static func array(_ items: [[UInt8]]) -> [UInt8] { Self.head(4, items.count) + items.joined() }

    static func map(_ members: [(String, [UInt8])]) -> [UInt8] {
        Self.head(5, members.count) + members.flatMap { Self.text($0.0) + $0.1 }
    }
}

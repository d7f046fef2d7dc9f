// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// CBOR and ASN.1 as the test kit writes them; nothing of the readers is used for it.
enum CBOREncoding {
    static func head(_ major: UInt8, _ number: Int) -> [UInt8] {
        switch number {
        case ..<24: [major << 5 | UInt8(number)]
        case ..<0x100: [major << 5 | 24, UInt8(number)]
        default: [major << 5 | 25, UInt8(number >> 8), UInt8(number & 0xff)]
        }
    }

    static func text(_ text: String) -> [UInt8] { self.head(3, text.utf8.count) + Array(text.utf8) }

    static func bytes(_ bytes: [UInt8]) -> [UInt8] { self.head(2, bytes.count) + bytes }

    static func array(_ items: [[UInt8]]) -> [UInt8] { self.head(4, items.count) + items.joined() }

    static func map(_ members: [(String, [UInt8])]) -> [UInt8] {
        self.head(5, members.count) + members.flatMap { self.text($0.0) + $0.1 }
    }
}

/// Elements of ASN.1.
enum ASN1Encoding {
    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        switch contents.count {
        case ..<0x80: [tag, UInt8(contents.count)] + contents
        case ..<0x100: [tag, 0x81, UInt8(contents.count)] + contents
        default: [tag, 0x82, UInt8(contents.count >> 8), UInt8(contents.count & 0xff)] + contents
        }
    }

    /// An element without a length, as BER allows.
    static func indefinite(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, 0x80] + contents + [0, 0] }

    static func sequence(_ elements: [UInt8]...) -> [UInt8] { self.element(0x30, Array(elements.joined())) }

    static func integer(_ number: UInt8) -> [UInt8] { [0x02, 0x01, number] }
}
#endif

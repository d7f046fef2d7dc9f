// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Writes the DER that a certificate of a trial needs (X.690, section 10).
enum DERWriter {
    /// A value of any kind.
    static func value(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = contents.count
        if rest < 0x80 { return [tag, UInt8(rest)] + contents }
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    /// A sequence of values.
    static func sequence(_ values: [UInt8]...) -> [UInt8] { self.value(0x30, Array(values.joined())) }

    /// A set of one value.
    static func set(of value: [UInt8]) -> [UInt8] { self.value(0x31, value) }

    /// An object identifier, by its contents.
    static func identifier(_ contents: UInt8...) -> [UInt8] { self.value(0x06, contents) }

    /// A string of whole bytes as a bit string.
    static func bits(_ bytes: [UInt8], unused: UInt8 = 0) -> [UInt8] { self.value(0x03, [unused] + bytes) }

    /// A positive integer.
    static func positive(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return self.value(0x02, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
    }

    /// A text in UTF-8.
    static func text(_ text: String) -> [UInt8] { self.value(0x0C, Array(text.utf8)) }

    /// A time: UTCTime to the end of 2049, GeneralizedTime after (RFC 5280, section 4.1.2.5).
    static func time(_ time: Timestamp) -> [UInt8] {
        let digits = time.description.utf8.filter { $0 != 0x2D && $0 != 0x3A && $0 != 0x54 }
        let isShort = (UInt8(ascii: "1")...UInt8(ascii: "2")).contains(digits[0]) && time.description < "2050"
        return isShort ? self.value(0x17, Array(digits.dropFirst(2))) : self.value(0x18, Array(digits))
    }
}

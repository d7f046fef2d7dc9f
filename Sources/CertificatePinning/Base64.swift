// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Base64 as the formats here write it: the standard alphabet (RFC 4648, section 4), always padded, and canonical: the
/// bits that the last group does not use are zero, so that each byte string has exactly one text.
///
/// Our own and small, because this module links no Foundation and because Foundation's decoder accepts texts whose
/// unused bits are set.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The text of some bytes, padded, without line breaks.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            guard held == 3 else { continue }
            for shift in [18, 12, 6, 0] as [UInt32] { text.append(self.alphabet[Int(group >> shift & 63)]) }
            group = 0
            held = 0
        }
        if held > 0 {
            group <<= UInt32(8 * (3 - held))
            for place in 0..<4 {
                text.append(place <= held ? self.alphabet[Int(group >> UInt32(18 - 6 * place) & 63)] : self.padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text, or `nil` for anything but padded, canonical base64 of the standard alphabet.
    ///
    /// Work and memory are linear in the length of the text; callers bound that length first.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        var padded = 0
        for character in text {
            if character == self.padding {
                padded += 1
                group <<= 6
            } else {
                guard padded == 0, let value = self.value(of: character) else { return nil }
                group = group << 6 | UInt32(value)
            }
            held += 1
            guard held == 4 else { continue }
            guard padded <= 2 else { return nil }
            for place in 0..<(3 - padded) { bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * place))) }
            let unused = group & (1 << UInt32(8 * padded) - 1)
            guard unused == 0 else { return nil }
            group = 0
            held = 0
        }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

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
        if let text = bytes.withContiguousStorageIfAvailable({ self.encode(contiguous: $0) }) { return text }
        return Array(bytes).withUnsafeBufferPointer { self.encode(contiguous: $0) }
    }

    private static func encode(contiguous bytes: UnsafeBufferPointer<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
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
        // Not generic from here on: a list is some megabytes, and each byte would cost calls through witness tables.
        if let bytes = text.withContiguousStorageIfAvailable({ self.decode(contiguous: $0) }) { return bytes }
        return Array(text).withUnsafeBufferPointer { self.decode(contiguous: $0) }
    }

    private static func decode(contiguous text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard let last = text.last else { return [] }
        let padded = last != self.padding ? 0 : text[text.count - 2] != self.padding ? 1 : 2
        let length = text.count / 4 * 3 - padded
        let isCanonical = { (group: UInt32) in group & (1 << UInt32(8 * padded) - 1) == 0 }
        let bytes = self.values.withUnsafeBufferPointer { values in
            [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
                // All groups but the last are full; a padding character in them is invalid.
                for start in stride(from: 0, to: text.count - 4, by: 4) {
                    let first = values[Int(text[start])]
                    let second = values[Int(text[start + 1])]
                    let third = values[Int(text[start + 2])]
                    let fourth = values[Int(text[start + 3])]
                    guard (first | second | third | fourth) < 64 else { return }
                    bytes[count] = first << 2 | second >> 4
                    bytes[count + 1] = second << 4 | third >> 2
                    bytes[count + 2] = third << 6 | fourth
                    count += 3
                }
                var group: UInt32 = 0
                for place in 0..<4 {
                    let value = place < 4 - padded ? values[Int(text[text.count - 4 + place])] : 0
                    guard value < 64 else { return }
                    group = group << 6 | UInt32(value)
                }
                guard isCanonical(group) else { return }
                for place in 0..<(3 - padded) {
                    bytes[count] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * place))
                    count += 1
                }
            }
        }
        return bytes.count == length ? bytes : nil
    }

    /// The value of each character, or 255.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in Self.alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}

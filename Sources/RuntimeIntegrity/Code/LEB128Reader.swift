// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Reads the bytes of a part of a file in order, with numbers of seven bits a byte (LEB128, as DWARF has them).
struct LEB128Reader {
    private var window: ByteWindow
    private let start: UInt64
    private let count: UInt64

    /// Where the next byte stands, from the part's beginning.
    var index: UInt64 = 0

    /// Whether the part is at its end.
    var isAtEnd: Bool { self.index >= self.count }

    /// Reads a part.
    init(_ file: ExecutableBytes, _ part: MachOHeader.Part) {
        self.window = ByteWindow(file)
        self.start = part.offset
        self.count = part.count
    }

    /// The next byte; `nil` at the end.
    mutating func byte() -> UInt8? {
        guard !self.isAtEnd, let place = self.start.adding(self.index),
            let byte = self.window.littleEndian(UInt8.self, at: place)
        else { return nil }
        self.index += 1
        return byte
    }

    /// The next number without a sign; `nil` where it does not end, or has more than 64 bits.
    mutating func unsigned() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = self.byte() else { return nil }
            let bits = UInt64(byte & 0x7F)
            guard shift < 63 || bits <= 1 else { return nil }
            value |= bits << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    /// The next number with a sign; `nil` where it does not end. Bits past the 64th are passed over.
    mutating func signed() -> Int64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = self.byte() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                let isNegative = byte & 0x40 != 0 && shift + 7 < 64
                return Int64(bitPattern: isNegative ? value | UInt64.max << (shift + 7) : value)
            }
        }
        return nil
    }

    /// The next text, up to a zero byte; `nil` where none stands within ``ImageLimits/nameLength``.
    mutating func text() -> String? {
        guard !self.isAtEnd, let place = self.start.adding(self.index) else { return nil }
        let most = Int(min(self.count - self.index - 1, UInt64(ImageLimits.nameLength)))
        // What is not UTF-8 would have another length: no linker writes that.
        guard let text = self.window.text(at: place, most: most), self.window.isText(Array(text.utf8), at: place) else {
            return nil
        }
        self.index += UInt64(text.utf8.count) + 1
        return text
    }
}

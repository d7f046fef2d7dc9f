// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A part of ``ExecutableBytes`` that is held, and moves: for tables that are read in order, or nearly so.
struct ByteWindow {
    /// The bytes of one part.
    static let size = 4_096

    private let source: ExecutableBytes
    private let size: Int
    private var start: UInt64 = 0
    private var held: [UInt8] = []

    /// A window on these bytes, of 1 to ``ExecutableBytes/longestRead`` bytes.
    init(_ source: ExecutableBytes, size: Int = Self.size) {
        self.source = source
        self.size = min(max(size, 1), ExecutableBytes.longestRead)
    }

    /// The number at an offset; `nil` where it cannot be read.
    mutating func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self, at offset: UInt64
    ) -> Number? {
        guard let index = self.index(of: offset, count: MemoryLayout<Number>.size) else { return nil }
        return self.held.littleEndian(type, at: index)
    }

    /// The text from an offset to a zero byte; `nil` where none stands within `most` bytes, or nothing can be read.
    ///
    /// Bytes that are not UTF-8 are replaced.
    mutating func text(at offset: UInt64, most: Int) -> String? {
        if let index = self.index(of: offset, count: 1), let end = self.held[index...].firstIndex(of: 0) {
            return end - index <= most ? String(decoding: self.held[index..<end], as: UTF8.self) : nil
        }
        // It goes on past the window: names are that long in Swift.
        guard let bytes = self.source.prefix(at: offset, most: min(most, ExecutableBytes.longestRead - 1) + 1),
            let end = bytes.firstIndex(of: 0)
        else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Whether these bytes and a zero byte stand at an offset.
    mutating func isText(_ text: [UInt8], at offset: UInt64) -> Bool {
        if let index = self.index(of: offset, count: text.count + 1) {
            return self.held[index + text.count] == 0 && self.held[index..<index + text.count].elementsEqual(text)
        }
        guard let bytes = self.source.bytes(at: offset, count: text.count + 1) else { return false }
        return bytes.last == 0 && bytes.dropLast().elementsEqual(text)
    }

    /// Where in what is held so many bytes begin, after reading them if need be.
    private mutating func index(of offset: UInt64, count: Int) -> Int? {
        if offset >= self.start, offset - self.start < UInt64(self.held.count) {
            let index = Int(offset - self.start)
            if index <= self.held.count - count { return index }
        }
        guard count <= self.size, let read = self.source.prefix(at: offset, most: self.size), read.count >= count
        else { return nil }
        self.start = offset
        self.held = read
        return 0
    }
}

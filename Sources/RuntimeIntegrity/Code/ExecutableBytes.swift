// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Bytes that are read in pieces: those of an executable file by offset, or those of memory by address.
///
/// The reading code has no file and no pointer of its own: it gets a closure, so that it also works on recorded bytes.
/// The closure may be called from any thread. Many small pieces are read, so a mapped or held file is far cheaper than
/// a system call for each.
struct ExecutableBytes: Sendable {
    /// The maximum length of one piece in bytes: a comparison holds one of each side.
    static let maximumReadLength = 65_536

    /// Returns the bytes from an offset on: as many as requested, fewer at the end, `nil` where they cannot be read.
    private let read: @Sendable (UInt64, Int) -> [UInt8]?

    /// Creates a reader with a closure, which is called for at most ``maximumReadLength`` bytes and never past the end of
    /// `UInt64`.
    init(_ read: @escaping @Sendable (_ offset: UInt64, _ count: Int) -> [UInt8]?) { self.read = read }

    /// Creates a reader of held bytes from an offset on: those of a file from 0, those of memory from their address.
    init(_ held: [UInt8], from start: UInt64 = 0) {
        self.init { offset, count in
            guard offset >= start, offset - start < UInt64(held.count) else { return nil }
            let first = Int(offset - start)
            return Array(held[first..<first + min(count, held.count - first)])
        }
    }

    /// Reads exactly a number of bytes; `nil` where there are fewer, and for more than ``maximumReadLength``.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
        guard let bytes = self.prefix(at: offset, maximum: count), bytes.count == count else { return nil }
        return bytes
    }

    /// Reads a number of bytes, or fewer at the end; `nil` where there is none, and for more than ``maximumReadLength``.
    func prefix(at offset: UInt64, maximum: Int) -> [UInt8]? {
        guard (0...Self.maximumReadLength).contains(maximum) else { return nil }
        guard maximum > 0 else { return [] }
        guard offset.adding(UInt64(maximum)) != nil, let bytes = self.read(offset, maximum) else { return nil }
        return bytes.isEmpty || bytes.count > maximum ? nil : bytes
    }

    /// A part of these bytes, whose offsets begin at 0.
    func part(from start: UInt64, count: UInt64) -> ExecutableBytes {
        ExecutableBytes { offset, maximum in
            guard offset < count, let place = start.adding(offset) else { return nil }
            return self.prefix(at: place, maximum: Int(min(UInt64(maximum), count - offset)))
        }
    }
}

/// A moving window of held bytes on ``ExecutableBytes``, for tables that are read mostly in order.
struct ByteWindow {
    /// The bytes of one part.
    static let size = 4_096

    private let source: ExecutableBytes
    private let size: Int
    private var start: UInt64 = 0
    private var held: [UInt8] = []

    /// Creates a window on these bytes, of 1 to ``ExecutableBytes/maximumReadLength`` bytes.
    init(_ source: ExecutableBytes, size: Int = Self.size) {
        self.source = source
        self.size = min(max(size, 1), ExecutableBytes.maximumReadLength)
    }

    /// The number at an offset; `nil` where it cannot be read.
    mutating func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self, at offset: UInt64
    ) -> Number? {
        guard let index = self.index(of: offset, count: MemoryLayout<Number>.size) else { return nil }
        return self.held.littleEndian(type, at: index)
    }

    /// The text from an offset to a zero byte; `nil` where there is none within `most` bytes, or nothing can be read.
    ///
    /// Bytes that are not UTF-8 are replaced.
    mutating func text(at offset: UInt64, maximum: Int) -> String? {
        if let index = self.index(of: offset, count: 1), let end = self.held[index...].firstIndex(of: 0) {
            return end - index <= maximum ? String(decoding: self.held[index..<end], as: UTF8.self) : nil
        }
        // The text goes on past the window: names in Swift may be that long.
        guard
            let bytes = self.source.prefix(
                at: offset, maximum: min(maximum, ExecutableBytes.maximumReadLength - 1) + 1),
            let end = bytes.firstIndex(of: 0)
        else { return nil }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Whether these bytes and a zero byte are at an offset.
    mutating func isText(_ text: [UInt8], at offset: UInt64) -> Bool {
        if let index = self.index(of: offset, count: text.count + 1) {
            return self.held[index + text.count] == 0 && self.held[index..<index + text.count].elementsEqual(text)
        }
        guard let bytes = self.source.bytes(at: offset, count: text.count + 1) else { return false }
        return bytes.last == 0 && bytes.dropLast().elementsEqual(text)
    }

    /// The position of a number of bytes in the held ones, after reading them where needed.
    private mutating func index(of offset: UInt64, count: Int) -> Int? {
        if offset >= self.start, offset - self.start < UInt64(self.held.count) {
            let index = Int(offset - self.start)
            if index <= self.held.count - count { return index }
        }
        guard count <= self.size, let read = self.source.prefix(at: offset, maximum: self.size), read.count >= count
        else { return nil }
        self.start = offset
        self.held = read
        return 0
    }
}

/// The differences of two arrays of the same length.
struct ByteDifferences {
    private let left: [UInt8]
    private let right: [UInt8]
    private let ignored: [Range<Int>]

    /// The differences of two arrays of the same length, but for some indexes.
    ///
    /// - Parameter ignored: In order, without overlaps.
    init(_ left: [UInt8], _ right: [UInt8], except ignored: [Range<Int>]) {
        self.left = left
        self.right = right
        self.ignored = ignored
    }

    /// Whether there is no difference, relocated bytes included. Eight words at a time, because nearly all code is
    /// equal.
    static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        let whole = left.count & ~63
        let areBlocksSame = left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                var block = 0
                while block < whole {
                    var changed: UInt64 = 0
                    for word in 0..<8 {
                        let index = block + word * 8
                        changed |=
                            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                            ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    }
                    guard changed == 0 else { return false }
                    block += 64
                }
                return true
            }
        }
        return areBlocksSame && left[whole...].elementsEqual(right[whole...])
    }

    /// Iterates over the runs, joined by ``CodeComparison/joinedBytes``, until `body` returns `false`.
    func forEach(_ body: (Range<Int>) -> Bool) {
        var run: Range<Int>?
        var next = 0
        for index in 0..<min(self.left.count, self.right.count) where self.left[index] != self.right[index] {
            while next < self.ignored.count, self.ignored[next].upperBound <= index { next += 1 }
            if next < self.ignored.count, self.ignored[next].contains(index) { continue }
            if let held = run, index - held.upperBound >= CodeComparison.joinedBytes {
                guard body(held) else { return }
                run = nil
            }
            run = (run?.lowerBound ?? index)..<index + 1
        }
        if let run { _ = body(run) }
    }
}

/// Reading numbers of the file formats: little endian, but for fat Mach-O files and signatures.
extension Array where Element == UInt8 {
    /// The number at an index; `nil` where it is not inside.
    func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type = Number.self, at index: Int)
        -> Number?
    {
        guard index >= 0, index <= self.count - MemoryLayout<Number>.size else { return nil }
        return self.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: index, as: type)) }
    }

    /// The big-endian number at an index; `nil` where it is not inside.
    func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type = Number.self, at index: Int)
        -> Number?
    {
        self.littleEndian(type, at: index)?.byteSwapped
    }

    /// The text from an index to a zero byte, or to `most` bytes; what is not UTF-8 is replaced.
    func text(at index: Int, maximum: Int) -> String {
        guard index >= 0, index < self.count, maximum > 0 else { return "" }
        return String(decoding: self[index...].prefix(maximum).prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// Arithmetic on offsets and addresses of a hostile file.
extension UInt64 {
    /// The sum; `nil` where it does not fit.
    func adding(_ other: UInt64) -> UInt64? {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? nil : sum
    }

    /// The product; `nil` where it does not fit.
    func times(_ other: UInt64) -> UInt64? {
        let (product, overflow) = self.multipliedReportingOverflow(by: other)
        return overflow ? nil : product
    }

    /// The next multiple of a power of two at or below.
    func roundedDown(to size: UInt64) -> UInt64 { self & ~(size &- 1) }

    /// The next multiple of a power of two at or above; `nil` where it does not fit.
    func roundedUp(to size: UInt64) -> UInt64? { self.adding(size &- 1)?.roundedDown(to: size) }
}

/// Reads the bytes of a part of a file in order, with numbers of seven bits a byte (LEB128, as DWARF has them).
struct LEB128Reader {
    private var window: ByteWindow
    private let start: UInt64
    private let count: UInt64

    /// The offset of the next byte in the part.
    var index: UInt64 = 0

    /// Whether the part is at its end.
    var isAtEnd: Bool { self.index >= self.count }

    /// Creates a reader of a part.
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

    /// The next number with a sign; `nil` where it does not end. Bits past the 64th are ignored.
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

    /// The next text, up to a zero byte; `nil` where there is none within ``ImageLimits/nameLength``.
    mutating func text() -> String? {
        guard !self.isAtEnd, let place = self.start.adding(self.index) else { return nil }
        let maximum = Int(min(self.count - self.index - 1, UInt64(ImageLimits.nameLength)))
        // A text that is not UTF-8 would have another length; no linker writes one.
        guard let text = self.window.text(at: place, maximum: maximum), self.window.isText(Array(text.utf8), at: place)
        else {
            return nil
        }
        self.index += UInt64(text.utf8.count) + 1
        return text
    }
}

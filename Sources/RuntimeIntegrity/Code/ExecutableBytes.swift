// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Bytes that are read a piece at a time: those of an executable file by offset, or those of memory by address.
///
/// The reading code has no file and no pointer of its own: it is handed a closure, so that it runs over recorded bytes as
/// well. The closure may be called from any thread. Reading is many small pieces: over a file that is mapped, or held,
/// it is far cheaper than over a system call for each.
struct ExecutableBytes: Sendable {
    /// The most bytes of one piece: what a comparison holds of each side.
    static let maximumReadLength = 65_536

    /// Gives the bytes from an offset on: as many as asked, fewer at the end, `nil` where nothing can be read.
    private let read: @Sendable (UInt64, Int) -> [UInt8]?

    /// Reads through a closure, which is asked for at most ``maximumReadLength`` bytes and never past the end of `UInt64`.
    init(_ read: @escaping @Sendable (_ offset: UInt64, _ count: Int) -> [UInt8]?) { self.read = read }

    /// Reads bytes that are held, from an offset on: those of a file from 0, those of memory from their address.
    init(_ held: [UInt8], from start: UInt64 = 0) {
        self.init { offset, count in
            guard offset >= start, offset - start < UInt64(held.count) else { return nil }
            let first = Int(offset - start)
            return Array(held[first..<first + min(count, held.count - first)])
        }
    }

    /// Exactly so many bytes; `nil` where there are fewer, and for more than ``maximumReadLength``.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
        guard let bytes = self.prefix(at: offset, maximum: count), bytes.count == count else { return nil }
        return bytes
    }

    /// So many bytes, or fewer at the end; `nil` where there is none, and for more than ``maximumReadLength``.
    func prefix(at offset: UInt64, maximum: Int) -> [UInt8]? {
        guard (0...Self.maximumReadLength).contains(maximum) else { return nil }
        guard maximum > 0 else { return [] }
        guard offset.adding(UInt64(maximum)) != nil, let bytes = self.read(offset, maximum) else { return nil }
        return bytes.isEmpty || bytes.count > maximum ? nil : bytes
    }

    /// A part of these bytes, whose first has the offset 0.
    func part(from start: UInt64, count: UInt64) -> ExecutableBytes {
        ExecutableBytes { offset, maximum in
            guard offset < count, let place = start.adding(offset) else { return nil }
            return self.prefix(at: place, maximum: Int(min(UInt64(maximum), count - offset)))
        }
    }
}

/// A part of ``ExecutableBytes`` that is held, and moves: for tables that are read in order, or nearly so.
struct ByteWindow {
    /// The bytes of one part.
    static let size = 4_096

    private let source: ExecutableBytes
    private let size: Int
    private var start: UInt64 = 0
    private var held: [UInt8] = []

    /// A window on these bytes, of 1 to ``ExecutableBytes/maximumReadLength`` bytes.
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

    /// The text from an offset to a zero byte; `nil` where none stands within `most` bytes, or nothing can be read.
    ///
    /// Bytes that are not UTF-8 are replaced.
    mutating func text(at offset: UInt64, maximum: Int) -> String? {
        if let index = self.index(of: offset, count: 1), let end = self.held[index...].firstIndex(of: 0) {
            return end - index <= maximum ? String(decoding: self.held[index..<end], as: UTF8.self) : nil
        }
        // It goes on past the window: names are that long in Swift.
        guard
            let bytes = self.source.prefix(
                at: offset, maximum: min(maximum, ExecutableBytes.maximumReadLength - 1) + 1),
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
        guard count <= self.size, let read = self.source.prefix(at: offset, maximum: self.size), read.count >= count
        else { return nil }
        self.start = offset
        self.held = read
        return 0
    }
}

/// Where two arrays of the same length differ.
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

    /// Whether there is none, relocated bytes included: eight words at a time, for nearly all code is the same.
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

    /// Goes through the runs, joined as ``CodeComparison/joinedBytes`` says, until `body` answers `false`.
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
    /// The number at an index; `nil` where it does not lie inside.
    func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type = Number.self, at index: Int)
        -> Number?
    {
        guard index >= 0, index <= self.count - MemoryLayout<Number>.size else { return nil }
        return self.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: index, as: type)) }
    }

    /// The number at an index, of which the highest byte stands first; `nil` where it does not lie inside.
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

/// Arithmetic on offsets and addresses that a hostile file names.
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

    /// The multiple of a power of two that lies at or below.
    func roundedDown(to size: UInt64) -> UInt64 { self & ~(size &- 1) }

    /// The multiple of a power of two that lies at or above; `nil` where it does not fit.
    func roundedUp(to size: UInt64) -> UInt64? { self.adding(size &- 1)?.roundedDown(to: size) }
}

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
        let maximum = Int(min(self.count - self.index - 1, UInt64(ImageLimits.nameLength)))
        // What is not UTF-8 would have another length: no linker writes that.
        guard let text = self.window.text(at: place, maximum: maximum), self.window.isText(Array(text.utf8), at: place)
        else {
            return nil
        }
        self.index += UInt64(text.utf8.count) + 1
        return text
    }
}

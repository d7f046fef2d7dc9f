// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

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
    func text(at index: Int, most: Int) -> String {
        guard index >= 0, index < self.count, most > 0 else { return "" }
        return String(decoding: self[index...].prefix(most).prefix { $0 != 0 }, as: UTF8.self)
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// The serial numbers of a revocation list, an index with eight bytes for each entry, two for each bucket, and no
/// object for any.
///
/// Entries are put into buckets by a mix of their serial number's ends, two in one on average. A bucket of many, which
/// only a list made for it has, is sorted and searched by halves: what a look-up costs is bounded by the logarithm of the
/// entries, also of a list made by an attacker.
struct SerialIndex: Sendable {
    /// The number of entries from which on a bucket is sorted.
    private static let sorted = 32

    /// The entries bucket by bucket: the mix of the serial number in the upper half, the position in the list in the lower.
    /// Most entries with another serial number differ in the mix, so that the list itself is not looked at.
    private let entries: [UInt64]

    /// The begin of each bucket in ``entries``, and the end of the last.
    private let buckets: [UInt32]

    /// The shift that gives the bucket of a mix.
    private let shift: UInt32

    /// The number of entries.
    var count: Int { self.entries.count }

    /// The memory of the index in bytes, with what is reserved.
    var reservedBytes: Int { 8 * self.entries.capacity + 4 * self.buckets.capacity }

    /// The entries that are gathered while a list is walked.
    struct Builder {
        fileprivate var entries: [UInt64] = []

        /// Begins with room for the entries of a list with so many bytes.
        init(bytes: Int) {
            self.entries.reserveCapacity(bytes / 32)
        }

        /// Adds an entry.
        ///
        /// - Parameters:
        ///   - entry: The position of the entry; a list has at most 32 MiB.
        ///   - serial: Its serial number's contents.
        @inline(__always)
        mutating func add(_ entry: Int, serial: Range<Int>, in bytes: RawSpan) {
            let mix = SerialIndex.mix(serial, in: bytes)
            self.entries.append(UInt64(mix) << 32 | UInt64(UInt32(truncatingIfNeeded: entry)))
        }
    }

    /// Puts the gathered entries into buckets.
    init(_ builder: consuming Builder, in bytes: RawSpan) {
        let found = builder.entries
        let bits = max(0, Int.bitWidth - 2 - found.count.leadingZeroBitCount)
        let shift = UInt32(32 - bits)
        var buckets = [UInt32](repeating: 0, count: 1 << bits + 1)
        for entry in found { buckets[Int(Self.mix(of: entry) >> shift) + 1] += 1 }
        for bucket in 1..<buckets.count { buckets[bucket] += buckets[bucket - 1] }
        var next = buckets
        let ordered = [UInt64](unsafeUninitializedCapacity: found.count) { room, count in
            for entry in found {
                let bucket = Int(Self.mix(of: entry) >> shift)
                room.initializeElement(at: Int(next[bucket]), to: entry)
                next[bucket] += 1
            }
            count = found.count
        }
        self.shift = shift
        self.buckets = buckets
        self.entries = Self.sortingLargeBuckets(ordered, buckets, in: bytes)
    }

    private static func sortingLargeBuckets(_ ordered: [UInt64], _ buckets: [UInt32], in bytes: RawSpan) -> [UInt64] {
        var ordered = ordered
        for (start, end) in zip(buckets, buckets.dropFirst()) where end - start >= self.sorted {
            // The closure of a sort cannot borrow the bytes: the pointer is used within this call alone.
            bytes.withUnsafeBytes { buffer in
                ordered[Int(start)..<Int(end)].sort { left, right in
                    let bytes = buffer.bytes
                    let left = Self.serial(of: left, in: bytes)
                    return Self.order(left, in: bytes, Self.serial(of: right, in: bytes), in: bytes) < 0
                }
            }
        }
        return ordered
    }

    /// The position of the entry with a serial number in the list, or `nil`.
    ///
    /// - Parameters:
    ///   - serial: The content octets.
    ///   - bytes: The list that was indexed.
    func entry(with serial: some Collection<UInt8>, in bytes: RawSpan) -> Int? {
        serial.withContiguousStorageIfAvailable { self.entry(with: UnsafeRawBufferPointer($0).bytes, in: bytes) }
            ?? Array(serial).withUnsafeBytes { self.entry(with: $0.bytes, in: bytes) }
    }

    private func entry(with wanted: RawSpan, in bytes: RawSpan) -> Int? {
        let mix = Self.mix(0..<wanted.byteCount, in: wanted)
        let bucket = Int(mix >> self.shift)
        var range = Int(self.buckets[bucket])..<Int(self.buckets[bucket + 1])
        if range.count >= Self.sorted {
            while range.count > 1 {
                let middle = range.lowerBound + range.count / 2
                let serial = Self.serial(of: self.entries[middle], in: bytes)
                if Self.order(0..<wanted.byteCount, in: wanted, serial, in: bytes) < 0 {
                    range = range.lowerBound..<middle
                } else {
                    range = middle..<range.upperBound
                }
            }
        }
        for place in range {
            let entry = self.entries[place]
            if Self.mix(of: entry) == mix, Self.isEqual(Self.serial(of: entry, in: bytes), in: bytes, to: wanted) {
                return Self.position(of: entry)
            }
        }
        return nil
    }

    @inline(__always)
    private static func mix(of entry: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: entry >> 32) }

    @inline(__always)
    private static func position(of entry: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: entry)) }

    /// The serial number of an entry that was walked before.
    @inline(__always)
    private static func serial(of entry: UInt64, in bytes: RawSpan) -> Range<Int> {
        let start = Self.position(of: entry)
        var whole = ElementCursor(start..<bytes.byteCount)
        guard let contents = try? whole.element(in: bytes).contents else { return start..<start }
        var fields = ElementCursor(contents)
        return (try? fields.element(in: bytes).contents) ?? start..<start
    }

    /// Whether a serial number of the list is the wanted one: eight bytes at a time, and the last eight once more.
    @inline(__always)
    private static func isEqual(_ serial: Range<Int>, in bytes: RawSpan, to wanted: RawSpan) -> Bool {
        let count = serial.count
        guard count == wanted.byteCount else { return false }
        guard count >= 8 else { return self.order(serial, in: bytes, 0..<count, in: wanted) == 0 }
        func isEqual(at offset: Int) -> Bool {
            bytes.unsafeLoadUnaligned(fromByteOffset: serial.lowerBound &+ offset, as: UInt64.self)
                == wanted.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        var offset = 0
        while offset < count &- 8 {
            guard isEqual(at: offset) else { return false }
            offset &+= 8
        }
        return isEqual(at: count &- 8)
    }

    /// An order of serial numbers, by length, then byte by byte: negative when the left one comes first, 0 for equal ones.
    private static func order(_ left: Range<Int>, in leftBytes: RawSpan, _ right: Range<Int>, in rightBytes: RawSpan)
        -> Int
    {
        guard left.count == right.count else { return left.count - right.count }
        for offset in 0..<left.count {
            let left = leftBytes.unsafeLoad(fromByteOffset: left.lowerBound + offset, as: UInt8.self)
            let right = rightBytes.unsafeLoad(fromByteOffset: right.lowerBound + offset, as: UInt8.self)
            guard left == right else { return Int(left) - Int(right) }
        }
        return 0
    }

    /// A number of 32 bits that depends on the length, the first and the last eight bytes.
    @inline(__always)
    fileprivate static func mix(_ serial: Range<Int>, in bytes: RawSpan) -> UInt32 {
        // The golden ratio's fraction, and two odd numbers of SplitMix64's.
        var mix = UInt64(truncatingIfNeeded: serial.count) &* 0x9e37_79b9_7f4a_7c15
        if serial.count >= 8 {
            let first = bytes.unsafeLoadUnaligned(fromByteOffset: serial.lowerBound, as: UInt64.self)
            let last = bytes.unsafeLoadUnaligned(fromByteOffset: serial.upperBound &- 8, as: UInt64.self)
            mix = (mix ^ first) &* 0xbf58_476d_1ce4_e5b9
            mix = (mix ^ mix >> 29 ^ last) &* 0x94d0_49bb_1331_11eb
        } else {
            for position in serial {
                let byte = UInt64(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))
                mix = (mix ^ mix >> 29 ^ byte) &* 0xbf58_476d_1ce4_e5b9
            }
        }
        return UInt32(truncatingIfNeeded: (mix ^ mix >> 31) >> 32)
    }
}
#endif

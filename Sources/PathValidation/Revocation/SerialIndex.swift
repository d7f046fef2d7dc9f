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

    /// The positions of the entries in the list, bucket by bucket.
    private let entries: [UInt32]

    /// The mixes of the entries in the same order, but for those of a bucket that is sorted: most entries with another serial
    /// number differ here, so that the list itself is not looked at.
    private let mixes: [UInt32]

    /// The begin of each bucket in ``entries``, and the end of the last.
    private let buckets: [UInt32]

    /// The shift that gives the bucket of a mix.
    private let shift: UInt32

    /// The number of entries.
    var count: Int { self.entries.count }

    /// The memory of the index in bytes, with what is reserved.
    var reservedBytes: Int { 4 * (self.entries.capacity + self.mixes.capacity + self.buckets.capacity) }

    /// The entries that are gathered while a list is walked.
    struct Builder {
        fileprivate var entries: [UInt32] = []
        fileprivate var mixes: [UInt32] = []

        /// Begins with room for the entries of a list with so many bytes.
        init(bytes: Int) {
            self.entries.reserveCapacity(bytes / 32)
            self.mixes.reserveCapacity(bytes / 32)
        }

        /// Adds an entry.
        ///
        /// - Parameters:
        ///   - entry: The position of the entry; a list has at most 32 MiB.
        ///   - serial: Its serial number's contents.
        @inline(__always)
        mutating func add(_ entry: Int, serial: Range<Int>, in bytes: RawSpan) {
            self.entries.append(UInt32(truncatingIfNeeded: entry))
            self.mixes.append(SerialIndex.mix(serial, in: bytes))
        }
    }

    /// Puts the gathered entries into buckets.
    init(_ builder: consuming Builder, in bytes: RawSpan) {
        let found = builder.entries
        let mixes = builder.mixes
        let bits = max(0, Int.bitWidth - 2 - found.count.leadingZeroBitCount)
        let shift = UInt32(32 - bits)
        var buckets = [UInt32](repeating: 0, count: 1 << bits + 1)
        for mix in mixes { buckets[Int(mix >> shift) + 1] += 1 }
        for bucket in 1..<buckets.count { buckets[bucket] += buckets[bucket - 1] }
        var next = buckets
        var orderedMixes = mixes
        let ordered = [UInt32](unsafeUninitializedCapacity: found.count) { room, count in
            for (entry, mix) in zip(found, mixes) {
                let bucket = Int(mix >> shift)
                let place = Int(next[bucket])
                room.initializeElement(at: place, to: entry)
                orderedMixes[place] = mix
                next[bucket] += 1
            }
            count = found.count
        }
        self.mixes = orderedMixes
        self.shift = shift
        self.buckets = buckets
        self.entries = Self.sortingLargeBuckets(ordered, buckets, in: bytes)
    }

    private static func sortingLargeBuckets(_ ordered: [UInt32], _ buckets: [UInt32], in bytes: RawSpan) -> [UInt32] {
        var ordered = ordered
        for (start, end) in zip(buckets, buckets.dropFirst()) where end - start >= self.sorted {
            // The closure of a sort cannot borrow the bytes: the pointer is used within this call alone.
            bytes.withUnsafeBytes { buffer in
                ordered[Int(start)..<Int(end)].sort { left, right in
                    let left = buffer[Self.serial(of: Int(left), in: buffer.bytes)]
                    let right = buffer[Self.serial(of: Int(right), in: buffer.bytes)]
                    return Self.precedes(left, right)
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
        serial.withContiguousStorageIfAvailable { self.entry(with: UnsafeRawBufferPointer($0), in: bytes) }
            ?? Array(serial).withUnsafeBytes { self.entry(with: $0, in: bytes) }
    }

    private func entry(with wanted: UnsafeRawBufferPointer, in bytes: RawSpan) -> Int? {
        let mix = Self.mix(0..<wanted.count, in: wanted.bytes)
        let bucket = Int(mix >> self.shift)
        var range = Int(self.buckets[bucket])..<Int(self.buckets[bucket + 1])
        return bytes.withUnsafeBytes { buffer -> Int? in
            func serial(_ place: Int) -> Slice<UnsafeRawBufferPointer> {
                buffer[Self.serial(of: Int(self.entries[place]), in: buffer.bytes)]
            }
            if range.count >= Self.sorted {
                while range.count > 1 {
                    let middle = range.lowerBound + range.count / 2
                    if Self.precedes(wanted[...], serial(middle)) {
                        range = range.lowerBound..<middle
                    } else {
                        range = middle..<range.upperBound
                    }
                }
                return range.first { serial($0).elementsEqual(wanted) }.map { Int(self.entries[$0]) }
            }
            return range.first { self.mixes[$0] == mix && serial($0).elementsEqual(wanted) }
                .map { Int(self.entries[$0]) }
        }
    }

    /// The serial number of an entry that was walked before.
    private static func serial(of entry: Int, in bytes: RawSpan) -> Range<Int> {
        var whole = ElementCursor(entry..<bytes.byteCount)
        guard let contents = try? whole.element(in: bytes).contents else { return entry..<entry }
        var fields = ElementCursor(contents)
        return (try? fields.element(in: bytes).contents) ?? entry..<entry
    }

    /// An order of serial numbers: by length, then byte by byte.
    private static func precedes(_ left: Slice<UnsafeRawBufferPointer>, _ right: Slice<UnsafeRawBufferPointer>) -> Bool
    {
        left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
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

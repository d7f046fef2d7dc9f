// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// `DT_HASH`: how the loader finds a name in a file without `DT_GNU_HASH` (gABI, "Hash Table").
///
/// The counts of buckets and of symbols, the buckets, and for each symbol the next with the same bucket.
struct ELFOldHashTable: Sendable {
    private let start: UInt64
    private let bucketCount: UInt64

    /// How many symbols there are.
    let symbolCount: UInt64

    /// The table that the dynamic section names; `nil` where there is none, or it lies outside of the file.
    init?(dynamic: ELFDynamicSection, map: ELFAddressMap, file: ExecutableBytes) {
        guard let offset = dynamic[.hash].flatMap({ map.offset(of: $0, count: 8) }),
            let header = file.bytes(at: offset, count: 8), let buckets = header.littleEndian(UInt32.self, at: 0),
            let symbols = header.littleEndian(UInt32.self, at: 4), buckets > 0,
            (offset + 8).adding((UInt64(buckets) + UInt64(symbols)) * 4) != nil
        else { return nil }
        self.start = offset + 8
        self.bucketCount = UInt64(buckets)
        self.symbolCount = UInt64(symbols)
    }

    /// The hash of a name, of 28 bits.
    static func hash(_ name: [UInt8]) -> UInt32 {
        name.reduce(0) { hash, byte in
            let sum = hash << 4 &+ UInt32(byte)
            return (sum ^ (sum & 0xF000_0000) >> 24) & 0x0FFF_FFFF
        }
    }

    /// Indexes of the symbols that share the name's bucket.
    func candidates(_ name: [UInt8], _ window: inout ByteWindow) -> [UInt64] {
        var place = UInt64(Self.hash(name)) % self.bucketCount
        var found: [UInt64] = []
        while found.count < ImageLimits.hashChain,
            let next = window.littleEndian(UInt32.self, at: self.start + place * 4), next != 0, next < self.symbolCount
        {
            found.append(UInt64(next))
            place = self.bucketCount + UInt64(next)
        }
        return found
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// `DT_GNU_HASH`: how the loader finds a name among the exported symbols.
///
/// Four numbers (buckets, first symbol, words of the filter, shift), the filter, the buckets, and a chain of hashes for
/// each bucket, whose last has its lowest bit set. The filter is not used: it only saves time.
struct ELFHashTable: Sendable {
    private let file: ExecutableBytes
    private let bucketsOffset: UInt64
    private let bucketCount: UInt64
    private let chainsOffset: UInt64
    private let firstSymbol: UInt64

    /// The table that the dynamic section names; `nil` where there is none, or it lies outside of the file.
    init?(dynamic: ELFDynamicSection, map: ELFAddressMap, file: ExecutableBytes) {
        guard let offset = dynamic[.gnuHash].flatMap({ map.offset(of: $0, count: 16) }),
            let header = file.bytes(at: offset, count: 16), let buckets = header.littleEndian(UInt32.self, at: 0),
            let first = header.littleEndian(UInt32.self, at: 4), let words = header.littleEndian(UInt32.self, at: 8),
            buckets > 0, buckets <= ImageLimits.symbols, words <= ImageLimits.symbols,
            let filterEnd = (offset + 16).adding(UInt64(words) * 8), let chains = filterEnd.adding(UInt64(buckets) * 4)
        else { return nil }
        self.file = file
        self.bucketsOffset = filterEnd
        self.bucketCount = UInt64(buckets)
        self.chainsOffset = chains
        self.firstSymbol = UInt64(first)
    }

    /// The hash of a name: `h * 33 + byte` from 5381 on.
    static func hash(_ name: [UInt8]) -> UInt32 { name.reduce(5_381) { $0 &* 33 &+ UInt32($1) } }

    /// Indexes of the symbols whose name has the same hash, but for its lowest bit.
    func candidates(_ name: [UInt8], _ window: inout ByteWindow) -> [UInt64] {
        let hash = Self.hash(name)
        guard
            let bucket = window.littleEndian(
                UInt32.self, at: self.bucketsOffset + UInt64(hash) % self.bucketCount * 4), bucket >= self.firstSymbol
        else { return [] }
        var found: [UInt64] = []
        for step in 0..<UInt64(ImageLimits.hashChain) {
            let symbol = UInt64(bucket) + step
            guard let link = self.link(symbol, &window) else { break }
            if (link ^ hash) >> 1 == 0 { found.append(symbol) }
            if link & 1 == 1 || found.count == ImageLimits.definitions { break }
        }
        return found
    }

    /// How many symbols the table implies: to the end of the chain that begins last; 0 where nothing is exported.
    func countOfSymbols() -> UInt64 {
        var window = ByteWindow(self.file, size: ExecutableBytes.longestRead)
        var last: UInt64 = 0
        for index in 0..<self.bucketCount {
            guard let bucket = window.littleEndian(UInt32.self, at: self.bucketsOffset + index * 4) else { return 0 }
            last = max(last, UInt64(bucket))
        }
        guard last >= self.firstSymbol, last > 0 else { return 0 }
        while last < ImageLimits.symbols, let link = self.link(last, &window) {
            last += 1
            if link & 1 == 1 { break }
        }
        return last
    }

    private func link(_ symbol: UInt64, _ window: inout ByteWindow) -> UInt32? {
        guard let offset = self.chainsOffset.adding((symbol - self.firstSymbol) * 4) else { return nil }
        return window.littleEndian(UInt32.self, at: offset)
    }
}

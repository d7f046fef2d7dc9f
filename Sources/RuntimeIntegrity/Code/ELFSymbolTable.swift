// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A table of ELF symbols and the strings with their names (gABI, "Symbol Table"), read without storing it.
struct ELFSymbolTable: Sendable {
    /// Bytes of a symbol.
    static let entrySize: UInt64 = 24

    /// One entry.
    struct Entry: Sendable {
        /// The offset of its name in the strings.
        let name: UInt32
        /// Binding in the upper four bits, type in the lower four.
        let information: UInt8
        /// The section that it is defined in; 0 for an import.
        let section: UInt16
        /// The address; of an import 0, or that of its stub in a program.
        let value: UInt64
        /// The size in bytes.
        let size: UInt64

        /// `STB_WEAK`.
        var isWeak: Bool { self.information >> 4 == 2 }
        /// `STT_TLS`: the value is no address.
        var isThreadLocal: Bool { self.information & 0xF == 6 }
        /// The kind of the symbol.
        var kind: ImageSymbol.Kind {
            switch self.information & 0xF {
            case 2: .function
            case 10: .resolver
            default: .other
            }
        }
    }

    private let offset: UInt64
    private let stringsOffset: UInt64
    private let stringsCount: UInt64

    /// The number of entries.
    let count: Int

    /// The table that the loader uses; `nil` where there is none.
    ///
    /// Only the hash tables tell the number of its entries, or a section header, which loaders ignore.
    init?(
        dynamic: ELFDynamicSection, map: ELFAddressMap, file: ExecutableBytes, sections: (offset: UInt64, count: Int)
    ) throws(ImageError) {
        guard let symbols = dynamic[.symbols], let strings = dynamic[.strings], let count = dynamic[.stringsSize]
        else { return nil }
        guard let stringsOffset = map.offset(of: strings, count: count), let offset = map.offset(of: symbols, count: 0)
        else { throw ImageError(.truncated, "the dynamic symbols do not lie in the file") }
        var entries = UInt64(0)
        if let table = ELFOldHashTable(dynamic: dynamic, map: map, file: file) {
            entries = table.symbolCount
        } else if let table = ELFHashTable(dynamic: dynamic, map: map, file: file) {
            entries = table.countOfSymbols()
        }
        // DT_GNU_HASH leaves out imports, which come first: without exports it gives no number.
        let section = Self.section(type: 11, sections, file)
        if let section, section.offset == offset { entries = max(entries, section.count / Self.entrySize) }
        guard entries <= UInt64(ImageLimits.symbols) else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.symbols) symbols")
        }
        self.offset = offset
        self.stringsOffset = stringsOffset
        self.stringsCount = count
        self.count = Int(entries)
    }

    /// The table of all symbols (`SHT_SYMTAB`); `nil` where the file is stripped, or the table is not usable.
    init?(sections: (offset: UInt64, count: Int), of file: ExecutableBytes) {
        guard let table = Self.section(type: 2, sections, file), table.count / Self.entrySize <= ImageLimits.symbols,
            table.link < sections.count, let strings = Self.section(at: Int(table.link), sections, file),
            strings.type == 3, table.offset.adding(table.count) != nil, strings.offset.adding(strings.count) != nil
        else { return nil }
        self.offset = table.offset
        self.stringsOffset = strings.offset
        self.stringsCount = strings.count
        self.count = Int(table.count / Self.entrySize)
    }

    /// An entry; `nil` where it cannot be read. An index past ``count`` may be right: see `init`.
    func entry(_ index: UInt64, _ window: inout ByteWindow) -> Entry? {
        guard index < ImageLimits.symbols, let start = self.offset.adding(index * Self.entrySize),
            start.adding(Self.entrySize) != nil, let value = window.littleEndian(UInt64.self, at: start + 8),
            let name = window.littleEndian(UInt32.self, at: start),
            let information = window.littleEndian(UInt8.self, at: start + 4),
            let section = window.littleEndian(UInt16.self, at: start + 6),
            let size = window.littleEndian(UInt64.self, at: start + 16)
        else { return nil }
        return Entry(name: name, information: information, section: section, value: value, size: size)
    }

    /// A string; `nil` where there is none, or it is longer than ``ImageLimits/nameLength``.
    func string(at index: UInt64, _ window: inout ByteWindow) -> String? {
        guard index < self.stringsCount else { return nil }
        let maximum = min(self.stringsCount - index - 1, UInt64(ImageLimits.nameLength))
        return window.text(at: self.stringsOffset + index, maximum: Int(maximum))
    }

    /// The first byte of an entry's name; 0 for none.
    func firstByte(_ entry: Entry, _ window: inout ByteWindow) -> UInt8 {
        let index = UInt64(entry.name)
        return index < self.stringsCount ? window.littleEndian(UInt8.self, at: self.stringsOffset + index) ?? 0 : 0
    }

    /// Whether an entry's name is this one.
    func isNamed(_ name: [UInt8], _ entry: Entry, _ window: inout ByteWindow) -> Bool {
        let index = UInt64(entry.name)
        guard index < self.stringsCount, UInt64(name.count) < self.stringsCount - index else { return false }
        return window.isText(name, at: self.stringsOffset + index)
    }

    /// Iterates over all entries.
    func forEach(in file: ExecutableBytes, _ body: (Entry) -> Void) {
        var window = ByteWindow(file, size: ExecutableBytes.maximumReadLength)
        for index in 0..<self.count {
            guard let entry = self.entry(UInt64(index), &window) else { return }
            body(entry)
        }
    }

    private typealias Section = (type: UInt32, offset: UInt64, count: UInt64, link: UInt32)

    /// The first section of a type.
    private static func section(
        type: UInt32, _ sections: (offset: UInt64, count: Int), _ file: ExecutableBytes
    ) -> Section? {
        for index in 0..<sections.count {
            guard let section = self.section(at: index, sections, file) else { return nil }
            if section.type == type { return section }
        }
        return nil
    }

    private static func section(
        at index: Int, _ sections: (offset: UInt64, count: Int), _ file: ExecutableBytes
    ) -> Section? {
        guard let start = sections.offset.adding(UInt64(index) * 64), let header = file.bytes(at: start, count: 64),
            let type = header.littleEndian(UInt32.self, at: 4), let offset = header.littleEndian(UInt64.self, at: 24),
            let count = header.littleEndian(UInt64.self, at: 32), let link = header.littleEndian(UInt32.self, at: 40)
        else { return nil }
        return (type, offset, count, link)
    }
}

/// `DT_GNU_HASH`: the hash table in which the loader finds a name among the exported symbols.
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

    /// The number of symbols that the table implies: to the end of the last chain; 0 without exports.
    func countOfSymbols() -> UInt64 {
        var window = ByteWindow(self.file, size: ExecutableBytes.maximumReadLength)
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

/// `DT_HASH`: the hash table of a file without `DT_GNU_HASH` (gABI, "Hash Table").
///
/// The counts of buckets and of symbols, the buckets, and for each symbol the next with the same bucket.
struct ELFOldHashTable: Sendable {
    private let start: UInt64
    private let bucketCount: UInt64

    /// The number of symbols.
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

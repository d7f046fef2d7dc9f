// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A table of ELF symbols and the strings with their names (gABI, "Symbol Table"), read in passing.
struct ELFSymbolTable: Sendable {
    /// Bytes of a symbol.
    static let entrySize: UInt64 = 24

    /// One entry.
    struct Entry: Sendable {
        /// Where in the strings its name stands.
        let name: UInt32
        /// Binding in the upper four bits, type in the lower four.
        let information: UInt8
        /// The section that it is defined in; 0 for an import.
        let section: UInt16
        /// The address; of an import 0, or that of the code that stands for it in a program.
        let value: UInt64
        /// In bytes.
        let size: UInt64

        /// `STB_WEAK`.
        var isWeak: Bool { self.information >> 4 == 2 }
        /// `STT_TLS`: the value is no address.
        var isThreadLocal: Bool { self.information & 0xF == 6 }
        /// What it names.
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

    /// How many entries.
    let count: Int

    /// The table that the loader uses; `nil` where there is none.
    ///
    /// Nothing says how many entries it has but the hash tables, or, for who only looks, a section header.
    init?(
        dynamic: ELFDynamicSection, map: ELFAddressMap, file: ExecutableBytes, sections: (offset: UInt64, count: Int)
    ) throws(ImageRefusal) {
        guard let symbols = dynamic[.symbols], let strings = dynamic[.strings], let count = dynamic[.stringsSize]
        else { return nil }
        guard let stringsOffset = map.offset(of: strings, count: count), let offset = map.offset(of: symbols, count: 0)
        else { throw ImageRefusal(.truncated, "the dynamic symbols do not lie in the file") }
        var entries = UInt64(0)
        if let table = ELFOldHashTable(dynamic: dynamic, map: map, file: file) {
            entries = table.symbolCount
        } else if let table = ELFHashTable(dynamic: dynamic, map: map, file: file) {
            entries = table.countOfSymbols()
        }
        // DT_GNU_HASH leaves out imports, which come first: with nothing exported it says nothing.
        let section = Self.section(type: 11, sections, file)
        if let section, section.offset == offset { entries = max(entries, section.count / Self.entrySize) }
        guard entries <= UInt64(ImageLimits.symbols) else {
            throw ImageRefusal(.tooLarge, "more than \(ImageLimits.symbols) symbols")
        }
        self.offset = offset
        self.stringsOffset = stringsOffset
        self.stringsCount = count
        self.count = Int(entries)
    }

    /// The table of all symbols (`SHT_SYMTAB`); `nil` where the file is stripped, or it is not usable.
    init?(sections: (offset: UInt64, count: Int), of file: ExecutableBytes) {
        guard let table = Self.section(type: 2, sections, file), table.count / Self.entrySize <= ImageLimits.symbols,
            Int(table.link) < sections.count, let strings = Self.section(at: Int(table.link), sections, file),
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

    /// A string; `nil` where none begins there, or it is longer than ``ImageLimits/nameLength``.
    func string(at index: UInt64, _ window: inout ByteWindow) -> String? {
        guard index < self.stringsCount else { return nil }
        let most = min(self.stringsCount - index - 1, UInt64(ImageLimits.nameLength))
        return window.text(at: self.stringsOffset + index, most: Int(most))
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

    /// Goes through all entries.
    func forEach(in file: ExecutableBytes, _ body: (Entry) -> Void) {
        var window = ByteWindow(file, size: ExecutableBytes.longestRead)
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An ELF executable or shared object of x86-64 or arm64, as Linux loads it.
///
/// All parts are found as the loader finds them: by the program headers and the dynamic section. The section headers,
/// which a stripped file need not have, only add the names of functions that are not exported. Where the loader uses
/// addresses, offsets are ignored.
///
/// Not understood: 32 bits, big endian, more than ``ImageLimits/segments`` program headers, and the resolvers' slots of a
/// static program at a fixed place, which has no dynamic section.
struct ELFImage: ExecutableImage {
    /// The instruction set.
    let architecture: CodeArchitecture
    /// The file.
    let bytes: ExecutableBytes
    /// The mapped segments (`PT_LOAD`).
    let segments: [ImageSegment]
    /// The preferred address of the file's first byte.
    let base: UInt64
    /// The build identifier; empty where there is none.
    let identifier: [UInt8]
    /// Its name for images that need it (`DT_SONAME`).
    let ownName: String?
    /// The libraries that it needs (`DT_NEEDED`).
    let libraries: [String]
    /// The segments of code, extended to whole pages.
    let comparableCode: [ImageSegment]
    /// Code that the loader writes to, by address.
    let relocatedCode: [CodeRange]

    /// The exported and imported symbols; `nil` for a static program without them.
    let dynamicSymbols: ELFSymbolTable?
    /// All symbols; `nil` where the file is stripped.
    let allSymbols: ELFSymbolTable?
    /// The hash table of exported symbols; `nil` without `DT_GNU_HASH`.
    let hashTable: ELFHashTable?
    /// The same in a file of an older kind; `nil` without `DT_HASH`.
    let oldHashTable: ELFOldHashTable?
    /// Addresses that are not written to once the loader is done.
    let constants: [Range<UInt64>]
    /// The relocations.
    let relocations: ELFRelocationTables

    /// Reads the headers, and all relocations where some may touch code.
    ///
    /// - Throws: An error for a file of another format, a hostile or a damaged one.
    init(_ file: ExecutableBytes) throws(ImageError) {
        let header = try ELFHeader(file)
        let map = ELFAddressMap(header.segments)
        let dynamic = try Self.dynamicSection(header, map, file)
        let symbols = try ELFSymbolTable(dynamic: dynamic, map: map, file: file, sections: header.sections)

        self.architecture = header.architecture
        self.bytes = file
        self.segments = header.segments
        self.base = map.base
        self.constants = header.constants
        self.identifier = Self.buildIdentifier(header, file)
        self.dynamicSymbols = symbols
        self.allSymbols = ELFSymbolTable(sections: header.sections, of: file)
        self.hashTable = ELFHashTable(dynamic: dynamic, map: map, file: file)
        self.oldHashTable = ELFOldHashTable(dynamic: dynamic, map: map, file: file)
        self.relocations = try ELFRelocationTables(dynamic: dynamic, map: map, architecture: header.architecture)
        self.comparableCode = map.comparableCode

        var names = ByteWindow(file)
        self.ownName = dynamic[.ownName].flatMap { symbols?.string(at: $0, &names) }
        self.libraries = dynamic.needed.compactMap { symbols?.string(at: $0, &names) }

        // A loader writes to code only where the file says so, or where the code is mapped to be written to.
        let mayWrite = dynamic.hasTextRelocations || header.segments.contains { $0.isExecutable && $0.isWritable }
        self.relocatedCode = mayWrite ? try self.relocations.coveredCode(of: header.segments, file) : []
    }

    private static func dynamicSection(
        _ header: ELFHeader, _ map: ELFAddressMap, _ file: ExecutableBytes
    ) throws(ImageError) -> ELFDynamicSection {
        guard let range = header.dynamic else { return .none }
        let count = range.upperBound - range.lowerBound
        guard count <= UInt64(ImageLimits.dynamicEntries * 16) else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.dynamicEntries) entries of the dynamic section")
        }
        // A program with debugging data alone has the header but not the bytes.
        guard let offset = map.offset(of: range.lowerBound, count: count),
            let bytes = file.bytes(at: offset, count: Int(count))
        else { throw ImageError(.truncated, "the dynamic section does not lie in the file") }
        return try ELFDynamicSection(bytes)
    }

    /// The note of type 3 by "GNU" (`NT_GNU_BUILD_ID`).
    private static func buildIdentifier(_ header: ELFHeader, _ file: ExecutableBytes) -> [UInt8] {
        for note in header.notes {
            let maximum = Int(min(note.count, UInt64(ImageLimits.noteBytes)))
            guard let bytes = file.prefix(at: note.offset, maximum: maximum) else { continue }
            var index = 0
            while let nameSize = bytes.littleEndian(UInt32.self, at: index),
                let size = bytes.littleEndian(UInt32.self, at: index + 4),
                let type = bytes.littleEndian(UInt32.self, at: index + 8), nameSize < bytes.count, size < bytes.count
            {
                let name = index + 12
                let value = name + (Int(nameSize) + 3) & ~3
                let end = value + Int(size)
                guard end <= bytes.count else { break }
                if type == 3, bytes[name..<name + Int(nameSize)].elementsEqual([0x47, 0x4E, 0x55, 0]) {
                    return Array(bytes[value..<end])
                }
                index = (end + 3) & ~3
            }
        }
        return []
    }
}

/// The names and addresses of an ELF file, by its symbol tables.
extension ELFImage {
    /// As the loader finds them: without a hash table it finds none.
    func definitions(of name: String) -> [ImageSymbol] {
        guard let table = self.dynamicSymbols else { return [] }
        let text = Array(name.utf8)
        // A small window, because a look-up jumps between the tables.
        var window = ByteWindow(self.bytes, size: 64)
        let candidates =
            self.hashTable?.candidates(text, &window) ?? self.oldHashTable?.candidates(text, &window) ?? []
        var found: [ImageSymbol] = []
        for index in candidates where found.count < ImageLimits.definitions {
            guard let entry = table.entry(index, &window), Self.isDefinition(entry),
                table.isNamed(text, entry, &window)
            else { continue }
            found.append(Self.symbol(entry, name))
        }
        return found
    }

    /// By the exported symbols, and missing ones by all symbols.
    func functions(named names: Set<String>) -> [String: [ImageSymbol]] {
        var found: [String: [ImageSymbol]] = [:]
        for name in names {
            let functions = self.definitions(of: name).filter { $0.kind != .other }
            if !functions.isEmpty { found[name] = functions }
        }
        let missing = names.filter { found[$0] == nil }
        guard !missing.isEmpty, let table = self.allSymbols else { return found }
        // A program has 100,000 functions: their names are compared in place, by the first byte first.
        let wanted = missing.map { (name: $0, bytes: Array($0.utf8)) }
        var begins = [Bool](repeating: false, count: 256)
        for one in wanted { begins[Int(one.bytes.first ?? 0)] = true }
        var strings = ByteWindow(self.bytes, size: ExecutableBytes.maximumReadLength)
        table.forEach(in: self.bytes) { entry in
            guard Self.isDefinition(entry), entry.kind != .other else { return }
            let first = table.firstByte(entry, &strings)
            guard begins[Int(first)] else { return }
            for one in wanted where (one.bytes.first ?? 0) == first && table.isNamed(one.bytes, entry, &strings) {
                guard found[one.name, default: []].count < ImageLimits.definitions else { return }
                found[one.name, default: []].append(Self.symbol(entry, one.name))
            }
        }
        return found
    }

    /// The smallest symbol around each address, of either table.
    func symbols(at addresses: Set<UInt64>) -> [UInt64: ImageSymbol] {
        guard !addresses.isEmpty else { return [:] }
        var best: [UInt64: (table: ELFSymbolTable, entry: ELFSymbolTable.Entry)] = [:]
        for table in [self.dynamicSymbols, self.allSymbols].compactMap({ $0 }) {
            table.forEach(in: self.bytes) { entry in
                guard Self.isDefinition(entry), entry.information & 0xF <= 2 || entry.kind == .resolver else { return }
                for address in addresses
                where address >= entry.value && address - entry.value < max(entry.size, 1) {
                    // The first name of the smallest symbol: some tables have one around others.
                    if let held = best[address]?.entry, held.size <= entry.size { continue }
                    best[address] = (table, entry)
                }
            }
        }
        var strings = ByteWindow(self.bytes)
        return best.compactMapValues { table, entry in
            table.string(at: UInt64(entry.name), &strings).map { Self.symbol(entry, $0) }
        }
    }

    /// Whether other images find a symbol, as the loader does.
    ///
    /// A program's own stub for an imported function has an address and no section, and counts.
    private static func isDefinition(_ entry: ELFSymbolTable.Entry) -> Bool {
        entry.value != 0 && !entry.isThreadLocal
    }

    private static func symbol(_ entry: ELFSymbolTable.Entry, _ name: String) -> ImageSymbol {
        ImageSymbol(name: name, address: entry.value, size: entry.size, kind: entry.kind)
    }
}

/// The slots of an ELF image: relocations that write the address of a name, or of a resolver's answer, into its data.
extension ELFImage {
    /// Iterates over the tables in the loader's order: those of data first, then those of calls.
    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageError) {
        // Small windows, with a larger one for names: both are read out of order.
        var entries = ByteWindow(self.bytes, size: 64)
        var strings = ByteWindow(self.bytes, size: 512)
        var contents = ByteWindow(self.bytes)
        try self.relocations.forEach(self.bytes, passesOverRelative: true) { relocation in
            let kind: ImportSlot.Kind
            switch relocation.kind {
            case .call: kind = .call
            case .pointer, .data: kind = .pointer
            case .resolved:
                return body(
                    ImportSlot(
                        address: relocation.address, kind: .resolved, symbol: nil, addend: 0, isWeak: false,
                        ownAddress: nil, unboundAddress: nil, isSigned: false, isVariable: false))
            case .relative, .other: return true
            }
            // Without a symbol it is an address of the image; a thread-local one is no address.
            guard relocation.symbol != 0, let table = self.dynamicSymbols,
                let entry = table.entry(UInt64(relocation.symbol), &entries), !entry.isThreadLocal
            else { return true }
            // A library's calls of its own functions are most of them.
            if entry.value != 0, relocation.addend == 0, isRight(relocation.address, entry.value) { return true }
            guard let name = table.string(at: UInt64(entry.name), &strings) else { return true }
            var content: UInt64?
            if kind == .call || relocation.addend == nil {
                content = self.offset(of: relocation.address).flatMap { contents.littleEndian(UInt64.self, at: $0) }
            }
            return body(
                ImportSlot(
                    address: relocation.address, kind: kind, symbol: name,
                    addend: relocation.addend ?? (kind == .call ? 0 : Int64(bitPattern: content ?? 0)),
                    isWeak: entry.isWeak, ownAddress: entry.value == 0 ? nil : entry.value,
                    unboundAddress: kind == .call ? content : nil, isSigned: false,
                    isVariable: relocation.kind == .data && self.isVariable(relocation.address)))
        }
    }

    /// Whether the program itself may write to an address.
    private func isVariable(_ address: UInt64) -> Bool {
        !self.constants.contains { $0.contains(address) }
            && self.segments.contains { $0.isWritable && $0.addresses.contains(address) }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A 64-bit Mach-O program or library of x86-64 or arm64, as Apple's systems load it.
///
/// The names of symbols have the underscore that C's names get there.
///
/// Not understood: code that an old linker asked the loader to write to (`__TEXT` of x86 with local relocations), the
/// threaded pointers of the first arm64e linkers, compressed names of chained fixups. Code that is encrypted in the
/// file (programs from the App Store) cannot be compared, nor can libraries of the system's shared cache, which have no
/// file.
struct MachOImage: ExecutableImage {
    /// The instruction set.
    let architecture: CodeArchitecture
    /// The file, or the slice of a fat file.
    let bytes: ExecutableBytes
    /// The mapped segments (`LC_SEGMENT_64`).
    let segments: [ImageSegment]
    /// The preferred address of the file's first byte.
    let base: UInt64
    /// The UUID; empty where there is none.
    let identifier: [UInt8]
    /// Its name for images that need it (`LC_ID_DYLIB`).
    let ownName: String?
    /// The libraries that it needs (`LC_LOAD_DYLIB`).
    let libraries: [String]
    /// The libraries whose names it re-exports (`LC_REEXPORT_DYLIB`).
    var reexports: [String] { self.header.reexported.sorted().map { self.libraries[$0] } }
    /// The segments of code, without what is encrypted in the file.
    let comparableCode: [ImageSegment]
    /// Code that the loader writes to, by address: empty, because it is empty, because it is not looked for.
    let relocatedCode: [CodeRange] = []

    /// The header with the load commands.
    let header: MachOHeader

    /// Reads the headers of a file, thin or fat.
    ///
    /// - Throws: An error for a file of another format, a hostile or a damaged one.
    init(_ file: ExecutableBytes, architecture: CodeArchitecture) throws(ImageError) {
        let slice = try MachOSlice.bytes(of: file, for: architecture)
        let header = try MachOHeader(slice, for: architecture)
        let mapped = header.segments.filter(\.isMapped).map(\.segment)
        self.architecture = architecture
        self.bytes = slice
        self.header = header
        self.segments = mapped
        // The segment that begins with the header.
        let first = mapped.first { $0.fileOffset == 0 && $0.fileSize > 0 } ?? mapped.first
        self.base = first?.address ?? 0
        self.identifier = header.identifier
        self.ownName = header.ownName
        self.libraries = header.libraries
        self.comparableCode = mapped.filter { $0.isExecutable && $0.fileSize > 0 }
            .flatMap { Self.pieces(of: $0, without: header.encrypted) }
    }

    /// The parts of a segment's file before and after the encrypted one.
    private static func pieces(of segment: ImageSegment, without encrypted: MachOHeader.Part?) -> [ImageSegment] {
        let whole = segment.fileOffset..<segment.fileOffset + segment.fileSize
        var parts = [whole]
        if let encrypted {
            let hidden = (encrypted.offset..<encrypted.offset + encrypted.count).clamped(to: whole)
            if !hidden.isEmpty {
                parts = [whole.lowerBound..<hidden.lowerBound, hidden.upperBound..<whole.upperBound]
            }
        }
        return parts.filter { !$0.isEmpty }.map { part in
            let count = part.upperBound - part.lowerBound
            return ImageSegment(
                address: segment.address + (part.lowerBound - segment.fileOffset), memorySize: count,
                fileOffset: part.lowerBound, fileSize: count, isExecutable: true, isWritable: segment.isWritable)
        }
    }
}

/// The names and addresses of a Mach-O file, by its exported names and its symbol table.
extension MachOImage {
    /// One entry of the symbol table (`nlist_64`).
    private struct Entry {
        let name: UInt32
        let type: UInt8
        let description: UInt16
        let value: UInt64

        /// Defined in a section, and no note for a debugger.
        var isDefinition: Bool { self.type & 0xE0 == 0 && self.type & 0x0E == 0x0E }
        /// Whether other images see it.
        var isExternal: Bool { self.type & 1 != 0 }
        var isResolver: Bool { self.description & 0x100 != 0 }
    }

    /// By the export trie; in an old file by all symbols, up to ``ImageLimits/unindexedSymbols``.
    func definitions(of name: String) -> [ImageSymbol] {
        if let part = self.header.exports, part.count > 0 {
            guard let (offset, kind) = MachOExports(self.bytes, part).find(name) else { return [] }
            return [ImageSymbol(name: name, address: self.base &+ offset, size: 0, kind: kind)]
        }
        // Without the trie every search reads all symbols.
        guard self.header.symbols?.count ?? 0 <= ImageLimits.unindexedSymbols else { return [] }
        return self.entries(named: [name]) { $0.isExternal }[name] ?? []
    }

    /// By all symbols, and missing ones by the exported names.
    func functions(named names: Set<String>) -> [String: [ImageSymbol]] {
        var found = self.entries(named: names) { _ in true }
        for name in names where found[name] == nil {
            let exported = self.definitions(of: name)
            if !exported.isEmpty { found[name] = exported }
        }
        return found.compactMapValues { symbols in
            let functions = symbols.filter { self.isCode($0.address) }
            return functions.isEmpty ? nil : functions
        }
    }

    /// The last symbol at or before each address, in the same segment: the format has no sizes.
    func symbols(at addresses: Set<UInt64>) -> [UInt64: ImageSymbol] {
        let places = addresses.compactMap { address in
            self.segments.first { $0.addresses.contains(address) }.map { (address, $0.address) }
        }
        var best: [UInt64: Entry] = [:]
        self.forEach { entry in
            guard entry.isDefinition else { return }
            for (address, start) in places where entry.value >= start && entry.value <= address {
                if let held = best[address], held.value >= entry.value { continue }
                best[address] = entry
            }
        }
        var strings = ByteWindow(self.bytes)
        return best.compactMapValues { entry in
            self.name(entry, &strings).map {
                ImageSymbol(name: $0, address: entry.value, size: 0, kind: entry.isResolver ? .resolver : .function)
            }
        }
    }

    private func entries(named names: Set<String>, where isWanted: (Entry) -> Bool) -> [String: [ImageSymbol]] {
        var found: [String: [ImageSymbol]] = [:]
        var strings = ByteWindow(self.bytes)
        self.forEach { entry in
            guard entry.isDefinition, isWanted(entry), let name = self.name(entry, &strings), names.contains(name),
                found[name, default: []].count < ImageLimits.definitions
            else { return }
            let kind: ImageSymbol.Kind =
                entry.isResolver ? .resolver : self.isCode(entry.value) ? .function : .other
            found[name, default: []].append(ImageSymbol(name: name, address: entry.value, size: 0, kind: kind))
        }
        return found
    }

    private func name(_ entry: Entry, _ strings: inout ByteWindow) -> String? {
        guard let part = self.header.symbols?.strings, UInt64(entry.name) < part.count else { return nil }
        let maximum = min(part.count - UInt64(entry.name) - 1, UInt64(ImageLimits.nameLength))
        return strings.text(at: part.offset + UInt64(entry.name), maximum: Int(maximum))
    }

    private func forEach(_ body: (Entry) -> Void) {
        guard let table = self.header.symbols else { return }
        var window = ByteWindow(self.bytes, size: ExecutableBytes.maximumReadLength)
        for index in 0..<UInt64(table.count) {
            let start = table.offset + index * 16
            guard let value = window.littleEndian(UInt64.self, at: start + 8),
                let name = window.littleEndian(UInt32.self, at: start),
                let type = window.littleEndian(UInt8.self, at: start + 4),
                let description = window.littleEndian(UInt16.self, at: start + 6)
            else { return }
            body(Entry(name: name, type: type, description: description, value: value))
        }
    }
}

/// The slots of a Mach-O image: pointers that are bound to names, as either generation of linkers describes them.
extension MachOImage {
    /// Iterates over the chains, or runs the bind programs in the loader's order.
    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageError) {
        if let part = self.header.chainedFixups {
            var fixups = MachOChainedFixups(self, part)
            return try fixups.forEach(body)
        }
        // Names of which several images may have the one that counts (C++) are bound twice: from a library, then from the
        // first image that has them. Where there are some, no library that is named counts.
        let isWithoutWeak = self.header.binds.dropFirst().first.map { $0.count == 0 } ?? true
        for (index, part) in self.header.binds.enumerated() {
            var program = MachOBindProgram(self, part, isLazy: index == 2, namesLibraries: isWithoutWeak)
            guard try program.run(body) else { return }
        }
    }
}

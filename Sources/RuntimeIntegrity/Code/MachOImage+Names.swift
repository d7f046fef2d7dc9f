// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Names and addresses of a Mach-O file, by its exported names and its symbol table.
extension MachOImage {
    /// One entry of the symbol table (`nlist_64`).
    private struct Entry {
        let name: UInt32
        let type: UInt8
        let description: UInt16
        let value: UInt64

        /// Defined in a section, and no note for a debugger.
        var isDefinition: Bool { self.type & 0xE0 == 0 && self.type & 0x0E == 0x0E }
        /// Seen by other images.
        var isExternal: Bool { self.type & 1 != 0 }
        var isResolver: Bool { self.description & 0x100 != 0 }
    }

    /// By the tree of exported names; in an old file by all symbols, up to ``ImageLimits/unindexedSymbols``.
    func definitions(of name: String) -> [ImageSymbol] {
        if let part = self.header.exports, part.count > 0 {
            guard let (offset, kind) = MachOExports(self.bytes, part).find(name) else { return [] }
            return [ImageSymbol(name: name, address: self.base &+ offset, size: 0, kind: kind)]
        }
        // Without the tree every search goes through all symbols.
        guard self.header.symbols?.count ?? 0 <= ImageLimits.unindexedSymbols else { return [] }
        return self.entries(named: [name]) { $0.isExternal }[name] ?? []
    }

    /// By all symbols, and what is missing by the exported names.
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
        let most = min(part.count - UInt64(entry.name) - 1, UInt64(ImageLimits.nameLength))
        return strings.text(at: part.offset + UInt64(entry.name), most: Int(most))
    }

    private func forEach(_ body: (Entry) -> Void) {
        guard let table = self.header.symbols else { return }
        var window = ByteWindow(self.bytes, size: ExecutableBytes.longestRead)
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

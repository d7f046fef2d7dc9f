// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Names and addresses of an ELF file, by its symbol tables.
extension ELFImage {
    /// As the loader finds them: without a hash table it finds none.
    func definitions(of name: String) -> [ImageSymbol] {
        guard let table = self.dynamicSymbols else { return [] }
        let text = Array(name.utf8)
        // Small: a look-up jumps between the tables.
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

    /// By the exported symbols, and what is missing by all symbols.
    func functions(named names: Set<String>) -> [String: [ImageSymbol]] {
        var found: [String: [ImageSymbol]] = [:]
        for name in names {
            let functions = self.definitions(of: name).filter { $0.kind != .other }
            if !functions.isEmpty { found[name] = functions }
        }
        let missing = names.filter { found[$0] == nil }
        guard !missing.isEmpty, let table = self.allSymbols else { return found }
        // A program has 100,000 functions: their names are compared where they stand, by the first byte first.
        let wanted = missing.map { (name: $0, bytes: Array($0.utf8)) }
        var begins = [Bool](repeating: false, count: 256)
        for one in wanted { begins[Int(one.bytes.first ?? 0)] = true }
        var strings = ByteWindow(self.bytes, size: ExecutableBytes.longestRead)
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

    /// Whether a symbol is one that others find, as the loader sees it.
    ///
    /// A program's own stand-in for an imported function has an address and no section, and counts.
    private static func isDefinition(_ entry: ELFSymbolTable.Entry) -> Bool {
        entry.value != 0 && !entry.isThreadLocal
    }

    private static func symbol(_ entry: ELFSymbolTable.Entry, _ name: String) -> ImageSymbol {
        ImageSymbol(name: name, address: entry.value, size: entry.size, kind: entry.kind)
    }
}

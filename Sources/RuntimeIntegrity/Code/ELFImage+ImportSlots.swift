// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The slots of an ELF image: relocations that put the address of a name, or of a resolver's answer, into its data.
extension ELFImage {
    /// Goes through the tables in the order that the loader has: those of data first, then those of calls.
    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageRefusal) {
        // Small, and names longer: both are jumped about in.
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
            // Without a symbol it is an address of the image; a thread-local one is none at all.
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

    /// Whether the program may write to an address of its own accord.
    private func isVariable(_ address: UInt64) -> Bool {
        !self.constants.contains { $0.contains(address) }
            && self.segments.contains { $0.isWritable && $0.addresses.contains(address) }
    }
}

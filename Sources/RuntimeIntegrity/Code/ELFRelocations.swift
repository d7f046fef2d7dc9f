// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The relocation tables of an ELF image, read without storing them: `DT_REL`, `DT_RELA`, `DT_JMPREL`, `DT_RELR`.
struct ELFRelocationTables: Sendable {
    /// A table: its offset, its length in bytes, and whether its entries have an addend.
    private struct Table: Sendable {
        let offset: UInt64
        let count: UInt64
        let hasAddends: Bool
        /// The number of first entries that the loader treats as `RELATIVE`, without looking at their type.
        var relative: UInt64 = 0

        var entrySize: UInt64 { self.hasAddends ? 24 : 16 }
    }

    private let architecture: CodeArchitecture
    private let tables: [Table]
    private let relative: Table?

    /// Finds the tables.
    init(dynamic: ELFDynamicSection, map: ELFAddressMap, architecture: CodeArchitecture) throws(ImageError) {
        func table(
            _ address: ELFDynamicSection.Tag, _ size: ELFDynamicSection.Tag, hasAddends: Bool
        ) throws(ImageError) -> Table? {
            guard let start = dynamic[address], let count = dynamic[size], count > 0 else { return nil }
            guard let offset = map.offset(of: start, count: count) else {
                throw ImageError(.truncated, "relocations do not lie in the file")
            }
            guard count / 8 <= UInt64(ImageLimits.relocations) * 3 else {
                throw ImageError(.tooLarge, "more than \(ImageLimits.relocations) relocations")
            }
            return Table(offset: offset, count: count, hasAddends: hasAddends)
        }
        // DT_PLTREL says of which kind DT_JMPREL is; 7 is DT_RELA.
        let plt = try table(
            .pltRelocations, .pltRelocationsSize, hasAddends: dynamic[.pltRelocationsKind].map { $0 == 7 } ?? true)
        var addend = try table(.addendRelocations, .addendRelocationsSize, hasAddends: true)
        addend?.relative = dynamic[.relativeCount] ?? 0
        let plain = try table(.relocations, .relocationsSize, hasAddends: false)
        self.tables = [addend, plain, plt].compactMap { $0 }
        self.relative = try table(.relativeRelocations, .relativeRelocationsSize, hasAddends: false)
        self.architecture = architecture
    }

    /// Iterates over all relocations with a type, until `body` returns `false`.
    ///
    /// - Parameter passesOverRelative: Skips the entries that the file counts as `RELATIVE`: nearly all of a program.
    func forEach(
        _ file: ExecutableBytes, passesOverRelative: Bool = false, _ body: (ELFRelocation) -> Bool
    ) throws(ImageError) {
        for table in self.tables {
            var window = ByteWindow(file, size: ExecutableBytes.maximumReadLength)
            let entries = table.count / table.entrySize
            for index in (passesOverRelative ? min(table.relative, entries) : 0)..<entries {
                let offset = table.offset + index * table.entrySize
                guard let address = window.littleEndian(UInt64.self, at: offset),
                    let information = window.littleEndian(UInt64.self, at: offset + 8)
                else { throw ImageError(.truncated, "relocations cannot be read") }
                var addend: Int64?
                if table.hasAddends {
                    addend = window.littleEndian(Int64.self, at: offset + 16)
                    guard addend != nil else { throw ImageError(.truncated, "relocations cannot be read") }
                }
                let relocation = ELFRelocation(
                    address: address, type: UInt32(truncatingIfNeeded: information),
                    symbol: UInt32(truncatingIfNeeded: information >> 32), addend: addend,
                    architecture: self.architecture)
                guard body(relocation) else { return }
            }
        }
    }

    /// Iterates over the addresses of `DT_RELR`, where the bias is added to 8 bytes, until `body` returns `false`.
    ///
    /// An even word is an address. An odd one is a bitmap of the next 63 words.
    func forEachRelative(_ file: ExecutableBytes, _ body: (UInt64) -> Bool) throws(ImageError) {
        guard let table = self.relative else { return }
        var window = ByteWindow(file, size: ExecutableBytes.maximumReadLength)
        var next: UInt64 = 0
        var seen = 0
        for index in 0..<table.count / 8 {
            guard let word = window.littleEndian(UInt64.self, at: table.offset + index * 8) else {
                throw ImageError(.truncated, "packed relocations cannot be read")
            }
            if word & 1 == 0 {
                seen += 1
                guard body(word) else { return }
                next = word &+ 8
            } else {
                for bit in 0..<UInt64(63) where (word >> (bit + 1)) & 1 == 1 {
                    seen += 1
                    guard body(next &+ bit * 8) else { return }
                }
                next = next &+ 63 * 8
            }
            guard seen <= ImageLimits.relocations else {
                throw ImageError(.tooLarge, "more than \(ImageLimits.relocations) packed relocations")
            }
        }
    }

    /// The bytes of code that the loader writes to, by address, without overlaps.
    func coveredCode(
        of segments: [ImageSegment], _ file: ExecutableBytes
    ) throws(ImageError) -> [CodeRange] {
        let code = segments.filter(\.isExecutable)
        var covered: [CodeRange] = []
        /// - Returns: Whether there may be more.
        func cover(_ address: UInt64, _ width: Int) -> Bool {
            guard width > 0, let end = address.adding(UInt64(width)),
                code.contains(where: { $0.addresses.overlaps(address..<end) })
            else { return true }
            covered.append(CodeRange(address: address, count: width))
            return covered.count <= ImageLimits.codeRelocations
        }
        try self.forEach(file) { cover($0.address, $0.width(self.architecture)) }
        try self.forEachRelative(file) { cover($0, 8) }
        guard covered.count <= ImageLimits.codeRelocations else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.codeRelocations) relocations in code")
        }
        covered.sort { $0.address < $1.address }
        return CodeRange.joined(covered)
    }
}

/// A relocation (gABI, "Relocation"; the processor supplements for the types).
struct ELFRelocation: Hashable, Sendable {
    /// The kind of the written value, as far as it matters here.
    enum Kind: Hashable, Sendable {
        /// The address of a function, perhaps only at the first call (`JUMP_SLOT`).
        case call
        /// The address of a name, in the linker's own table (`GLOB_DAT`).
        case pointer
        /// The address of a name plus an addend, in the program's data (`R_X86_64_64`, `R_AARCH64_ABS64`).
        case data
        /// An address of this very image (`RELATIVE`).
        case relative
        /// The answer of a resolver of this very image (`IRELATIVE`).
        case resolved
        /// Any other value.
        case other
    }

    /// The written address, without the bias.
    let address: UInt64
    /// The number of its type; that of `RELATIVE` for one of `DT_RELR`.
    let type: UInt32
    /// The kind of the written value.
    let kind: Kind
    /// The index of its symbol; 0 for none.
    let symbol: UInt32
    /// The addend; `nil` where it is at the address.
    let addend: Int64?

    /// Reads a type's number.
    init(address: UInt64, type: UInt32, symbol: UInt32, addend: Int64?, architecture: CodeArchitecture) {
        self.address = address
        self.type = type
        self.symbol = symbol
        self.addend = addend
        self.kind =
            switch (architecture, type) {
            case (.x86, 7), (.arm64, 1_026): .call
            case (.x86, 6), (.arm64, 1_025): .pointer
            case (.x86, 1), (.arm64, 257): .data
            case (.x86, 8), (.x86, 38), (.arm64, 1_027): .relative
            case (.x86, 37), (.arm64, 1_032): .resolved
            default: .other
            }
    }

    /// The number of bytes that it covers; 8 where the type is not known.
    ///
    /// That of a copy (`COPY`) is the size of its symbol, and is never in code: it counts as 8.
    func width(_ architecture: CodeArchitecture) -> Int {
        switch (architecture, self.type) {
        case (.x86, 0), (.arm64, 0): 0
        // 32 bits, and relative to the instruction.
        case (.x86, 2), (.x86, 10), (.x86, 11), (.x86, 32), (.arm64, 258), (.arm64, 261): 4
        case (.x86, 12), (.x86, 13), (.arm64, 259), (.arm64, 262): 2
        case (.x86, 14), (.x86, 15): 1
        // A descriptor of thread-local storage is two pointers.
        case (.x86, 36), (.arm64, 1_031): 16
        default: 8
        }
    }
}

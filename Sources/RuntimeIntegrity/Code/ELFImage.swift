// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An ELF executable or shared object of x86-64 or arm64, as Linux loads it.
///
/// Everything is found the way the loader finds it: by the program headers and the dynamic section. The section headers,
/// which a stripped file need not have, only add the names of functions that are not exported. Offsets are not believed
/// where the loader goes by addresses.
///
/// Not understood: 32 bits, big endian, more than ``ImageLimits/segments`` program headers, and the resolvers' slots of a
/// static program at a fixed place, which has no dynamic section.
struct ELFImage: ExecutableImage {
    /// What its code is written in.
    let architecture: CodeArchitecture
    /// The file.
    let bytes: ExecutableBytes
    /// What is mapped (`PT_LOAD`).
    let segments: [ImageSegment]
    /// Where the mapping of the file's first byte wants to lie.
    let base: UInt64
    /// The build identifier; empty where there is none.
    let identifier: [UInt8]
    /// What it is called by who needs it (`DT_SONAME`).
    let ownName: String?
    /// What it needs (`DT_NEEDED`).
    let libraries: [String]
    /// The segments of code, extended to whole pages.
    let comparableCode: [ImageSegment]
    /// Code that the loader writes to, by address.
    let relocatedCode: [CodeRange]

    /// The exported and imported symbols; `nil` for a static program without them.
    let dynamicSymbols: ELFSymbolTable?
    /// All symbols; `nil` where the file is stripped.
    let allSymbols: ELFSymbolTable?
    /// How exported symbols are found by name; `nil` without `DT_GNU_HASH`.
    let hashTable: ELFHashTable?
    /// The same in a file of an older kind; `nil` without `DT_HASH`.
    let oldHashTable: ELFOldHashTable?
    /// Addresses that nobody writes to once the loader is done.
    let constants: [Range<UInt64>]
    /// What the loader writes.
    let relocations: ELFRelocationTables

    /// Reads the headers, and all relocations where some may touch code.
    ///
    /// - Throws: When the file is another one, hostile, or damaged.
    init(_ file: ExecutableBytes) throws(ImageRefusal) {
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
    ) throws(ImageRefusal) -> ELFDynamicSection {
        guard let range = header.dynamic else { return .none }
        let count = range.upperBound - range.lowerBound
        guard count <= UInt64(ImageLimits.dynamicEntries * 16) else {
            throw ImageRefusal(.tooLarge, "more than \(ImageLimits.dynamicEntries) entries of the dynamic section")
        }
        // A program that only holds debugging data has the header and not the bytes.
        guard let offset = map.offset(of: range.lowerBound, count: count),
            let bytes = file.bytes(at: offset, count: Int(count))
        else { throw ImageRefusal(.truncated, "the dynamic section does not lie in the file") }
        return try ELFDynamicSection(bytes)
    }

    /// The note of type 3 by "GNU" (`NT_GNU_BUILD_ID`).
    private static func buildIdentifier(_ header: ELFHeader, _ file: ExecutableBytes) -> [UInt8] {
        for note in header.notes {
            let most = Int(min(note.count, UInt64(ImageLimits.noteBytes)))
            guard let bytes = file.prefix(at: note.offset, most: most) else { continue }
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

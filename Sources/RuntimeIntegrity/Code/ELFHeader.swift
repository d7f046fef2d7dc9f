// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The first bytes of an ELF file and its program headers (gABI, "ELF Header", "Program Header").
///
/// 64 bits, little endian, x86-64 or arm64, executable or shared object: the files that a Linux system maps.
struct ELFHeader: Sendable {
    /// The length of the header in bytes.
    static let size = 64
    /// The length of a program header in bytes.
    static let programHeaderSize = 56

    /// The instruction set.
    let architecture: CodeArchitecture
    /// The mapped segments (`PT_LOAD`), in the file's order.
    let segments: [ImageSegment]
    /// Addresses of the dynamic section (`PT_DYNAMIC`); `nil` for a static program.
    let dynamic: Range<UInt64>?
    /// The place of notes in the file (`PT_NOTE`): offset and count.
    let notes: [(offset: UInt64, count: UInt64)]
    /// Addresses that are not written to once the loader is done (`PT_GNU_RELRO`).
    let constants: [Range<UInt64>]
    /// The offset and the number of the section headers; none if they are not usable.
    let sections: (offset: UInt64, count: Int)

    /// Reads them from the beginning of a file.
    init(_ file: ExecutableBytes) throws(ImageError) {
        guard let header = file.bytes(at: 0, count: Self.size) else {
            throw ImageError(.otherFormat, "the file is shorter than an ELF header")
        }
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            throw ImageError(.otherFormat, "the file does not begin as ELF")
        }
        // ELFCLASS64, ELFDATA2LSB, EV_CURRENT; ET_EXEC or ET_DYN; EM_X86_64 or EM_AARCH64.
        guard header[4] == 2, header[5] == 1, header[6] == 1, let kind = header.littleEndian(UInt16.self, at: 16),
            kind == 2 || kind == 3, let machine = header.littleEndian(UInt16.self, at: 18),
            let architecture: CodeArchitecture = [62: .x86, 183: .arm64][machine]
        else { throw ImageError(.unsupported, "an ELF file of another class, kind or machine") }
        guard let start = header.littleEndian(UInt64.self, at: 32),
            let entrySize = header.littleEndian(UInt16.self, at: 54), Int(entrySize) == Self.programHeaderSize,
            let count = header.littleEndian(UInt16.self, at: 56), count > 0
        else { throw ImageError(.malformed, "there are no program headers of the known size") }
        guard Int(count) <= ImageLimits.segments else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.segments) program headers")
        }
        guard let table = file.bytes(at: start, count: Int(count) * Self.programHeaderSize) else {
            throw ImageError(.truncated, "the program headers lie past the end")
        }

        var segments: [ImageSegment] = []
        var dynamic: Range<UInt64>?
        var notes: [(offset: UInt64, count: UInt64)] = []
        var constants: [Range<UInt64>] = []
        for index in stride(from: 0, to: table.count, by: Self.programHeaderSize) {
            let entry = try ProgramHeader(table, at: index)
            switch entry.type {
            case 1: if entry.memorySize > 0 { segments.append(entry.segment) }
            case 2: dynamic = entry.address..<entry.address + entry.memorySize
            case 4: notes.append((entry.offset, entry.fileSize))
            case 0x6474_E552: constants.append(entry.address..<entry.address + entry.memorySize)
            default: break
            }
        }
        guard !segments.isEmpty else { throw ImageError(.malformed, "nothing is mapped") }
        self.architecture = architecture
        self.segments = segments
        self.dynamic = dynamic
        self.notes = notes
        self.constants = constants
        self.sections = Self.sections(header)
    }

    /// Finds the section headers. A loader does not need them, so a defect of them refuses nothing.
    private static func sections(_ header: [UInt8]) -> (offset: UInt64, count: Int) {
        guard let offset = header.littleEndian(UInt64.self, at: 40),
            let size = header.littleEndian(UInt16.self, at: 58), size == 64,
            let count = header.littleEndian(UInt16.self, at: 60), Int(count) <= ImageLimits.sections
        else { return (0, 0) }
        return (offset, Int(count))
    }

    /// Reads one entry and checks its sums.
    private struct ProgramHeader {
        let type: UInt32
        let flags: UInt32
        let offset: UInt64
        let address: UInt64
        let fileSize: UInt64
        let memorySize: UInt64

        init(_ table: [UInt8], at index: Int) throws(ImageError) {
            guard let type = table.littleEndian(UInt32.self, at: index),
                let flags = table.littleEndian(UInt32.self, at: index + 4),
                let offset = table.littleEndian(UInt64.self, at: index + 8),
                let address = table.littleEndian(UInt64.self, at: index + 16),
                let fileSize = table.littleEndian(UInt64.self, at: index + 32),
                let memorySize = table.littleEndian(UInt64.self, at: index + 40)
            else { throw ImageError(.truncated, "a program header is cut") }
            guard offset.adding(fileSize) != nil, address.adding(memorySize) != nil, type != 1 || fileSize <= memorySize
            else { throw ImageError(.malformed, "a program header's sizes contradict each other") }
            self.type = type
            self.flags = flags
            self.offset = offset
            self.address = address
            self.fileSize = fileSize
            self.memorySize = memorySize
        }

        var segment: ImageSegment {
            ImageSegment(
                address: self.address, memorySize: self.memorySize, fileOffset: self.offset, fileSize: self.fileSize,
                isExecutable: self.flags & 1 != 0, isWritable: self.flags & 2 != 0)
        }
    }
}

/// The map from an ELF file's addresses to its offsets, by its segments.
struct ELFAddressMap: Sendable {
    /// The smallest page of both architectures: a mapping always covers whole pages.
    static let pageSize: UInt64 = 4_096

    private let segments: [ImageSegment]

    /// The map of these segments; at least one.
    init(_ segments: [ImageSegment]) { self.segments = segments }

    /// The preferred address of the file's first byte: that of the lowest segment, less its offset.
    var base: UInt64 {
        self.segments.min { $0.address < $1.address }.map { $0.address &- $0.fileOffset } ?? 0
    }

    /// The offset of a number of bytes at an address; `nil` if not all are in one segment's part of the file.
    func offset(of address: UInt64, count: UInt64) -> UInt64? {
        for segment in self.segments {
            guard let offset = segment.offset(of: address) else { continue }
            return count <= segment.fileSize - (address - segment.address) ? offset : nil
        }
        return nil
    }

    /// The segments of code, extended to whole pages.
    ///
    /// The bytes that fill the first and the last page are the file's as well, and foreign code can hide there. It is
    /// left out where another segment lies in that page, and after a segment whose memory goes on past the file.
    var comparableCode: [ImageSegment] {
        self.segments.filter { $0.isExecutable && $0.fileSize > 0 }.map { segment in
            let end = segment.address + segment.fileSize
            let head = segment.address % Self.pageSize
            var before = min(head, segment.fileOffset)
            var after = segment.memorySize == segment.fileSize ? (end.roundedUp(to: Self.pageSize) ?? end) - end : 0
            let first = segment.address - head
            for other in self.segments where other != segment && !other.addresses.isEmpty {
                if other.addresses.overlaps(first..<segment.address) { before = 0 }
                if other.addresses.overlaps(end..<end + after) { after = 0 }
            }
            // The file's end is no reason to stop: memory past it is zero.
            if (segment.fileOffset + segment.fileSize).adding(after) == nil { after = 0 }
            return ImageSegment(
                address: segment.address - before, memorySize: before + segment.fileSize + after,
                fileOffset: segment.fileOffset - before, fileSize: before + segment.fileSize + after,
                isExecutable: true, isWritable: segment.isWritable)
        }
    }
}

/// The dynamic section of an ELF file (gABI, "Dynamic Section"): tags with a number or an address, for the loader.
///
/// It is read from the file. In memory the loader has added the bias to some of the addresses.
struct ELFDynamicSection: Sendable {
    /// The tags that are understood.
    enum Tag: UInt64, Hashable, Sendable {
        /// `DT_NEEDED`: a library's name.
        case needed = 1
        /// `DT_PLTRELSZ`: bytes of the relocations of calls.
        case pltRelocationsSize = 2
        /// `DT_HASH`: the old hash table.
        case hash = 4
        /// `DT_STRTAB`: the strings.
        case strings = 5
        /// `DT_SYMTAB`: the symbols.
        case symbols = 6
        /// `DT_RELA`: relocations with addends.
        case addendRelocations = 7
        /// `DT_RELASZ`: their bytes.
        case addendRelocationsSize = 8
        /// `DT_STRSZ`: bytes of the strings.
        case stringsSize = 10
        /// `DT_SONAME`: the image's name.
        case ownName = 14
        /// `DT_REL`: relocations without addends.
        case relocations = 17
        /// `DT_RELSZ`: their bytes.
        case relocationsSize = 18
        /// `DT_PLTREL`: `DT_RELA` or `DT_REL`.
        case pltRelocationsKind = 20
        /// `DT_TEXTREL`: relocations touch code.
        case textRelocations = 22
        /// `DT_JMPREL`: relocations of calls.
        case pltRelocations = 23
        /// `DT_FLAGS`: flags.
        case flags = 30
        /// `DT_RELRSZ`: bytes of the packed relocations.
        case relativeRelocationsSize = 35
        /// `DT_RELR`: packed relocations.
        case relativeRelocations = 36
        /// `DT_RELACOUNT`: how many relocations with addends, from the first on, are `RELATIVE`.
        case relativeCount = 0x6FFF_FFF9
        /// `DT_GNU_HASH`: the hash table.
        case gnuHash = 0x6FFF_FEF5
    }

    /// The value of each tag; of a repeated one the last, as for the loader.
    private let values: [Tag: UInt64]

    /// The offsets of the needed libraries' names in the strings.
    let needed: [UInt64]

    /// The dynamic section of a static program: empty.
    static let none = ELFDynamicSection(values: [:], needed: [])

    private init(values: [Tag: UInt64], needed: [UInt64]) {
        self.values = values
        self.needed = needed
    }

    /// Reads pairs of a tag and a value, up to the tag 0.
    init(_ bytes: [UInt8]) throws(ImageError) {
        var values: [Tag: UInt64] = [:]
        var needed: [UInt64] = []
        var index = 0
        while let number = bytes.littleEndian(UInt64.self, at: index), number != 0,
            let value = bytes.littleEndian(UInt64.self, at: index + 8)
        {
            index += 16
            guard let tag = Tag(rawValue: number) else { continue }
            if tag == .needed { needed.append(value) } else { values[tag] = value }
        }
        guard needed.count <= ImageLimits.libraries else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.libraries) libraries are needed")
        }
        self.init(values: values, needed: needed)
    }

    /// The value of a tag.
    subscript(tag: Tag) -> UInt64? { self.values[tag] }

    /// Whether the loader may have to write to code (`DT_TEXTREL`, `DF_TEXTREL`).
    var hasTextRelocations: Bool { self[.textRelocations] != nil || (self[.flags] ?? 0) & 4 != 0 }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The first bytes of an ELF file and its program headers (gABI, "ELF Header", "Program Header").
///
/// 64 bits, little endian, x86-64 or arm64, executable or shared object: what a Linux system maps.
struct ELFHeader: Sendable {
    /// Bytes of the header.
    static let size = 64
    /// Bytes of a program header.
    static let programHeaderSize = 56

    /// The instruction set.
    let architecture: CodeArchitecture
    /// What is mapped (`PT_LOAD`), in the file's order.
    let segments: [ImageSegment]
    /// Addresses of the dynamic section (`PT_DYNAMIC`); `nil` for a static program.
    let dynamic: Range<UInt64>?
    /// Where in the file notes stand (`PT_NOTE`): offset and count.
    let notes: [(offset: UInt64, count: UInt64)]
    /// Addresses that nobody writes to once the loader is done (`PT_GNU_RELRO`).
    let constants: [Range<UInt64>]
    /// Where in the file the section headers stand, and how many; none if they are not usable.
    let sections: (offset: UInt64, count: Int)

    /// Reads them from the beginning of a file.
    init(_ file: ExecutableBytes) throws(ImageRefusal) {
        guard let header = file.bytes(at: 0, count: Self.size) else {
            throw ImageRefusal(.otherFormat, "the file is shorter than an ELF header")
        }
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            throw ImageRefusal(.otherFormat, "the file does not begin as ELF")
        }
        // ELFCLASS64, ELFDATA2LSB, EV_CURRENT; ET_EXEC or ET_DYN; EM_X86_64 or EM_AARCH64.
        guard header[4] == 2, header[5] == 1, header[6] == 1, let kind = header.littleEndian(UInt16.self, at: 16),
            kind == 2 || kind == 3, let machine = header.littleEndian(UInt16.self, at: 18),
            let architecture: CodeArchitecture = [62: .x86, 183: .arm64][machine]
        else { throw ImageRefusal(.unsupported, "an ELF file of another class, kind or machine") }
        guard let start = header.littleEndian(UInt64.self, at: 32),
            let entrySize = header.littleEndian(UInt16.self, at: 54), Int(entrySize) == Self.programHeaderSize,
            let count = header.littleEndian(UInt16.self, at: 56), count > 0
        else { throw ImageRefusal(.malformed, "there are no program headers of the known size") }
        guard Int(count) <= ImageLimits.segments else {
            throw ImageRefusal(.tooLarge, "more than \(ImageLimits.segments) program headers")
        }
        guard let table = file.bytes(at: start, count: Int(count) * Self.programHeaderSize) else {
            throw ImageRefusal(.truncated, "the program headers lie past the end")
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
        guard !segments.isEmpty else { throw ImageRefusal(.malformed, "nothing is mapped") }
        self.architecture = architecture
        self.segments = segments
        self.dynamic = dynamic
        self.notes = notes
        self.constants = constants
        self.sections = Self.sections(header)
    }

    /// Where the section headers stand. A loader does not need them, so they are no ground for a refusal.
    private static func sections(_ header: [UInt8]) -> (offset: UInt64, count: Int) {
        guard let offset = header.littleEndian(UInt64.self, at: 40),
            let size = header.littleEndian(UInt16.self, at: 58), size == 64,
            let count = header.littleEndian(UInt16.self, at: 60), Int(count) <= ImageLimits.sections
        else { return (0, 0) }
        return (offset, Int(count))
    }

    /// One entry, whose sums are checked.
    private struct ProgramHeader {
        let type: UInt32
        let flags: UInt32
        let offset: UInt64
        let address: UInt64
        let fileSize: UInt64
        let memorySize: UInt64

        init(_ table: [UInt8], at index: Int) throws(ImageRefusal) {
            guard let type = table.littleEndian(UInt32.self, at: index),
                let flags = table.littleEndian(UInt32.self, at: index + 4),
                let offset = table.littleEndian(UInt64.self, at: index + 8),
                let address = table.littleEndian(UInt64.self, at: index + 16),
                let fileSize = table.littleEndian(UInt64.self, at: index + 32),
                let memorySize = table.littleEndian(UInt64.self, at: index + 40)
            else { throw ImageRefusal(.truncated, "a program header is cut") }
            guard offset.adding(fileSize) != nil, address.adding(memorySize) != nil, type != 1 || fileSize <= memorySize
            else { throw ImageRefusal(.malformed, "a program header's sizes contradict each other") }
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The header of a 64-bit Mach-O file and the needed load commands (`<mach-o/loader.h>`).
struct MachOHeader: Sendable {
    /// A part of the file that a load command names.
    struct Part: Sendable {
        /// The offset in the file.
        let offset: UInt64
        /// The number of bytes.
        let count: UInt64
    }

    /// Tables of symbols: their offset and count, and the strings.
    struct Symbols: Sendable {
        /// The offset in the file.
        let offset: UInt64
        /// The number of entries.
        let count: Int
        /// The strings with their names.
        let strings: Part
    }

    /// The instruction set.
    let architecture: CodeArchitecture
    /// The segments, as other tables count them, with those that are never readable.
    private(set) var segments: [(segment: ImageSegment, isMapped: Bool)] = []
    /// Addresses of tables that the linker made for the loader, or that are not written to once the loader is done.
    private(set) var constants: [Range<UInt64>] = []
    /// The UUID; empty where there is none.
    private(set) var identifier: [UInt8] = []
    /// The name of a library.
    private(set) var ownName: String?
    /// The libraries that it needs.
    private(set) var libraries: [String] = []
    /// The indexes in ``libraries`` of those whose names it re-exports (`LC_REEXPORT_DYLIB`).
    private(set) var reexported: Set<Int> = []
    /// Whether names say which library they come from (`MH_TWOLEVEL`).
    let namesLibraries: Bool
    /// The symbols.
    private(set) var symbols: Symbols?
    /// The bound pointers of today's linkers.
    private(set) var chainedFixups: Part?
    /// The bound pointers of older ones, the last for calls: `bind`, `weak_bind`, `lazy_bind`.
    private(set) var binds: [Part] = []
    /// The exported names.
    private(set) var exports: Part?
    /// The encrypted part of the file.
    private(set) var encrypted: Part?

    /// The number of an architecture.
    static func processor(_ architecture: CodeArchitecture) -> UInt32 {
        switch architecture {
        case .x86: 0x0100_0007
        case .arm64: 0x0100_000C
        }
    }

    /// Reads them from the beginning of a slice.
    init(_ file: ExecutableBytes, for architecture: CodeArchitecture) throws(ImageError) {
        let list = try MachOLoadCommands(file)
        guard list.isWide else { throw ImageError(.otherFormat, "the file does not begin as 64-bit Mach-O") }
        // MH_EXECUTE, MH_DYLIB, MH_DYLINKER, MH_BUNDLE.
        guard list.processor == Self.processor(architecture), [2, 6, 7, 8].contains(list.kind) else {
            throw ImageError(.unsupported, "a Mach-O file of another kind or processor")
        }
        self.architecture = architecture
        self.namesLibraries = list.flags & 0x80 != 0
        for command in list.all { try self.read(command.number, command.bytes) }
        guard self.segments.count <= ImageLimits.segments, self.libraries.count <= ImageLimits.libraries else {
            throw ImageError(.tooLarge, "over a limit of segments or libraries")
        }
        guard self.segments.contains(where: { $0.isMapped }) else {
            throw ImageError(.malformed, "nothing is mapped")
        }
    }

    private mutating func read(_ command: UInt32, _ bytes: [UInt8]) throws(ImageError) {
        switch command {
        case 0x19:  // LC_SEGMENT_64
            let segment = try Self.segment(bytes)
            self.segments.append(segment)
            self.constants += Self.constants(of: segment.segment, bytes)
        case 0x1B: self.identifier = Array(bytes.dropFirst(8).prefix(16))  // LC_UUID
        case 0x0D: self.ownName = Self.name(bytes)  // LC_ID_DYLIB
        // LC_LOAD_DYLIB, LC_LOAD_WEAK_DYLIB, LC_REEXPORT_DYLIB, LC_LOAD_UPWARD_DYLIB.
        case 0x0C, 0x8000_0018, 0x8000_001F, 0x8000_0023:
            if command == 0x8000_001F { self.reexported.insert(self.libraries.count) }
            // Names say which library they come from by its place, so that one without a name keeps its own.
            self.libraries.append(Self.name(bytes) ?? "")
        case 0x02: self.symbols = try Self.symbols(bytes)  // LC_SYMTAB
        case 0x8000_0034: self.chainedFixups = Self.part(bytes, at: 8)  // LC_DYLD_CHAINED_FIXUPS
        case 0x8000_0033: self.exports = Self.part(bytes, at: 8)  // LC_DYLD_EXPORTS_TRIE
        case 0x22, 0x8000_0022:  // LC_DYLD_INFO, LC_DYLD_INFO_ONLY
            self.binds = [16, 24, 32].compactMap { Self.part(bytes, at: $0) }
            self.exports = Self.part(bytes, at: 40)
        case 0x2C where bytes.littleEndian(UInt32.self, at: 16) ?? 0 != 0:  // LC_ENCRYPTION_INFO_64
            self.encrypted = Self.part(bytes, at: 8)
        default: break
        }
    }

    private static func part(_ bytes: [UInt8], at index: Int) -> Part? {
        guard let offset = bytes.littleEndian(UInt32.self, at: index),
            let count = bytes.littleEndian(UInt32.self, at: index + 4)
        else { return nil }
        return Part(offset: UInt64(offset), count: UInt64(count))
    }

    private static func name(_ bytes: [UInt8]) -> String? {
        guard let offset = bytes.littleEndian(UInt32.self, at: 8), offset >= 8, offset < bytes.count else { return nil }
        return bytes.text(at: Int(offset), maximum: ImageLimits.nameLength)
    }

    private static func symbols(_ bytes: [UInt8]) throws(ImageError) -> Symbols {
        guard let offset = bytes.littleEndian(UInt32.self, at: 8), let count = bytes.littleEndian(UInt32.self, at: 12),
            let strings = self.part(bytes, at: 16)
        else { throw ImageError(.malformed, "the command of the symbols is cut") }
        guard count <= UInt32(ImageLimits.symbols) else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.symbols) symbols")
        }
        return Symbols(offset: UInt64(offset), count: Int(count), strings: strings)
    }

    /// The source of a name by its library ordinal: 1 is the first library. 0 and the highest ordinals have other
    /// meanings.
    func source(ordinal: UInt64) -> ImportSlot.Source {
        guard self.namesLibraries, let place = Int(exactly: ordinal), self.libraries.indices.contains(place - 1)
        else { return .any }
        return .library(place - 1)
    }

    /// Whether the program itself may write to an address.
    func isVariable(_ address: UInt64) -> Bool {
        !self.constants.contains { $0.contains(address) }
            && self.segments.contains { $0.segment.isWritable && $0.segment.addresses.contains(address) }
    }

    /// The read-only places of a segment: all of one that becomes read-only (`SG_READ_ONLY`, or by its name for linkers
    /// that leave the flag out); of another its sections of pointers (`S_NON_LAZY_SYMBOL_POINTERS`,
    /// `S_LAZY_SYMBOL_POINTERS`).
    private static func constants(of segment: ImageSegment, _ bytes: [UInt8]) -> [Range<UInt64>] {
        let flags = bytes.littleEndian(UInt32.self, at: 68) ?? 0
        if flags & 0x10 != 0 || ["__DATA_CONST", "__AUTH_CONST"].contains(bytes.text(at: 8, maximum: 16)) {
            return [segment.addresses]
        }
        // Sections of 80 bytes follow the command's 72.
        return stride(from: 72, to: bytes.count, by: 80).compactMap { section in
            guard let flags = bytes.littleEndian(UInt32.self, at: section + 64), [6, 7].contains(flags & 0xFF),
                let address = bytes.littleEndian(UInt64.self, at: section + 32),
                let size = bytes.littleEndian(UInt64.self, at: section + 40), let end = address.adding(size)
            else { return nil }
            return address..<end
        }
    }

    private static func segment(_ bytes: [UInt8]) throws(ImageError) -> (segment: ImageSegment, isMapped: Bool) {
        guard let address = bytes.littleEndian(UInt64.self, at: 24),
            let memorySize = bytes.littleEndian(UInt64.self, at: 32),
            let offset = bytes.littleEndian(UInt64.self, at: 40),
            let fileSize = bytes.littleEndian(UInt64.self, at: 48),
            let protection = bytes.littleEndian(UInt32.self, at: 60)
        else { throw ImageError(.malformed, "the command of a segment is cut") }
        guard address.adding(memorySize) != nil, offset.adding(fileSize) != nil, fileSize <= memorySize else {
            throw ImageError(.malformed, "a segment's sizes contradict each other")
        }
        let segment = ImageSegment(
            address: address, memorySize: memorySize, fileOffset: offset, fileSize: fileSize,
            isExecutable: protection & 4 != 0, isWritable: protection & 2 != 0)
        return (segment, protection & 7 != 0 && memorySize > 0)
    }
}

/// The load commands of a Mach-O file, of 64 bits or of 32 (`<mach-o/loader.h>`): phones, Macs and watches.
struct MachOLoadCommands: Sendable {
    /// Whether it is a file of 64 bits.
    let isWide: Bool
    /// The processor (`CPU_TYPE_…`).
    let processor: UInt32
    /// The file type (`MH_EXECUTE` and others).
    let kind: UInt32
    /// The flags of the file (`MH_TWOLEVEL` and others).
    let flags: UInt32
    /// The commands in order: the number, and all bytes.
    let all: [(number: UInt32, bytes: [UInt8])]

    /// Reads them from the beginning of a slice.
    init(_ file: ExecutableBytes) throws(ImageError) {
        guard let header = file.bytes(at: 0, count: 28), let magic = header.littleEndian(UInt32.self, at: 0),
            magic == 0xFEED_FACF || magic == 0xFEED_FACE
        else { throw ImageError(.otherFormat, "the file does not begin as Mach-O") }
        guard let processor = header.littleEndian(UInt32.self, at: 4),
            let kind = header.littleEndian(UInt32.self, at: 12),
            let count = header.littleEndian(UInt32.self, at: 16), let size = header.littleEndian(UInt32.self, at: 20),
            let flags = header.littleEndian(UInt32.self, at: 24)
        else { throw ImageError(.truncated, "the header is cut") }
        guard count <= UInt32(ImageLimits.loadCommands), size <= UInt32(ImageLimits.loadCommandBytes) else {
            throw ImageError(.tooLarge, "over a limit of load commands")
        }
        let isWide = magic == 0xFEED_FACF
        guard let commands = file.bytes(at: isWide ? 32 : 28, count: Int(size)) else {
            throw ImageError(.truncated, "the load commands are cut")
        }
        var all: [(number: UInt32, bytes: [UInt8])] = []
        var index = 0
        for _ in 0..<count {
            guard let command = commands.littleEndian(UInt32.self, at: index),
                let size = commands.littleEndian(UInt32.self, at: index + 4), size >= 8,
                size <= commands.count - index
            else { throw ImageError(.malformed, "a load command does not fit") }
            all.append((command, Array(commands[index..<index + Int(size)])))
            index += Int(size)
        }
        self.isWide = isWide
        self.processor = processor
        self.kind = kind
        self.flags = flags
        self.all = all
    }
}

/// The slice of a fat Mach-O file for one architecture (`<mach-o/fat.h>`; its numbers are big endian).
enum MachOSlice {
    /// An entry of the list of parts.
    private struct Entry {
        let processor: UInt32
        let offset: UInt64
        let count: UInt64

        func part(of file: ExecutableBytes) throws(ImageError) -> ExecutableBytes {
            guard self.offset.adding(self.count) != nil else {
                throw ImageError(.malformed, "a slice's numbers overflow")
            }
            return file.part(from: self.offset, count: self.count)
        }
    }

    /// The slice for an architecture; the whole file where it is not fat.
    ///
    /// Of several for arm64 (with and without pointer authentication) the first.
    static func bytes(of file: ExecutableBytes, for architecture: CodeArchitecture) throws(ImageError)
        -> ExecutableBytes
    {
        guard let entries = try self.entries(of: file) else { return file }
        let processor = MachOHeader.processor(architecture)
        guard let entry = entries.first(where: { $0.processor == processor }) else {
            throw ImageError(.unsupported, "the file has no slice for \(architecture.rawValue)")
        }
        return try entry.part(of: file)
    }

    /// The slices for all architectures; the whole file where it is not fat.
    static func all(of file: ExecutableBytes) throws(ImageError) -> [ExecutableBytes] {
        guard let entries = try self.entries(of: file) else { return [file] }
        var parts: [ExecutableBytes] = []
        for entry in entries { parts.append(try entry.part(of: file)) }
        return parts
    }

    /// The list of parts; `nil` of a file that is not fat.
    private static func entries(of file: ExecutableBytes) throws(ImageError) -> [Entry]? {
        guard let header = file.bytes(at: 0, count: 8), let magic = header.bigEndian(UInt32.self, at: 0) else {
            throw ImageError(.otherFormat, "the file is shorter than a Mach-O header")
        }
        // FAT_MAGIC, FAT_MAGIC_64: entries of 20 and 32 bytes.
        guard magic == 0xCAFE_BABE || magic == 0xCAFE_BABF else { return nil }
        let isWide = magic == 0xCAFE_BABF
        // A Java class begins with the same four bytes; there a version stands here, from 45 on.
        guard let count = header.bigEndian(UInt32.self, at: 4), count <= UInt32(ImageLimits.slices) else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.slices) architectures")
        }
        let size = isWide ? 32 : 20
        guard let table = file.bytes(at: 8, count: Int(count) * size) else {
            throw ImageError(.truncated, "the list of architectures is cut")
        }
        return stride(from: 0, to: table.count, by: size).map { entry in
            let words = (2...5).map { UInt64(table.bigEndian(UInt32.self, at: entry + $0 * 4) ?? 0) }
            return Entry(
                processor: table.bigEndian(UInt32.self, at: entry) ?? 0,
                offset: isWide ? words[0] << 32 | words[1] : words[0],
                count: isWide ? words[2] << 32 | words[3] : words[1])
        }
    }
}

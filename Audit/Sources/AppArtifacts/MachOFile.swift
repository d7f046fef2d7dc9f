// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The facts of a Mach-O file: the libraries that it links, and the names that it defines or takes from others.
///
/// Fat files and thin ones, of 64 bits and 32. Sources: `<mach-o/loader.h>`, `<mach-o/fat.h>`, `<mach-o/nlist.h>`.
/// `RuntimeIntegrity` has a reader, too, which compares code in memory with its file; it lists no undefined names.
public struct MachOFile: Sendable {
    /// One architecture.
    public struct Slice: Sendable {
        /// The processor's number (`CPU_TYPE_…`).
        public let processor: UInt32
        /// The libraries that it loads, as their paths stand there.
        public fileprivate(set) var libraries: [String] = []
        /// Whether its code is encrypted, as in what the App Store delivers. Names are not.
        public fileprivate(set) var isEncrypted = false
        fileprivate var table: (symbols: Int, count: Int, strings: Int, stringBytes: Int)?
        /// The reason for which not all of its libraries and names are read.
        fileprivate var defect: ArtifactError?
        fileprivate let file: ByteField
        fileprivate let isWide: Bool
        fileprivate let isBig: Bool
    }

    /// The architectures that can be read.
    public private(set) var slices: [Slice] = []

    /// The defects of the architectures that cannot be read, or not completely, a line each.
    public private(set) var defects: [ArtifactError] = []

    /// Whether a file begins as one. A Java class begins as a fat file does, with a version where the count stands.
    public static func begins(_ bytes: some Collection<UInt8>) -> Bool {
        let head = Array(bytes.prefix(8))
        guard head.count == 8 else { return false }
        switch (head[0], head[1], head[2], head[3]) {
        case (0xCF, 0xFA, 0xED, 0xFE), (0xCE, 0xFA, 0xED, 0xFE), (0xFE, 0xED, 0xFA, 0xCF), (0xFE, 0xED, 0xFA, 0xCE):
            return true
        case (0xCA, 0xFE, 0xBA, 0xBE), (0xCA, 0xFE, 0xBA, 0xBF): return head[4] == 0 && head[5] == 0 && head[6] == 0
        default: return false
        }
    }

    /// Reads the headers of a file.
    ///
    /// - Throws: ``ArtifactError`` when no slice of it can be read.
    public init(_ bytes: [UInt8]) throws(ArtifactError) {
        let file = ByteField(bytes[...])
        guard Self.begins(bytes), let magic = file.number(0, 4, isBig: true) else {
            throw ArtifactError(.otherFormat, "it does not begin as Mach-O")
        }
        var parts = [file]
        if magic == 0xCAFE_BABE || magic == 0xCAFE_BABF { parts = try self.parts(of: file, isWide: magic & 1 == 1) }
        for part in parts {
            do throws(ArtifactError) {
                let slice = try Slice(part)
                self.slices.append(slice)
                if let defect = slice.defect { self.defects.append(defect) }
            } catch {
                self.defects.append(error)
            }
        }
        if self.slices.isEmpty { throw self.defects.first ?? ArtifactError(.malformed, "it has no slice") }
    }

    private mutating func parts(of file: ByteField, isWide: Bool) throws(ArtifactError) -> [ByteField] {
        guard let count = file.place(4, 4, isBig: true), count <= ArtifactLimits.slices else {
            throw ArtifactError(.tooLarge, "it says to have over \(ArtifactLimits.slices) architectures")
        }
        let size = isWide ? 32 : 20
        var parts: [ByteField] = []
        for index in 0..<count {
            let start = 8 + index * size
            guard let offset = file.place(start + 8, isWide ? 8 : 4, isBig: true),
                let length = file.place(start + (isWide ? 16 : 12), isWide ? 8 : 4, isBig: true),
                let part = file.part(offset, length)
            else {
                self.defects.append(ArtifactError(.truncated, "architecture \(index + 1) is not whole"))
                continue
            }
            parts.append(part)
        }
        return parts
    }

    /// Calls a closure with each name of the symbol tables, defined and undefined, until there were as many as are read.
    public func forEachSymbol(_ body: (_ name: String, _ isDefined: Bool) -> Void) {
        for slice in self.slices { slice.forEachSymbol(body) }
    }
}

extension MachOFile.Slice {
    fileprivate init(_ file: ByteField) throws(ArtifactError) {
        guard let magic = file.number(0, 4) else { throw ArtifactError(.truncated, "the header is cut") }
        switch magic {
        case 0xFEED_FACF: (self.isWide, self.isBig) = (true, false)
        case 0xFEED_FACE: (self.isWide, self.isBig) = (false, false)
        case 0xCFFA_EDFE: (self.isWide, self.isBig) = (true, true)
        case 0xCEFA_EDFE: (self.isWide, self.isBig) = (false, true)
        default: throw ArtifactError(.otherFormat, "a slice does not begin as Mach-O")
        }
        self.file = file
        guard let processor = file.number(4, 4, isBig: self.isBig), let count = file.place(16, 4, isBig: self.isBig),
            let size = file.place(20, 4, isBig: self.isBig)
        else { throw ArtifactError(.truncated, "the header is cut") }
        self.processor = UInt32(truncatingIfNeeded: processor)
        guard count <= ArtifactLimits.loadCommands, size <= ArtifactLimits.loadCommandBytes else {
            throw ArtifactError(.tooLarge, "the load commands are more than is read")
        }
        guard let commands = file.part(self.isWide ? 32 : 28, size) else {
            throw ArtifactError(.truncated, "the load commands are cut")
        }
        var index = 0
        for _ in 0..<count {
            guard let number = commands.number(index, 4, isBig: self.isBig),
                let size = commands.place(index + 4, 4, isBig: self.isBig), size >= 8,
                let command = commands.part(index, size)
            else { throw ArtifactError(.malformed, "a load command does not fit") }
            index += size
            self.read(number, command)
        }
    }

    private mutating func read(_ number: UInt64, _ command: ByteField) {
        switch number {
        // LC_LOAD_DYLIB, LC_LOAD_WEAK_DYLIB, LC_REEXPORT_DYLIB, LC_LAZY_LOAD_DYLIB, LC_LOAD_UPWARD_DYLIB.
        case 0x0C, 0x8000_0018, 0x8000_001F, 0x20, 0x8000_0023:
            if let start = command.place(8, 4, isBig: self.isBig),
                let name = command.text(at: start, maximum: ArtifactLimits.libraryName)
            {
                self.libraries.append(name)
            } else {
                self.defect = ArtifactError(.malformed, "the name of a library does not fit")
            }
        case 0x02:  // LC_SYMTAB
            if let symbols = command.place(8, 4, isBig: self.isBig),
                let count = command.place(12, 4, isBig: self.isBig),
                let strings = command.place(16, 4, isBig: self.isBig),
                let bytes = command.place(20, 4, isBig: self.isBig)
            {
                self.table = (symbols, count, strings, bytes)
                self.lookAtTable(symbols, count, strings, bytes)
            } else {
                self.defect = ArtifactError(.malformed, "the command of the symbol table does not fit")
            }
        case 0x21, 0x2C:  // LC_ENCRYPTION_INFO, LC_ENCRYPTION_INFO_64
            self.isEncrypted = command.number(16, 4, isBig: self.isBig) ?? 0 != 0
        default: break
        }
    }

    /// Notes what is not there of a symbol table, and what is not looked at.
    private mutating func lookAtTable(_ symbols: Int, _ count: Int, _ strings: Int, _ stringBytes: Int) {
        if count > ArtifactLimits.symbols {
            self.defect = ArtifactError(.tooLarge, "of \(count) names \(ArtifactLimits.symbols) are looked at")
        } else if self.file.part(symbols, count * (self.isWide ? 16 : 12)) == nil
            || self.file.part(strings, stringBytes) == nil
        {
            self.defect = ArtifactError(.truncated, "the symbol table is not whole")
        }
    }

    fileprivate func forEachSymbol(_ body: (_ name: String, _ isDefined: Bool) -> Void) {
        guard let table, let strings = self.file.part(table.strings, table.stringBytes) else { return }
        let size = self.isWide ? 16 : 12
        for index in 0..<min(table.count, ArtifactLimits.symbols) {
            let start = table.symbols + index * size
            guard let name = self.file.place(start, 4, isBig: self.isBig), let type = self.file.number(start + 4, 1)
            else {
                return
            }
            // Notes for a debugger (N_STAB) name source files.
            guard type & 0xE0 == 0, let text = strings.text(at: name, maximum: ArtifactLimits.symbolName) else {
                continue
            }
            body(text, type & 0x0E != 0)
        }
    }
}

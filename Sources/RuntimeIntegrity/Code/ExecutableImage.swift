// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An executable file, for comparing memory with it: ``ELFImage`` or ``MachOImage``.
///
/// It holds the headers and reads the tables, which are large, each time: nothing here needs more than some windows of
/// 64 KiB. Addresses are those of the file; in memory the image's bias is added, wrapping.
protocol ExecutableImage: Sendable {
    /// The instruction set.
    var architecture: CodeArchitecture { get }
    /// The file, or the slice of a fat file.
    var bytes: ExecutableBytes { get }
    /// The mapped segments, in the file's order; at least one.
    var segments: [ImageSegment] { get }
    /// The preferred address of the file's first byte: its actual address less this is the bias.
    var base: UInt64 { get }
    /// The build identifier of ELF or the UUID of Mach-O; empty where there is none.
    var identifier: [UInt8] { get }
    /// Its name for images that need it (`DT_SONAME`, `LC_ID_DYLIB`).
    var ownName: String? { get }
    /// The libraries that it needs (`DT_NEEDED`, `LC_LOAD_DYLIB` and related commands).
    var libraries: [String] { get }
    /// The ``libraries`` whose names it re-exports (`LC_REEXPORT_DYLIB`).
    var reexports: [String] { get }
    /// The parts of the file that are mapped as code and stay unchanged, but for ``relocatedCode``.
    var comparableCode: [ImageSegment] { get }
    /// Code that the loader writes to, by address.
    var relocatedCode: [CodeRange] { get }

    /// The symbols that other images find under a name, in all its versions.
    func definitions(of name: String) -> [ImageSymbol]

    /// The functions with some names, exported or not.
    func functions(named names: Set<String>) -> [String: [ImageSymbol]]

    /// The symbols around addresses, where the file has them.
    func symbols(at addresses: Set<UInt64>) -> [UInt64: ImageSymbol]

    /// Iterates over the slots that the loader fills with addresses, until `body` returns `false`.
    ///
    /// - Parameters:
    ///   - isRight: Receives a slot's address and the image's own address of its name, and returns whether the slot
    ///     holds that address, so that the name need not be looked up. Not every format calls it.
    ///   - body: Receives all other slots.
    /// - Throws: An error when a table is malformed.
    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageError)
}

/// Derived members.
extension ExecutableImage {
    /// Empty: ELF has no re-exports.
    var reexports: [String] { [] }

    /// Iterates over all slots, until `body` returns `false`.
    func forEachImportSlot(_ body: (ImportSlot) -> Bool) throws(ImageError) {
        try self.forEachImportSlot(unless: { _, _ in false }, body)
    }

    /// The offset of an address in the file; `nil` outside of the file's bytes.
    func offset(of address: UInt64) -> UInt64? {
        for segment in self.segments {
            if let offset = segment.offset(of: address) { return offset }
        }
        return nil
    }

    /// Whether an address lies in code.
    func isCode(_ address: UInt64) -> Bool {
        self.segments.contains { $0.isExecutable && $0.addresses.contains(address) }
    }
}

/// The supported instruction sets.
enum CodeArchitecture: String, Hashable, Sendable {
    /// Intel and AMD, 64 bits: instructions of 1 to 15 bytes.
    case x86
    /// ARM, 64 bits, with and without pointer authentication: instructions of 4 bytes, little endian.
    case arm64

    /// The architecture that this module is compiled for; `nil` for others.
    static var own: CodeArchitecture? {
        #if arch(x86_64)
        .x86
        #elseif arch(arm64)
        .arm64
        #else
        nil
        #endif
    }
}

/// A segment of an executable: an ELF `PT_LOAD`, a Mach-O `LC_SEGMENT_64`.
///
/// No sum of its numbers overflows: the code that creates one checks that.
struct ImageSegment: Hashable, Sendable {
    /// The preferred address. Its actual address is this plus the image's bias.
    let address: UInt64
    /// The length in memory in bytes, at least ``fileSize``: bytes beyond the file are zero.
    let memorySize: UInt64
    /// The offset in the file.
    let fileOffset: UInt64
    /// The length in the file in bytes.
    let fileSize: UInt64
    /// Whether it is mapped executable.
    let isExecutable: Bool
    /// Whether it is mapped writable.
    let isWritable: Bool

    /// Its addresses in memory, without the bias.
    var addresses: Range<UInt64> { self.address..<self.address + self.memorySize }

    /// The offset of an address in the file; `nil` outside of the file's bytes.
    func offset(of address: UInt64) -> UInt64? {
        guard address >= self.address, address - self.address < self.fileSize else { return nil }
        return self.fileOffset + (address - self.address)
    }
}

/// A symbol of an executable: a name with an address.
struct ImageSymbol: Hashable, Sendable {
    /// The kind of a symbol.
    enum Kind: Hashable, Sendable {
        /// Code.
        case function
        /// Code that chooses, once, the function that callers get (`STT_GNU_IFUNC`, `N_SYMBOL_RESOLVER`).
        case resolver
        /// Data, or a symbol of unknown kind.
        case other
    }

    /// The name as in the file: mangled, and on Mach-O with the first underscore.
    let name: String
    /// The address, without the image's bias.
    let address: UInt64
    /// The size in bytes; 0 where the file does not say.
    let size: UInt64
    /// The kind of the symbol.
    let kind: Kind

    /// Whether an address is in it. A symbol without a size has one byte.
    func contains(_ address: UInt64) -> Bool {
        address >= self.address && address - self.address < max(self.size, 1)
    }
}

/// The limits of reading an executable, because its file may be hostile.
///
/// The numbers bound the work and what is held. They are above the counts in the libraries of Swift 6.3.1 and in
/// Chromium 156, the largest program at hand.
enum ImageLimits {
    /// Program headers of an ELF file, segments of a Mach-O file. Linkers write about 10.
    static let segments = 128
    /// Entries of ELF's dynamic section. Linkers write about 30, and one for each library.
    static let dynamicEntries = 4_096
    /// Section headers of an ELF file. A file with more is read without its full symbol table.
    static let sections = 4_096
    /// Libraries that an image names.
    static let libraries = 1_024
    /// Symbols of one table. Swift's own libraries have up to 51,000. They are not held: they are read without storing
    /// it.
    static let symbols = 1 << 21
    /// Relocations or bound pointers of an image, not held. Chromium has 1.1 million.
    static let relocations = 1 << 21
    /// Relocations inside of code, which are held: 16 bytes each.
    static let codeRelocations = 16_384
    /// UTF-8 bytes of a symbol's name. Swift's own libraries have up to 213; generic code of apps has longer ones.
    static let nameLength = 8_192
    /// Bytes of ELF's notes that are searched for the build identifier.
    static let noteBytes = 4_096
    /// Symbols of one hash bucket that are looked at. Linkers aim at a few.
    static let hashChain = 4_096
    /// Definitions of one name in one image: one for each version of it.
    static let definitions = 16
    /// Mach-O load commands.
    static let loadCommands = 4_096
    /// Bytes of Mach-O's load commands: one read.
    static let loadCommandBytes = ExecutableBytes.maximumReadLength
    /// Architectures in a fat Mach-O file.
    static let slices = 32
    /// Imported names of Mach-O's chained fixups.
    static let imports = 1 << 18
    /// Steps of a walk through Mach-O's export trie: each consumes at least one byte of the name.
    static let trieSteps = nameLength
    /// Bytes of that trie that one search reads: a node has some ten edges of some hundred bytes.
    static let trieBytes = 1 << 18
    /// Symbols of a Mach-O file without that trie: an old one, in which each search reads all.
    static let unindexedSymbols = 65_536
}

/// The reason why an executable file cannot be read.
///
/// Only ``code`` takes part in comparisons.
struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of defect. Bounded, so it may label a metric.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        let description: String

        /// Not an executable of the format.
        static let otherFormat = Code(description: "other-format")
        /// An executable of the format, of a kind or an architecture that is not understood.
        static let unsupported = Code(description: "unsupported")
        /// Bytes that a header names are missing.
        static let truncated = Code(description: "truncated")
        /// Numbers that contradict each other.
        static let malformed = Code(description: "malformed")
        /// A limit of ``ImageLimits`` is exceeded.
        static let tooLarge = Code(description: "too-large")
    }

    /// The kind of defect.
    let code: Code

    /// The place, in one sentence without a full stop.
    let reason: String

    /// Creates an error.
    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    var description: String { "\(self.code): \(self.reason)" }

    /// Equal when the codes are.
    static func == (left: ImageError, right: ImageError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

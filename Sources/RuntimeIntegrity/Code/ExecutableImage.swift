// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An executable file as it is needed to compare memory with it: ``ELFImage`` or ``MachOImage``.
///
/// It holds the headers and reads the tables, which are large, each time: nothing here needs more than some windows of
/// 64 KiB. Addresses are those of the file; in memory the image's bias is added, wrapping.
protocol ExecutableImage: Sendable {
    /// What its code is written in.
    var architecture: CodeArchitecture { get }
    /// The file. Of a fat one: the slice.
    var bytes: ExecutableBytes { get }
    /// What is mapped, in the file's order; at least one.
    var segments: [ImageSegment] { get }
    /// Where the mapping of the file's first byte wants to lie: its place in memory less this is the bias.
    var base: UInt64 { get }
    /// ELF's build identifier, Mach-O's UUID; empty where there is none.
    var identifier: [UInt8] { get }
    /// What it is called by who needs it (`DT_SONAME`, `LC_ID_DYLIB`).
    var ownName: String? { get }
    /// What it needs (`DT_NEEDED`, `LC_LOAD_DYLIB` and its kin).
    var libraries: [String] { get }
    /// Those of ``libraries`` whose names it gives as its own (`LC_REEXPORT_DYLIB`).
    var reexports: [String] { get }
    /// The parts of the file that are mapped as code and stay as they are, but for ``relocatedCode``.
    var comparableCode: [ImageSegment] { get }
    /// Code that the loader writes to, by address.
    var relocatedCode: [CodeRange] { get }

    /// What other images find under a name, in all its versions.
    func definitions(of name: String) -> [ImageSymbol]

    /// The functions of some names, of all that the file names, exported or not.
    func functions(named names: Set<String>) -> [String: [ImageSymbol]]

    /// The symbols that addresses lie in, where the file names them.
    func symbols(at addresses: Set<UInt64>) -> [UInt64: ImageSymbol]

    /// Goes through the slots that the loader fills with addresses, until `body` answers `false`.
    ///
    /// - Parameters:
    ///   - isRight: Given a slot's address and the image's own address of its name: whether that is what stands there, so
    ///     that nobody needs to know the name. Not every format asks.
    ///   - body: Is given all others.
    /// - Throws: When a table is not what the format says.
    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageRefusal)
}

/// What follows from the rest.
extension ExecutableImage {
    /// None: ELF has nothing like it.
    var reexports: [String] { [] }

    /// Goes through all slots, until `body` answers `false`.
    func forEachImportSlot(_ body: (ImportSlot) -> Bool) throws(ImageRefusal) {
        try self.forEachImportSlot(unless: { _, _ in false }, body)
    }

    /// Where in the file the byte of an address stands; `nil` outside of what the file has.
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A 64-bit Mach-O program or library of x86-64 or arm64, as Apple's systems load it.
///
/// The names of symbols have the underscore that C's names get there.
///
/// Not understood: code that an old linker asked the loader to write to (`__TEXT` of x86 with local relocations), the
/// threaded pointers of the first arm64e linkers, compressed names of chained fixups. Nothing can be compared of code that is
/// encrypted in the file, which is that of a program from the App Store, or of libraries that stand in the system's
/// shared cache and in no file.
struct MachOImage: ExecutableImage {
    /// What its code is written in.
    let architecture: CodeArchitecture
    /// The file; of a fat one the slice.
    let bytes: ExecutableBytes
    /// What is mapped (`LC_SEGMENT_64`).
    let segments: [ImageSegment]
    /// Where the mapping of the file's first byte wants to lie.
    let base: UInt64
    /// The UUID; empty where there is none.
    let identifier: [UInt8]
    /// What it is called by who needs it (`LC_ID_DYLIB`).
    let ownName: String?
    /// What it needs (`LC_LOAD_DYLIB`).
    let libraries: [String]
    /// Those whose names it gives as its own (`LC_REEXPORT_DYLIB`).
    var reexports: [String] { self.header.reexported.sorted().map { self.libraries[$0] } }
    /// The segments of code, without what is encrypted in the file.
    let comparableCode: [ImageSegment]
    /// Code that the loader writes to, by address: not looked for.
    let relocatedCode: [CodeRange] = []

    /// The header and what the load commands say.
    let header: MachOHeader

    /// Reads the headers of a file, thin or fat.
    ///
    /// - Throws: When the file is another one, hostile, or damaged.
    init(_ file: ExecutableBytes, architecture: CodeArchitecture) throws(ImageRefusal) {
        let slice = try MachOSlice.bytes(of: file, for: architecture)
        let header = try MachOHeader(slice, for: architecture)
        let mapped = header.segments.filter(\.isMapped).map(\.segment)
        self.architecture = architecture
        self.bytes = slice
        self.header = header
        self.segments = mapped
        // The segment that begins with the header.
        let first = mapped.first { $0.fileOffset == 0 && $0.fileSize > 0 } ?? mapped.first
        self.base = first?.address ?? 0
        self.identifier = header.identifier
        self.ownName = header.ownName
        self.libraries = header.libraries
        self.comparableCode = mapped.filter { $0.isExecutable && $0.fileSize > 0 }
            .flatMap { Self.pieces(of: $0, without: header.encrypted) }
    }

    /// The parts of a segment's file before and after what is encrypted.
    private static func pieces(of segment: ImageSegment, without encrypted: MachOHeader.Part?) -> [ImageSegment] {
        let whole = segment.fileOffset..<segment.fileOffset + segment.fileSize
        var parts = [whole]
        if let encrypted {
            let hidden = (encrypted.offset..<encrypted.offset + encrypted.count).clamped(to: whole)
            if !hidden.isEmpty {
                parts = [whole.lowerBound..<hidden.lowerBound, hidden.upperBound..<whole.upperBound]
            }
        }
        return parts.filter { !$0.isEmpty }.map { part in
            let count = part.upperBound - part.lowerBound
            return ImageSegment(
                address: segment.address + (part.lowerBound - segment.fileOffset), memorySize: count,
                fileOffset: part.lowerBound, fileSize: count, isExecutable: true, isWritable: segment.isWritable)
        }
    }
}

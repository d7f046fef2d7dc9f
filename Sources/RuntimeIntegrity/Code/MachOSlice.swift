// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which part of a Mach-O file holds the code of one architecture (`<mach-o/fat.h>`; its numbers are big endian).
enum MachOSlice {
    /// The part for an architecture; all of a file that is not fat.
    ///
    /// Of several for arm64 (with and without pointer authentication) the first.
    static func bytes(of file: ExecutableBytes, for architecture: CodeArchitecture) throws(ImageRefusal)
        -> ExecutableBytes
    {
        guard let header = file.bytes(at: 0, count: 8), let magic = Self.number(header, 0) else {
            throw ImageRefusal(.otherFormat, "the file is shorter than a Mach-O header")
        }
        // FAT_MAGIC, FAT_MAGIC_64: entries of 20 and 32 bytes.
        guard magic == 0xCAFE_BABE || magic == 0xCAFE_BABF else { return file }
        let isWide = magic == 0xCAFE_BABF
        // A Java class begins with the same four bytes; there a version stands here, from 45 on.
        guard let count = Self.number(header, 4), count <= UInt32(ImageLimits.slices) else {
            throw ImageRefusal(.tooLarge, "more than \(ImageLimits.slices) architectures")
        }
        let size = isWide ? 32 : 20
        guard let table = file.bytes(at: 8, count: Int(count) * size) else {
            throw ImageRefusal(.truncated, "the list of architectures is cut")
        }
        for entry in stride(from: 0, to: table.count, by: size)
        where Self.number(table, entry) == MachOHeader.processor(architecture) {
            let words = (2...5).map { UInt64(Self.number(table, entry + $0 * 4) ?? 0) }
            let offset = isWide ? words[0] << 32 | words[1] : words[0]
            let count = isWide ? words[2] << 32 | words[3] : words[1]
            guard offset.adding(count) != nil else { throw ImageRefusal(.malformed, "a slice's numbers overflow") }
            return file.part(from: offset, count: count)
        }
        throw ImageRefusal(.unsupported, "the file has no slice for \(architecture.rawValue)")
    }

    private static func number(_ bytes: [UInt8], _ index: Int) -> UInt32? {
        bytes.littleEndian(UInt32.self, at: index)?.byteSwapped
    }
}

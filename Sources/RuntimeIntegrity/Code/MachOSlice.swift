// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which part of a Mach-O file holds the code of one architecture (`<mach-o/fat.h>`; its numbers are big endian).
enum MachOSlice {
    /// An entry of the list of parts.
    private struct Entry {
        let processor: UInt32
        let offset: UInt64
        let count: UInt64

        func part(of file: ExecutableBytes) throws(ImageRefusal) -> ExecutableBytes {
            guard self.offset.adding(self.count) != nil else {
                throw ImageRefusal(.malformed, "a slice's numbers overflow")
            }
            return file.part(from: self.offset, count: self.count)
        }
    }

    /// The part for an architecture; all of a file that is not fat.
    ///
    /// Of several for arm64 (with and without pointer authentication) the first.
    static func bytes(of file: ExecutableBytes, for architecture: CodeArchitecture) throws(ImageRefusal)
        -> ExecutableBytes
    {
        guard let entries = try self.entries(of: file) else { return file }
        let processor = MachOHeader.processor(architecture)
        guard let entry = entries.first(where: { $0.processor == processor }) else {
            throw ImageRefusal(.unsupported, "the file has no slice for \(architecture.rawValue)")
        }
        return try entry.part(of: file)
    }

    /// The parts for all architectures; a file that is not fat alone.
    static func all(of file: ExecutableBytes) throws(ImageRefusal) -> [ExecutableBytes] {
        guard let entries = try self.entries(of: file) else { return [file] }
        var parts: [ExecutableBytes] = []
        for entry in entries { parts.append(try entry.part(of: file)) }
        return parts
    }

    /// The list of parts; `nil` of a file that is not fat.
    private static func entries(of file: ExecutableBytes) throws(ImageRefusal) -> [Entry]? {
        guard let header = file.bytes(at: 0, count: 8), let magic = header.bigEndian(UInt32.self, at: 0) else {
            throw ImageRefusal(.otherFormat, "the file is shorter than a Mach-O header")
        }
        // FAT_MAGIC, FAT_MAGIC_64: entries of 20 and 32 bytes.
        guard magic == 0xCAFE_BABE || magic == 0xCAFE_BABF else { return nil }
        let isWide = magic == 0xCAFE_BABF
        // A Java class begins with the same four bytes; there a version stands here, from 45 on.
        guard let count = header.bigEndian(UInt32.self, at: 4), count <= UInt32(ImageLimits.slices) else {
            throw ImageRefusal(.tooLarge, "more than \(ImageLimits.slices) architectures")
        }
        let size = isWide ? 32 : 20
        guard let table = file.bytes(at: 8, count: Int(count) * size) else {
            throw ImageRefusal(.truncated, "the list of architectures is cut")
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

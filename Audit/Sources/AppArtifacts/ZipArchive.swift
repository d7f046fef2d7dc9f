// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A zip archive: an `.ipa`, or an `.xcarchive` that was packed.
///
/// By its central directory alone. Nothing is written anywhere, and a name that leads out of the archive is a defect
/// that is said, not a path.
public struct ZipArchive: Sendable {
    /// A file in it.
    public struct Entry: Sendable {
        /// Its path.
        public let name: String
        /// The length that it claims, in bytes.
        public let count: Int
        /// The length in the archive, in bytes.
        let packed: Int
        let method: Int
        let isEncrypted: Bool
        let header: Int
    }

    /// The files, in the order of the directory, without folders and without those of ``refused``.
    public private(set) var entries: [Entry] = []

    /// Names that lead out of the archive (`..`, from the root on), and files that inflate like a bomb, each with why.
    public private(set) var refused: [(name: String, why: String)] = []

    private let file: ByteField

    /// Reads the directory.
    ///
    /// - Parameter bytes: The archive.
    /// - Throws: ``ArtifactError``.
    public init(_ bytes: [UInt8]) throws(ArtifactError) {
        let file = ByteField(bytes[...])
        self.file = file
        guard let end = Self.end(of: file) else {
            throw ArtifactError(.otherFormat, "there is no directory of a zip archive at its end")
        }
        guard let count = file.place(end + 10, 2), let size = file.place(end + 12, 4),
            let start = file.place(end + 16, 4)
        else { throw ArtifactError(.truncated, "the end of the directory is cut") }
        guard count <= ArtifactLimits.zipEntries, size < 0xFFFF_FFFF, start < 0xFFFF_FFFF else {
            throw ArtifactError(.unsupported, "it is a zip64 archive, over \(ArtifactLimits.zipEntries) files or 4 GB")
        }
        guard size <= ArtifactLimits.zipDirectoryBytes else {
            throw ArtifactError(.tooLarge, "its directory has over \(ArtifactLimits.zipDirectoryBytes) bytes")
        }
        guard let directory = file.part(start, size) else {
            throw ArtifactError(.truncated, "its directory is not where its end says")
        }
        try self.read(directory, count)
    }

    /// The offset at which the end of the directory begins: before a comment of up to 65,535 bytes.
    private static func end(of file: ByteField) -> Int? {
        guard file.count >= 22 else { return nil }
        for start in stride(from: file.count - 22, through: max(0, file.count - 22 - 65_535), by: -1)
        where file.number(start, 4) == 0x0605_4B50 {
            return start
        }
        return nil
    }

    private mutating func read(_ directory: ByteField, _ count: Int) throws(ArtifactError) {
        var index = 0
        var seen = Set<String>()
        for _ in 0..<count {
            guard directory.number(index, 4) == 0x0201_4B50, let flags = directory.number(index + 8, 2),
                let method = directory.place(index + 10, 2), let packed = directory.place(index + 20, 4),
                let size = directory.place(index + 24, 4), let nameLength = directory.place(index + 28, 2),
                let extra = directory.place(index + 30, 2), let comment = directory.place(index + 32, 2),
                let header = directory.place(index + 42, 4), let name = directory.part(index + 46, nameLength)
            else { throw ArtifactError(.malformed, "an entry of the directory does not fit") }
            index += 46 + nameLength + extra + comment
            let entry = Entry(
                name: String(decoding: name.bytes, as: UTF8.self), count: size, packed: packed, method: method,
                isEncrypted: flags & 1 != 0, header: header)
            if let why = Self.defect(of: entry) {
                self.refused.append((entry.name, why))
            } else if !seen.insert(entry.name).inserted {
                self.refused.append((entry.name, "the name stands there twice: programs differ in which one they take"))
            } else if !entry.name.hasSuffix("/") {
                self.entries.append(entry)
            }
        }
        // Programs that do not write zip64 let the count begin again at 65,536.
        guard index == directory.count else {
            throw ArtifactError(
                .malformed,
                "its directory does not end after the \(count) entries that it counts; over \(ArtifactLimits.zipEntries) files are not read"
            )
        }
    }

    private static func defect(of entry: Entry) -> String? {
        let parts = entry.name.split(separator: "/", omittingEmptySubsequences: false)
        if entry.name.isEmpty || entry.name.utf8.count > ArtifactLimits.zipNameBytes {
            return "the name is empty or over \(ArtifactLimits.zipNameBytes) bytes"
        }
        if entry.name.hasPrefix("/") || entry.name.contains("\\") || entry.name.contains("\0") || parts.contains("..") {
            return "the name leads out of the archive"
        }
        if entry.packed > 0, entry.count / entry.packed > ArtifactLimits.inflation {
            return "it would inflate more than \(ArtifactLimits.inflation)-fold"
        }
        return nil
    }

    /// The bytes of a file.
    ///
    /// - Parameters:
    ///   - entry: One of ``entries``.
    ///   - limit: The maximum number of bytes to read.
    /// - Throws: ``ArtifactError``.
    public func bytes(of entry: Entry, maximum limit: Int) throws(ArtifactError) -> [UInt8] {
        guard entry.count <= limit else { throw ArtifactError(.tooLarge, "it has over \(limit) bytes") }
        guard !entry.isEncrypted else { throw ArtifactError(.unsupported, "it is encrypted") }
        guard self.file.number(entry.header, 4) == 0x0403_4B50, let name = self.file.place(entry.header + 26, 2),
            let extra = self.file.place(entry.header + 28, 2),
            let data = self.file.part(entry.header + 30 + name + extra, entry.packed)
        else { throw ArtifactError(.truncated, "its bytes are not where the directory says") }
        let bytes: [UInt8]
        switch entry.method {
        case 0: bytes = Array(data.bytes)
        case 8: bytes = try Inflate.decode(data, maximum: entry.count)
        default: throw ArtifactError(.unsupported, "it is packed by method \(entry.method)")
        }
        guard bytes.count == entry.count else {
            throw ArtifactError(.malformed, "it has \(bytes.count) bytes and says \(entry.count)")
        }
        return bytes
    }
}

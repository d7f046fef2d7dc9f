// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AuditParsers

/// Archives as `tumbler audit` opens them: the directory, and all files that it lets through.
enum ZipArchiveBytes: FuzzTarget {
    static let name = "zip-archive"

    static func check(_ bytes: [UInt8]) {
        guard let archive = try? ZipArchive(bytes) else { return }
        var names = Set<String>()
        for entry in archive.entries.prefix(1_000) {
            precondition(!entry.name.hasPrefix("/") && !entry.name.split(separator: "/").contains(".."))
            precondition(names.insert(entry.name).inserted)
            guard let content = try? archive.bytes(of: entry, maximum: 1 << 20) else { continue }
            precondition(content.count == entry.count)
        }
    }
}

/// Programs as `tumbler audit` reads them: their libraries and names.
enum ProgramNameBytes: FuzzTarget {
    static let name = "program-names"

    static func check(_ bytes: [UInt8]) {
        guard let file = try? MachOFile(bytes) else { return }
        precondition(file.slices.count <= ArtifactLimits.slices)
        for library in file.slices.flatMap(\.libraries) {
            // Text that is not UTF-8 is replaced by three bytes.
            precondition(library.utf8.count <= 3 * ArtifactLimits.libraryName)
        }
        var count = 0
        file.forEachSymbol { name, _ in
            count += 1
            precondition(name.utf8.count <= 3 * ArtifactLimits.symbolName)
        }
        // An entry has twelve bytes at least; slices may lie over each other.
        precondition(count <= file.slices.count * bytes.count / 12)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeIntegrity

/// The images of this process, as Linux lists them.
enum OwnImages {
    /// The program, then all others by address; what has no file is opaque.
    static func all() throws -> LoadedImages {
        var code: [String: (start: UInt64, offset: UInt64)] = [:]
        var ranges: [String: [Range<UInt64>]] = [:]
        for line in try Self.maps().split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, let offset = UInt64(fields[2], radix: 16) else { continue }
            let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            let path = fields[5].trimmingCharacters(in: .whitespaces)
            guard ends.count == 2, path == "[vdso]" || path.hasPrefix("/") else { continue }
            if fields[1].contains("x"), code[path] == nil { code[path] = (ends[0], offset) }
            ranges[path, default: []].append(ends[0]..<ends[1])
        }
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return LoadedImages(
            code.sorted { $0.key == program || $1.key != program && $0.value.start < $1.value.start }.map {
                path, place in
                // Libraries of other tests come and go.
                let image = try? ELFImage(ExecutableBytes(file: URL(fileURLWithPath: path)))
                return image.flatMap {
                    LoadedImage(path: path, image: $0, codeMappedAt: place.start, offset: place.offset)
                } ?? LoadedImage(path: path, opaque: ranges[path] ?? [])
            })
    }

    /// The list of mappings. `String(contentsOfFile:)` takes the first 4 KiB of such a file for all.
    private static func maps() throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file.fileDescriptor, &part, part.count), count > 0 { text += part[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}

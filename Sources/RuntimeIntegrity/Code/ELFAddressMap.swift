// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Where an ELF file's addresses stand in the file, by what is mapped.
struct ELFAddressMap: Sendable {
    /// The smallest page of both architectures: a mapping covers whole pages, whatever the file says.
    static let pageSize: UInt64 = 4_096

    private let segments: [ImageSegment]

    /// The map of these segments; at least one.
    init(_ segments: [ImageSegment]) { self.segments = segments }

    /// Where the file's first byte wants to lie: that of the lowest segment, less its offset.
    var base: UInt64 {
        self.segments.min { $0.address < $1.address }.map { $0.address &- $0.fileOffset } ?? 0
    }

    /// Where so many bytes from an address on stand; `nil` if not all lie in one segment's part of the file.
    func offset(of address: UInt64, count: UInt64) -> UInt64? {
        for segment in self.segments {
            guard let offset = segment.offset(of: address) else { continue }
            return count <= segment.fileSize - (address - segment.address) ? offset : nil
        }
        return nil
    }

    /// The segments of code, extended to whole pages.
    ///
    /// What fills the first and last page up is the file's as well, and a place where foreign code can hide. It is left
    /// out where another segment lies in that page, and after a segment whose memory goes on past the file.
    var comparableCode: [ImageSegment] {
        self.segments.filter { $0.isExecutable && $0.fileSize > 0 }.map { segment in
            let end = segment.address + segment.fileSize
            let head = segment.address % Self.pageSize
            var before = min(head, segment.fileOffset)
            var after = segment.memorySize == segment.fileSize ? (end.roundedUp(to: Self.pageSize) ?? end) - end : 0
            let first = segment.address - head
            for other in self.segments where other != segment && !other.addresses.isEmpty {
                if other.addresses.overlaps(first..<segment.address) { before = 0 }
                if other.addresses.overlaps(end..<end + after) { after = 0 }
            }
            // The file's end is no reason to stop: memory past it is zero.
            if (segment.fileOffset + segment.fileSize).adding(after) == nil { after = 0 }
            return ImageSegment(
                address: segment.address - before, memorySize: before + segment.fileSize + after,
                fileOffset: segment.fileOffset - before, fileSize: before + segment.fileSize + after,
                isExecutable: true, isWritable: segment.isWritable)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeIntegrity

/// What memory holds after an image was mapped: whole pages of its file, and zeros; nothing is relocated.
struct MappedCopy {
    /// Where the first byte lies.
    let start: UInt64
    /// What is added to the image's addresses.
    let bias: UInt64
    private var bytes: [UInt8]

    /// Maps a file.
    init(_ image: any ExecutableImage, _ file: [UInt8], at start: UInt64) {
        self.start = start
        self.bias = start &- image.base
        let end = image.segments.map(\.addresses.upperBound).max() ?? 0
        self.bytes = [UInt8](repeating: 0, count: (Int(end - image.base) + 4_095) & ~4_095)
        for segment in image.segments {
            // From the page's beginning to the page's end, unless the segment goes on with zeros.
            let head = Int(segment.fileOffset % 4_096)
            let first = Int(segment.address - image.base) - head
            var count = head + Int(segment.fileSize)
            if segment.fileSize == segment.memorySize { count = (count + 4_095) & ~4_095 }
            let offset = Int(segment.fileOffset) - head
            for index in 0..<min(count, self.bytes.count - first) {
                self.bytes[first + index] = offset + index < file.count ? file[offset + index] : 0
            }
        }
    }

    /// The memory.
    var memory: ExecutableBytes { ExecutableBytes(self.bytes, from: self.start) }

    /// Writes bytes at an address of the image.
    mutating func write(_ new: [UInt8], at address: UInt64) {
        let index = Int(address &+ self.bias &- self.start)
        self.bytes.replaceSubrange(index..<index + new.count, with: new)
    }

    /// Writes a pointer at an address of the image.
    mutating func write(pointer: UInt64, at address: UInt64) {
        self.write((0..<8).map { UInt8(truncatingIfNeeded: pointer >> ($0 * 8)) }, at: address)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An executable that is mapped into this process.
struct LoadedImage: Sendable {
    /// The file, or what stands for it (`[vdso]`, a cache of shared libraries).
    let path: String
    /// What is added to the image's addresses; wrapping.
    let bias: UInt64
    /// The file's content; `nil` of what has no file, or one that cannot be read.
    let image: (any ExecutableImage)?
    /// Where it lies, in memory.
    let ranges: [Range<UInt64>]

    /// An image of which the file is known.
    ///
    /// - Parameter start: Where the mapping of the file's first byte lies.
    init(path: String, image: any ExecutableImage, mappedAt start: UInt64) {
        self.path = path
        self.image = image
        self.bias = start &- image.base
        self.ranges = image.segments.compactMap { segment in
            let first = segment.address &+ (start &- image.base)
            return first.adding(segment.memorySize).map { first..<$0 }
        }
    }

    /// An image of which one mapping of code is known, as a list of mappings has it; `nil` where the file has no code there.
    ///
    /// To look for the mapping of the file's first byte is not enough: the first page may be mapped several times, and a
    /// file that is only read is mapped from its first byte as well.
    ///
    /// - Parameters:
    ///   - address: Where the mapping begins.
    ///   - offset: Where in the file what is mapped there begins.
    init?(path: String, image: any ExecutableImage, codeMappedAt address: UInt64, offset: UInt64) {
        let page = ELFAddressMap.pageSize
        let segment = image.segments.first { segment in
            segment.isExecutable && segment.fileSize > 0 && segment.fileOffset.roundedDown(to: page) <= offset
                && offset < segment.fileOffset + segment.fileSize
        }
        guard let segment else { return nil }
        let bias = address &- (segment.address &+ (offset &- segment.fileOffset))
        self.init(path: path, image: image, mappedAt: bias &+ image.base)
    }

    /// An image of which only the place is known: nothing is said against what points into it.
    init(path: String, opaque ranges: [Range<UInt64>]) {
        self.path = path
        self.image = nil
        self.bias = 0
        self.ranges = ranges
    }

    /// Whether code of the image stands at an address of memory; of an image without a file, whether it lies there.
    func isCode(_ address: UInt64) -> Bool {
        self.image?.isCode(address &- self.bias) ?? self.ranges.contains { $0.contains(address) }
    }

    /// What other images need to name to get this one.
    var names: [String] {
        [self.image?.ownName, self.path, self.path.split(separator: "/").last.map(String.init)].compactMap { $0 }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The executables that are mapped into this process from files that still exist at their paths.
///
/// Memory without a file, or from a deleted file, is left out: code that points there is a
/// finding. Libraries that an update has replaced are opaque (``LoadedCode``).
struct LoadedImages: Sendable {
    /// The images; the program comes first.
    let all: [LoadedImage]

    /// Their address ranges, each with the index of its image.
    private let places: [(range: Range<UInt64>, index: Int)]

    /// Whether the file of one was replaced, so that only its code is known.
    let hasReplaced: Bool

    /// The indexes of the images that the program needs, directly or indirectly.
    private let needed: Set<Int>

    /// Creates a list of images, beginning with the program. Of overlapping ranges the one that begins last counts.
    init(_ all: [LoadedImage]) {
        self.all = all
        self.places = all.indices.flatMap { index in all[index].ranges.map { ($0, index) } }
            .filter { !$0.0.isEmpty }.sorted { $0.0.lowerBound < $1.0.lowerBound }
        self.hasReplaced = all.contains { $0.image == nil && $0.path.hasSuffix(MemoryRegion.deletedMark) }
        self.needed = Self.closure(of: 0, in: all)
    }

    /// The index of the image at an address; `nil` where there is none.
    func index(at address: UInt64) -> Int? {
        var low = 0
        var high = self.places.count
        while low < high {
            let middle = (low + high) / 2
            if self.places[middle].range.lowerBound <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, self.places[low - 1].range.contains(address) else { return nil }
        return self.places[low - 1].index
    }

    /// Whether an image is there because the program, or another image, named it: not because of a preload.
    ///
    /// An image without a file counts as needed.
    func isNeeded(_ index: Int, by other: Int) -> Bool {
        self.needed.contains(index) || self.all[index].image == nil
            || Self.closure(of: other, in: self.all).contains(index)
    }

    /// Whether names from a library may be those of an image: it is that library, or one that the library re-exports.
    func standsFor(_ library: String, _ index: Int) -> Bool {
        var open = [library]
        var seen: Set<String> = []
        while let next = open.popLast() {
            guard seen.insert(next).inserted, seen.count <= ImageLimits.libraries else { continue }
            let file = PrintableEvidence.name(ofPath: next)
            for image in self.all.indices where self.all[image].names.contains(where: { $0 == next || $0 == file }) {
                if image == index { return true }
                open += self.all[image].image?.reexports ?? []
            }
        }
        return false
    }

    private static func closure(of start: Int, in all: [LoadedImage]) -> Set<Int> {
        guard all.indices.contains(start) else { return [] }
        var indexes: [String: [Int]] = [:]
        for index in all.indices {
            for name in Set(all[index].names) { indexes[name, default: []].append(index) }
        }
        var reached: Set<Int> = [start]
        var open = [start]
        while let next = open.popLast() {
            for library in all[next].image?.libraries ?? [] {
                let file = library.split(separator: "/").last.map(String.init) ?? library
                for index in indexes[library] ?? indexes[file] ?? [] where reached.insert(index).inserted {
                    open.append(index)
                }
            }
        }
        return reached
    }
}

/// An executable that is mapped into this process.
struct LoadedImage: Sendable {
    /// The file, or its substitute (`[vdso]`, a cache of shared libraries).
    let path: String
    /// The bias, which is added to the image's addresses; wrapping.
    let bias: UInt64
    /// The file's content; `nil` without a file, or where it cannot be read.
    let image: (any ExecutableImage)?
    /// The address ranges in memory.
    let ranges: [Range<UInt64>]

    /// Creates an image with a known file.
    ///
    /// - Parameter start: The address of the file's first byte.
    init(path: String, image: any ExecutableImage, mappedAt start: UInt64) {
        self.path = path
        self.image = image
        self.bias = start &- image.base
        self.ranges = image.segments.compactMap { segment in
            let first = segment.address &+ (start &- image.base)
            return first.adding(segment.memorySize).map { first..<$0 }
        }
    }

    /// Creates an image from one mapping of code in a list of mappings; `nil` where the file has no code there.
    ///
    /// The mapping of the file's first byte is not enough: the first page may be mapped several times, and a
    /// file that is only read is mapped from its first byte as well.
    ///
    /// - Parameters:
    ///   - address: The address of the mapping.
    ///   - offset: The offset of the mapping in the file.
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

    /// Creates an image of which only the address range is known: pointers into it are accepted.
    init(path: String, opaque ranges: [Range<UInt64>]) {
        self.path = path
        self.image = nil
        self.bias = 0
        self.ranges = ranges
    }

    /// Whether an address of memory is in code of the image; for an image without a file, whether it is in its range.
    func isCode(_ address: UInt64) -> Bool {
        self.image?.isCode(address &- self.bias) ?? self.ranges.contains { $0.contains(address) }
    }

    /// The name under which other images need this one.
    var names: [String] {
        [self.image?.ownName, self.path, self.path.split(separator: "/").last.map(String.init)].compactMap { $0 }
    }
}

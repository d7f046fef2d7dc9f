// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// All executables that are mapped into this process from files that stand where they stood.
///
/// What is mapped from memory, or from a deleted file, is left out by whoever lists them: code that points there is a
/// finding.
struct LoadedImages: Sendable {
    /// The images; the program comes first.
    let all: [LoadedImage]

    /// Where they lie, by address: a range and the index of its image.
    private let places: [(range: Range<UInt64>, index: Int)]

    /// The indexes of the images that the program needs, and of what those need.
    private let needed: Set<Int>

    /// A list of images, beginning with the program. Of ranges that overlap, the one that begins last counts.
    init(_ all: [LoadedImage]) {
        self.all = all
        self.places = all.indices.flatMap { index in all[index].ranges.map { ($0, index) } }
            .filter { !$0.0.isEmpty }.sorted { $0.0.lowerBound < $1.0.lowerBound }
        self.needed = Self.closure(of: 0, in: all)
    }

    /// The index of the image that lies at an address; `nil` where none does.
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

    /// Whether names from a library may be those of an image: it is that library, or one whose names that library gives as
    /// its own.
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

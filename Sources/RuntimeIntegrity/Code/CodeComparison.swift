// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Compares the code of a loaded image with its file.
///
/// Code is mapped from the file and stays as it is, but for what the loader writes to it, which few images need and
/// which is left out. So any other difference was made on purpose: a hook, a breakpoint, a patch.
///
/// Not detected: a file that was changed as well, code outside of any image, data, and pages that are swapped
/// between two looks.
struct CodeComparison: Sendable {
    /// The number of bytes that are compared at once.
    static let chunkSize = ExecutableBytes.maximumReadLength
    /// The maximum number of chunks of one image: 1 GiB of code. The largest libraries have some 0.2 GiB.
    static let maximumChunks = 16_384
    /// The maximum number of differences that one call returns. An agent leaves about ten.
    static let maximumDifferences = 64
    /// Runs that are nearer to each other are one difference: some bytes of a jump may equal the original ones by
    /// chance.
    static let joinedBytes = 8

    private let image: any ExecutableImage
    private let bias: UInt64
    private let memory: ExecutableBytes
    private let pieces: [ImageSegment]

    /// The number of chunks of the image's code, for comparing a few of them at a time.
    let chunkCount: Int

    /// Creates a comparison of an image with memory, which is read by address.
    ///
    /// - Parameter bias: The address of the file's first byte, less the image's ``ExecutableImage/base``.
    /// - Throws: An error when there is more code than ``maximumChunks``.
    init(of image: any ExecutableImage, bias: UInt64, memory: ExecutableBytes) throws(ImageError) {
        let limit = UInt64(Self.maximumChunks)
        var chunks: UInt64 = 0
        for piece in image.comparableCode {
            let count = (piece.fileSize / UInt64(Self.chunkSize)) + 1
            guard count <= limit, chunks + count <= limit else {
                throw ImageError(.tooLarge, "more than \(Self.maximumChunks) chunks of code")
            }
            chunks += piece.fileSize == 0 ? 0 : (piece.fileSize - 1) / UInt64(Self.chunkSize) + 1
        }
        self.image = image
        self.bias = bias
        self.memory = memory
        self.pieces = image.comparableCode
        self.chunkCount = Int(chunks)
    }

    /// Compares all code.
    func result() -> CodeComparisonResult { self.result(ofChunks: 0..<self.chunkCount) }

    /// Compares some chunks; numbers from ``chunkCount`` on are ignored.
    func result(ofChunks chunks: Range<Int>) -> CodeComparisonResult {
        var result = CodeComparisonResult()
        for chunk in chunks.clamped(to: 0..<self.chunkCount) {
            if let range = self.range(ofChunk: chunk) { self.compare(range, into: &result) }
        }
        return self.named(result)
    }

    /// Compares some ranges, such as the first bytes of named functions.
    ///
    /// A range outside of comparable code counts as unreadable. A range is cut to ``chunkSize``.
    func result(of ranges: [CodeRange]) -> CodeComparisonResult {
        var result = CodeComparisonResult()
        for range in ranges {
            let asked = CodeRange(address: range.address, count: min(max(range.count, 0), Self.chunkSize))
            let piece = self.pieces.first { $0.addresses.contains(asked.address) }
            guard let piece else {
                result.unreadable.append(asked)
                continue
            }
            let left = piece.addresses.upperBound - asked.address
            self.compare(CodeRange(address: asked.address, count: Int(min(UInt64(asked.count), left))), into: &result)
        }
        return self.named(result)
    }

    /// The bytes of a chunk.
    private func range(ofChunk chunk: Int) -> CodeRange? {
        var index = UInt64(chunk)
        let size = UInt64(Self.chunkSize)
        for piece in self.pieces where piece.fileSize > 0 {
            let chunks = (piece.fileSize - 1) / size + 1
            guard index >= chunks else {
                let start = index * size
                return CodeRange(address: piece.address + start, count: Int(min(size, piece.fileSize - start)))
            }
            index -= chunks
        }
        return nil
    }

    /// The same with the symbols of the differences, which are looked up only for differences.
    private func named(_ result: CodeComparisonResult) -> CodeComparisonResult {
        guard !result.differences.isEmpty else { return result }
        let symbols = self.image.symbols(at: Set(result.differences.map(\.address)))
        var named = result
        for index in named.differences.indices {
            named.differences[index].symbol = symbols[named.differences[index].address]
        }
        return named
    }

    private func compare(_ range: CodeRange, into result: inout CodeComparisonResult) {
        guard range.count > 0 else { return }
        guard let offset = self.pieces.lazy.compactMap({ $0.offset(of: range.address) }).first,
            let file = self.fileBytes(at: offset, count: range.count),
            let memory = self.memory.bytes(at: range.address &+ self.bias, count: range.count)
        else {
            result.unreadable.append(range)
            return
        }
        result.comparedBytes += range.count
        guard !ByteDifferences.areSame(file, memory) else { return }
        ByteDifferences(file, memory, except: self.relocated(in: range)).forEach { run in
            let shown = run.prefix(CodeDifference.bytesShown)
            result.add(
                CodeDifference(
                    address: range.address + UInt64(run.lowerBound), offset: offset + UInt64(run.lowerBound),
                    count: run.count, inFile: Array(file[shown]), inMemory: Array(memory[shown])))
            return !result.hasMore
        }
    }

    /// The file's bytes. Past its end, in the last page, memory is zero.
    private func fileBytes(at offset: UInt64, count: Int) -> [UInt8]? {
        guard let bytes = self.image.bytes.prefix(at: offset, maximum: count) else { return nil }
        guard bytes.count < count else { return bytes }
        guard count - bytes.count < Int(ELFAddressMap.pageSize) else { return nil }
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }

    /// Indexes in a range's bytes that the loader writes to, in order.
    private func relocated(in range: CodeRange) -> [Range<Int>] {
        let relocated = self.image.relocatedCode
        // The first that ends after the range begins.
        var low = 0
        var high = relocated.count
        while low < high {
            let middle = (low + high) / 2
            if relocated[middle].end <= range.address { low = middle + 1 } else { high = middle }
        }
        var indexes: [Range<Int>] = []
        for covered in relocated[low...] {
            guard covered.address < range.end else { break }
            let start = covered.address > range.address ? Int(covered.address - range.address) : 0
            indexes.append(start..<Int(min(covered.end, range.end) - range.address))
        }
        return indexes
    }
}

/// The result of a comparison of code, and its coverage.
struct CodeComparisonResult: Hashable, Sendable {
    /// The differences by address: at most ``CodeComparison/maximumDifferences``.
    var differences: [CodeDifference] = []
    /// Whether there were more differences than are returned.
    var hasMore = false
    /// The number of compared bytes.
    var comparedBytes = 0
    /// The number of bytes that could not be read, of the file or of memory: they may differ.
    var unreadable: [CodeRange] = []

    /// Whether all requested bytes could be compared and are equal.
    var isSame: Bool { self.differences.isEmpty && !self.hasMore && self.unreadable.isEmpty }

    /// Adds a difference while there is room.
    mutating func add(_ difference: CodeDifference) {
        if self.differences.count < CodeComparison.maximumDifferences {
            self.differences.append(difference)
        } else {
            self.hasMore = true
        }
    }
}

/// A run of bytes of code that differ from the file.
///
/// Runs with fewer than ``CodeComparison/joinedBytes`` equal bytes between them are one.
struct CodeDifference: Hashable, Sendable {
    /// The maximum number of bytes of each side that are returned: the longest jump that hooks write, and the
    /// instructions after it.
    static let bytesShown = 16

    /// The first byte's address, without the image's bias.
    let address: UInt64
    /// The offset in the file.
    let offset: UInt64
    /// The number of bytes from the first to the last difference.
    let count: Int
    /// The file's bytes from the first on: at most ``bytesShown``.
    let inFile: [UInt8]
    /// The memory's bytes from the first on: as many.
    let inMemory: [UInt8]
    /// The symbol that the first byte lies in; `nil` where the file has no symbol for it.
    var symbol: ImageSymbol?
}

/// A range of an image's code.
struct CodeRange: Hashable, Sendable {
    /// The first byte's address, without the image's bias. Its sum with ``count`` does not overflow.
    let address: UInt64
    /// The number of bytes; not negative.
    let count: Int

    /// The address after the last byte.
    var end: UInt64 { self.address &+ UInt64(self.count) }

    /// These bytes, in the same order, with each run of adjacent or overlapping ranges as one.
    ///
    /// - Parameter ranges: Sorted by address.
    static func joined(_ ranges: [CodeRange]) -> [CodeRange] {
        var joined: [CodeRange] = []
        for range in ranges {
            if let last = joined.last, range.address <= last.end {
                let end = max(last.end, range.end)
                joined[joined.count - 1] = CodeRange(address: last.address, count: Int(end - last.address))
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}

/// Compares the code of many images a few chunks at a time, one after the other and then again from the beginning.
///
/// All code at once is tens of megabytes. An attacker who knows the position of the round can change code behind it, so
/// the caller chooses the start and the number of chunks at random.
struct ComparisonRound: Sendable {
    private let comparisons: [CodeComparison]

    /// The number of chunks of one round.
    let chunkCount: Int

    /// The next chunk's number, counted over all images.
    private(set) var position: Int

    /// Creates a round over these images.
    ///
    /// - Parameter start: The first chunk; any number: what remains after division by ``chunkCount`` counts.
    init(_ comparisons: [CodeComparison], from start: UInt64) {
        self.comparisons = comparisons
        self.chunkCount = comparisons.reduce(0) { $0 + $1.chunkCount }
        self.position = self.chunkCount == 0 ? 0 : Int(start % UInt64(self.chunkCount))
    }

    /// Compares a number of next chunks, none twice.
    ///
    /// - Returns: For each image with some of the chunks its index and the result.
    mutating func next(_ count: Int) -> [(index: Int, result: CodeComparisonResult)] {
        let end = self.position + min(max(count, 0), self.chunkCount)
        let found =
            self.results(self.position..<min(end, self.chunkCount))
            + self.results(0..<max(end - self.chunkCount, 0))
        self.position = end >= self.chunkCount ? end - self.chunkCount : end
        return found
    }

    private func results(_ chunks: Range<Int>) -> [(index: Int, result: CodeComparisonResult)] {
        var found: [(index: Int, result: CodeComparisonResult)] = []
        var first = 0
        for (index, comparison) in self.comparisons.enumerated() {
            let own = chunks.clamped(to: first..<first + comparison.chunkCount)
            if !own.isEmpty {
                found.append((index, comparison.result(ofChunks: own.lowerBound - first..<own.upperBound - first)))
            }
            first += comparison.chunkCount
        }
        return found
    }
}

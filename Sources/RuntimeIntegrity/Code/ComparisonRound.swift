// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Compares the code of many images a few chunks at a time, one after the other and then again from the beginning.
///
/// All code at once is tens of megabytes. Who knows where the round stands can change code behind it, so where it begins
/// is for the caller to choose by chance, and so is how many chunks come next.
struct ComparisonRound: Sendable {
    private let comparisons: [CodeComparison]

    /// How many chunks one round has.
    let chunkCount: Int

    /// The next chunk's number, counted over all images.
    private(set) var position: Int

    /// A round over these images.
    ///
    /// - Parameter start: The first chunk; any number: what remains after division by ``chunkCount`` counts.
    init(_ comparisons: [CodeComparison], from start: UInt64) {
        self.comparisons = comparisons
        self.chunkCount = comparisons.reduce(0) { $0 + $1.chunkCount }
        self.position = self.chunkCount == 0 ? 0 : Int(start % UInt64(self.chunkCount))
    }

    /// Compares the next chunks: so many, and none twice.
    ///
    /// - Returns: For each image that has some of them its index, and what was found.
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("Code is compared a few chunks at a time")
struct ComparisonRoundTests {
    /// Three images of 3, 1 and 2 chunks, the last byte of each changed in memory.
    private func comparisons() throws -> [CodeComparison] {
        try [196_608, 4_096, 131_072].map { size in
            let file = TinyELF.header(code: size) + [UInt8](repeating: 0x90, count: size)
            var memory = file
            memory[memory.count - 1] = 0xCC
            let image = try ELFImage(ExecutableBytes(file))
            return try CodeComparison(of: image, bias: 0, memory: ExecutableBytes(memory))
        }
    }

    @Test("a round sees each chunk once, wherever it begins and however many come at a time", arguments: 0..<7, 1..<8)
    func roundSeesEachChunkOnceWhereverItBeginsAndHoweverManyComeAtATime(_ start: Int, _ step: Int) throws {
        var round = ComparisonRound(try self.comparisons(), from: UInt64(start))
        #expect(round.chunkCount == 6)
        #expect(round.position == start % 6)
        var compared = [0, 0, 0]
        var found = [0, 0, 0]
        var left = 6
        while left > 0 {
            for (index, result) in round.next(min(step, left)) {
                compared[index] += result.comparedBytes
                found[index] += result.differences.count
            }
            left -= min(step, left)
        }
        #expect(compared == [196_608, 4_096, 131_072])
        #expect(found == [1, 1, 1])
        #expect(round.position == start % 6)
    }

    @Test("more chunks than there are, none, and fewer than none")
    func moreChunksThanThereAreNoneAndFewerThanNone() throws {
        var round = ComparisonRound(try self.comparisons(), from: .max)
        #expect(round.next(.max).reduce(0) { $0 + $1.result.comparedBytes } == 331_776)
        #expect(round.next(0).isEmpty)
        #expect(round.next(.min).isEmpty)
        var empty = ComparisonRound([], from: 5)
        #expect(empty.next(9).isEmpty)
    }
}

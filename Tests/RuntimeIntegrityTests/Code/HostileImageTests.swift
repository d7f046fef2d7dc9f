// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RuntimeIntegrity

@Suite("Hostile executables")
struct HostileImageTests {
    /// How much was read.
    ///
    /// `@unchecked Sendable`: because its variable is read and written under the lock only.
    private final class Meter: @unchecked Sendable {
        private let lock = NSLock()
        private var reads = 0

        var count: Int { self.lock.withLock { self.reads } }

        /// These bytes, counting.
        func bytes(_ file: [UInt8]) -> ExecutableBytes {
            let held = ExecutableBytes(file)
            return ExecutableBytes { offset, count in
                self.lock.withLock { self.reads += 1 }
                return held.prefix(at: offset, maximum: count)
            }
        }
    }

    /// Puts a file through everything that reads one.
    ///
    /// - Returns: Whether it was accepted, and how often it was read.
    private func readAll(_ file: [UInt8], _ architecture: CodeArchitecture) -> (isAccepted: Bool, reads: Int) {
        let meter = Meter()
        let bytes = meter.bytes(file)
        do {
            let image: any ExecutableImage =
                file.first == 0x7F
                ? try ELFImage(bytes) : try MachOImage(bytes, architecture: architecture)
            let memory = ExecutableBytes(file, from: 0x7F00_0000_0000)
            let loaded = LoadedImage(path: "/x", image: image, mappedAt: 0x7F00_0000_0000)
            for offset: UInt64 in [0, 0x1000, .max] {
                _ = LoadedImage(path: "/x", image: image, codeMappedAt: offset &- 4_096, offset: offset)
            }
            let images = LoadedImages([loaded])
            let comparison = try CodeComparison(of: image, bias: loaded.bias, memory: memory)
            _ = comparison.result(ofChunks: 0..<4)
            for name in ["open_door", "_open_door", "knock", ""] { _ = image.definitions(of: name) }
            _ = image.functions(named: ["inner", "_inner"])
            _ = image.symbols(at: [0, 0x1720, 0x430, .max])
            _ = try ImportSlots(in: images, memory: memory).findings(ofImage: 0)
            let check = PrologueCheck(architecture, images: images, memory: memory)
            for range in loaded.ranges { _ = check.finding(at: range.lowerBound) }
            return (true, meter.count)
        } catch {
            return (false, meter.count)
        }
    }

    /// More than any of the recorded files needs: work does not grow with the numbers that a small file names.
    private static let maximumReads = 20_000

    @Test("a file that is cut anywhere is refused or read, within bounds", arguments: RecordedImage.all.indices)
    func fileThatIsCutAnywhereIsRefusedOrReadWithinBounds(_ index: Int) throws {
        let recorded = RecordedImage.all[index]
        let file = recorded.image.bytes
        // Each length among the headers, then some.
        let lengths = Array(0..<400) + Array(stride(from: 400, to: file.count, by: 1 + file.count / 150))
        var refused = 0
        for length in lengths {
            let (isAccepted, reads) = self.readAll(Array(file.prefix(length)), recorded.architecture)
            #expect(reads < Self.maximumReads)
            if !isAccepted { refused += 1 }
        }
        #expect(refused >= 400)
        #expect(self.readAll(file, recorded.architecture).isAccepted)
    }

    @Test("a file with changed bytes is refused or read, within bounds", arguments: RecordedImage.all.indices)
    func fileWithChangedBytesIsRefusedOrReadWithinBounds(_ index: Int) throws {
        let recorded = RecordedImage.all[index]
        let file = recorded.image.bytes
        // Only what is not zero says something; a fixed order that looks random.
        let places = file.indices.filter { file[$0] != 0 }
        let values: [UInt8] = [0xFF, 0x7F, 0x80, 0x01, 0x00]
        var state: UInt64 = 42
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        var refused = 0
        for round in 0..<400 {
            var changed = file
            for _ in 0...round % 3 {
                // Every other change is among the headers and tables of the beginning.
                let place = round % 2 == 0 ? next(1_300) : places[next(places.count)]
                changed[place] = next(2) == 0 ? values[next(values.count)] : changed[place] ^ UInt8(1 << next(8))
            }
            let (isAccepted, reads) = self.readAll(changed, recorded.architecture)
            #expect(reads < Self.maximumReads, "round \(round)")
            if !isAccepted { refused += 1 }
        }
        #expect(refused > 10)
        #expect(refused < 390)
    }

    @Test("numbers that overflow are refused by their code")
    func numbersThatOverflowAreRefusedByTheirCode() {
        func refusal(_ change: (inout [UInt8]) -> Void) -> ImageError.Code? {
            var file = TinyELF.header(code: 4_096) + [UInt8](repeating: 0x90, count: 4_096)
            change(&file)
            do {
                _ = try ELFImage(ExecutableBytes(file))
                return nil
            } catch { return error.code }
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0[0] = 0 } == .otherFormat)
        #expect(refusal { $0[4] = 1 } == .unsupported)
        #expect(refusal { $0[18] = 40 } == .unsupported)
        #expect(refusal { $0[56] = 0 } == .malformed)
        #expect(refusal { $0[56] = 200 } == .tooLarge)
        // The offset, the address and the size of the segment near the end of the numbers.
        for place in [64 + 8, 64 + 16, 64 + 40] {
            #expect(
                refusal { $0.replaceSubrange(place..<place + 8, with: [UInt8](repeating: 0xFF, count: 8)) }
                    == .malformed)
        }
        // More code than is ever compared.
        var file = TinyELF.header(code: 4_096)
        for place in [64 + 32, 64 + 40] { file[place + 5] = 0x7F }
        let image = try? ELFImage(ExecutableBytes(file))
        #expect(throws: ImageError(.tooLarge, "")) {
            try CodeComparison(of: try #require(image), bias: 0, memory: ExecutableBytes([]))
        }
    }

    @Test("a Mach-O file whose exported names go in a circle is searched to an end")
    func machOFileWhoseExportedNamesGoInACircleIsSearchedToAnEnd() throws {
        var file = RecordedImage.machOARM64Program.bytes
        let image = try MachOImage(ExecutableBytes(file), architecture: .arm64)
        let part = try #require(image.header.exports)
        // No address here, one child, the edge "a", and the child is this node.
        file.replaceSubrange(Int(part.offset)..<Int(part.offset) + 5, with: [0, 1, 0x61, 0, 0])
        let hostile = try MachOImage(ExecutableBytes(file), architecture: .arm64)
        #expect(hostile.definitions(of: String(repeating: "a", count: 100_000)).isEmpty)
        #expect(hostile.definitions(of: "a").isEmpty)
    }
}

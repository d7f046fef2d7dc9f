// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("Code in memory is compared with the file")
struct CodeComparisonTests {
    /// Where the copies are mapped.
    private static let place: UInt64 = 0x7F00_1234_0000

    @Test("an image that was mapped and left alone is the same", arguments: RecordedImage.all.indices)
    func imageThatWasMappedAndLeftAloneIsTheSame(_ index: Int) throws {
        let recorded = RecordedImage.all[index]
        let image = try recorded.image.image(recorded.architecture)
        let copy = MappedCopy(image, recorded.image.bytes, at: Self.place)
        let comparison = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory)
        let result = comparison.result()
        #expect(result.isSame)
        #expect(result.comparedBytes == image.comparableCode.reduce(0) { $0 + Int($1.fileSize) })
        #expect(result.comparedBytes >= 4_096)
    }

    @Test("a jump over the first five bytes of a function is found, and the function named")
    func jumpOverTheFirstFiveBytesOfAFunctionIsFoundAndTheFunctionNamed() throws {
        let image = try RecordedImage.elfX86.image(.x86)
        var copy = MappedCopy(image, RecordedImage.elfX86.bytes, at: Self.place)
        copy.write([0xE9, 0x2A, 0x3E, 0x00, 0x00], at: 0x1710)
        let result = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result()
        let difference = try #require(result.differences.first)
        #expect(result.differences.count == 1)
        #expect(difference.symbol?.name == "inner")
        #expect(difference.address == 0x1710)
        #expect(difference.offset == 0x710)
        #expect(difference.inMemory.starts(with: [0xE9, 0x2A, 0x3E]))
        #expect(difference.inFile == Array(RecordedImage.elfX86.bytes[0x710..<0x710 + difference.count]))
    }

    @Test("a changed byte anywhere in the code is found, at its place", arguments: RecordedImage.all.indices)
    func changedByteAnywhereInTheCodeIsFoundAtItsPlace(_ index: Int) throws {
        let recorded = RecordedImage.all[index]
        let image = try recorded.image.image(recorded.architecture)
        let file = recorded.image.bytes
        let code = try #require(image.comparableCode.first)
        for address in stride(from: code.address, to: code.addresses.upperBound, by: 61) {
            if image.relocatedCode.contains(where: { $0.address <= address && address < $0.end }) { continue }
            let offset = Int(try #require(code.offset(of: address)))
            let original = offset < file.count ? file[offset] : 0
            var copy = MappedCopy(image, file, at: Self.place)
            copy.write([original ^ 0x40], at: address)
            let result = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result()
            #expect(result.differences.map(\.address) == [address])
            #expect(result.differences.first?.inMemory == [original ^ 0x40])
        }
    }

    @Test(
        "what the loader writes into code is no difference, and one byte beside it is",
        arguments: [(RecordedImage.elfX86, CodeArchitecture.x86, UInt64(0x1700)), (.elfARM64, .arm64, 0x17F8)])
    func whatTheLoaderWritesIntoCodeIsNoDifferenceAndOneByteBesideItIs(
        _ recorded: RecordedImage, _ architecture: CodeArchitecture, _ written: UInt64
    ) throws {
        let image = try recorded.image(architecture)
        // One by name (RELA), one by the bias (RELR), side by side.
        #expect(image.relocatedCode == [CodeRange(address: written, count: 16)])
        var copy = MappedCopy(image, recorded.bytes, at: Self.place)
        copy.write([UInt8](repeating: 0xA5, count: 16), at: written)
        #expect(try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result().isSame)
        copy.write([0xA5], at: written + 16)
        let result = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result()
        #expect(result.differences.map(\.address) == [written + 16])
    }

    @Test("code hidden in what fills the last page up is found")
    func codeHiddenInWhatFillsTheLastPageUpIsFound() throws {
        let image = try RecordedImage.elfX86.image(.x86)
        var copy = MappedCopy(image, RecordedImage.elfX86.bytes, at: Self.place)
        copy.write([0x90, 0xC3], at: 0x1F00)
        let result = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result()
        #expect(result.differences.map(\.address) == [0x1F00])
        #expect(result.differences.first?.symbol == nil)
    }

    @Test("the first bytes of named functions are compared by themselves")
    func firstBytesOfNamedFunctionsAreComparedByThemselves() throws {
        let image = try RecordedImage.elfX86.image(.x86)
        let names: Set = ["open_door", "close_door", "inner"]
        let found = image.functions(named: names)
        #expect(Set(found.keys) == names)
        let ranges = found.values.joined().map { CodeRange(address: $0.address, count: 16) }
        var copy = MappedCopy(image, RecordedImage.elfX86.bytes, at: Self.place)
        copy.write([0xCC], at: 0x1780)
        let untouched = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result(of: ranges)
        #expect(untouched.isSame)
        #expect(untouched.comparedBytes == 48)
        copy.write([0xCC], at: 0x1760)
        let touched = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result(of: ranges)
        #expect(touched.differences.map(\.symbol?.name) == ["close_door"])
    }

    @Test("the chunks together are all the code, and each finds what lies in it")
    func chunksTogetherAreAllTheCodeAndEachFindsWhatLiesInIt() throws {
        // 37 pages of code behind a page of headers.
        let header = TinyELF.header(code: 151_552)
        let file = header + (0..<151_552).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let image = try ELFImage(ExecutableBytes(file))
        var memory = file
        memory[TinyELF.codeOffset + 70_000] ^= 1
        memory[TinyELF.codeOffset + 140_000] ^= 1
        let comparison = try CodeComparison(
            of: image, bias: 0x10_0000, memory: ExecutableBytes(memory, from: 0x10_0000))
        #expect(comparison.chunkCount == 3)
        let each = (0..<3).map { comparison.result(ofChunks: $0..<$0 + 1) }
        #expect(each.map(\.differences.count) == [0, 1, 1])
        #expect(each.reduce(0) { $0 + $1.comparedBytes } == comparison.result().comparedBytes)
        #expect(comparison.result(ofChunks: 3..<900).comparedBytes == 0)
    }

    @Test("memory that cannot be read is not said to be right")
    func memoryThatCannotBeReadIsNotSaidToBeRight() throws {
        let image = try RecordedImage.elfX86.image(.x86)
        let result = try CodeComparison(of: image, bias: 0, memory: ExecutableBytes { _, _ in nil }).result()
        #expect(!result.isSame)
        #expect(result.comparedBytes == 0)
        #expect(result.unreadable.map(\.count) == [4_096])
        let outside = try CodeComparison(of: image, bias: 0, memory: ExecutableBytes { _, _ in nil })
            .result(of: [CodeRange(address: 0x9000, count: 16)])
        #expect(!outside.isSame)
    }

    @Test("an image that was replaced altogether gives some differences, and says that there are more")
    func imageThatWasReplacedAltogetherGivesSomeDifferencesAndSaysThatThereAreMore() throws {
        let file = TinyELF.header(code: 61_440) + [UInt8](repeating: 0x90, count: 61_440)
        var memory = file
        for index in stride(from: TinyELF.codeOffset, to: file.count, by: 32) { memory[index] = 0xCC }
        let image = try ELFImage(ExecutableBytes(file))
        let result = try CodeComparison(of: image, bias: 0, memory: ExecutableBytes(memory)).result()
        #expect(result.differences.count == CodeComparison.maximumDifferences)
        #expect(result.hasMore)
    }

    @Test("encrypted code is left out, and not taken for a patch")
    func encryptedCodeIsLeftOutAndNotTakenForAPatch() throws {
        var file = RecordedImage.machOARM64Program.bytes
        let plain = try MachOImage(ExecutableBytes(file), architecture: .arm64)
        let copy = MappedCopy(plain, file, at: Self.place)
        // The command of the source version becomes one of encryption, of the page that holds the code.
        let command: [UInt32] = [0x2C, 24, 0, 0x1000, 1, 0]
        let bytes = command.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
        let size = Int(try #require(file.littleEndian(UInt32.self, at: 20)))
        let count = try #require(file.littleEndian(UInt32.self, at: 16))
        file.replaceSubrange(32 + size..<32 + size + 24, with: bytes)
        file[16] = UInt8(count + 1)
        file.replaceSubrange(20..<24, with: (0..<4).map { UInt8(truncatingIfNeeded: (size + 24) >> ($0 * 8)) })
        for index in 0x460..<0x500 { file[index] ^= 0x5A }
        let image = try MachOImage(ExecutableBytes(file), architecture: .arm64)
        let result = try CodeComparison(of: image, bias: copy.bias, memory: copy.memory).result()
        #expect(result.isSame)
        #expect(result.comparedBytes == 0x3000)
    }
}

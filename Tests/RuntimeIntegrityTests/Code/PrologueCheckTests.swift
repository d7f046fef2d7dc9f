// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("A jump at a function's beginning is evaluated by where it leads")
struct PrologueCheckTests {
    /// A library and another one, 16 MiB behind it.
    private static let place: UInt64 = 0x7F00_0000_0000
    private static let otherPlace: UInt64 = 0x7F00_0100_0000

    /// What is found of the library's `open_door`, with this written over it and at other places of the library.
    private func finding(
        _ recorded: RecordedImage, _ architecture: CodeArchitecture, _ function: UInt64,
        _ written: [UInt64: [UInt8]], pointers: [UInt64: UInt64] = [:]
    ) throws -> PrologueFinding? {
        let image = try recorded.image(architecture)
        var copy = MappedCopy(image, recorded.bytes, at: Self.place)
        for (address, bytes) in written { copy.write(bytes, at: address) }
        for (address, pointer) in pointers { copy.write(pointer: pointer, at: address) }
        let images = LoadedImages([
            LoadedImage(path: "/lib/libdoor.so", image: image, mappedAt: Self.place),
            LoadedImage(path: "/lib/libother.so", image: image, mappedAt: Self.otherPlace),
        ])
        return PrologueCheck(architecture, images: images, memory: copy.memory).finding(at: Self.place + function)
    }

    /// `jmp` from an address of the library to one of memory.
    private func jump(from address: UInt64, to target: UInt64) -> [UInt8] {
        let distance = UInt32(truncatingIfNeeded: target &- (Self.place + address + 5))
        return [0xE9] + (0..<4).map { UInt8(truncatingIfNeeded: distance >> ($0 * 8)) }
    }

    @Test("functions as they were compiled are nothing")
    func functionsAsTheyWereCompiledAreNothing() throws {
        for function: UInt64 in [0x1730, 0x1760, 0x1780, 0x1790] {
            #expect(try self.finding(.elfX86, .x86, function, [:]) == nil)
        }
        for function: UInt64 in [0x1828, 0x1870, 0x18A4, 0x18C4] {
            #expect(try self.finding(.elfARM64, .arm64, function, [:]) == nil)
        }
    }

    @Test("a jump into memory without a file is a hook")
    func jumpIntoMemoryWithoutAFileIsAHook() throws {
        let target = Self.place + 0x80_0000
        let finding = try #require(
            try self.finding(.elfX86, .x86, 0x1730, [0x1730: self.jump(from: 0x1730, to: target)]))
        #expect(finding.kind == .outside)
        #expect(finding.target == target)
        #expect(finding.jumps == 1)
        #expect(finding.bytes.first == 0xE9)
    }

    @Test("a jump into memory without a file by way of the image's own spare bytes is a hook")
    func jumpIntoMemoryWithoutAFileByWayOfTheImagesOwnSpareBytesIsAHook() throws {
        let target = Self.place + 0x80_0000
        let finding = try self.finding(
            .elfX86, .x86, 0x1730,
            [
                0x1730: [0xEB, 0x10], 0x1742: self.jump(from: 0x1742, to: Self.place + 0x1800),
                0x1800: self.jump(from: 0x1800, to: target),
            ])
        #expect(finding?.kind == .outside)
        #expect(finding?.jumps == 3)
    }

    @Test("a jump straight into another library's code is a hook")
    func jumpStraightIntoAnotherLibrarysCodeIsAHook() throws {
        let code = self.jump(from: 0x1730, to: Self.otherPlace + 0x1760)
        #expect(try self.finding(.elfX86, .x86, 0x1730, [0x1730: code])?.kind == .otherImage)
    }

    @Test("a jump to data is a hook")
    func jumpToDataIsAHook() throws {
        let code = self.jump(from: 0x1730, to: Self.place + 0x3980)
        #expect(try self.finding(.elfX86, .x86, 0x1730, [0x1730: code])?.kind == .data)
    }

    @Test("a tail call inside of the library is nothing, and to another one through the table of addresses neither")
    func tailCallInsideOfTheLibraryIsNothing() throws {
        let inside = self.jump(from: 0x1730, to: Self.place + 0x1710)
        #expect(try self.finding(.elfX86, .x86, 0x1730, [0x1730: inside]) == nil)
        // The stub of knock, whose slot holds the other library's open_door.
        let stub = self.jump(from: 0x1730, to: Self.place + 0x17F0)
        #expect(
            try self.finding(
                .elfX86, .x86, 0x1730, [0x1730: stub], pointers: [0x39C0: Self.otherPlace + 0x1730]) == nil)
    }

    @Test("a call through a variable that is not set yet, or that holds generated code, is nothing")
    func callThroughAVariableThatIsNotSetYetOrThatHoldsGeneratedCodeIsNothing() throws {
        // jmp *0x39A0, as a compiler ends a function that only calls a pointer.
        let code: [UInt8] = [0xFF, 0x25] + (0..<4).map { UInt8(truncatingIfNeeded: (0x39A0 - 0x1736) >> ($0 * 8)) }
        for pointer: UInt64 in [0, 0x7E00_0000_0000] {
            #expect(
                try self.finding(.elfX86, .x86, 0x1730, [0x1730: code], pointers: [0x39A0: pointer]) == nil)
        }
    }

    @Test("an address that stands among the code is no table of addresses")
    func addressThatStandsAmongTheCodeIsNoTableOfAddresses() throws {
        var code: [UInt8] = [0xFF, 0x25, 0, 0, 0, 0]
        code += (0..<8).map { UInt8(truncatingIfNeeded: (Self.otherPlace + 0x1760) >> ($0 * 8)) }
        #expect(try self.finding(.elfX86, .x86, 0x1730, [0x1730: code])?.kind == .otherImage)
    }

    @Test("Frida's way on arm64, a load of the address behind the jump, is a hook")
    func fridasWayOnArm64ALoadOfTheAddressBehindTheJumpIsAHook() throws {
        // ldr x16, .+8; br x16; the address.
        var code: [UInt8] = [0x50, 0, 0, 0x58, 0, 0x02, 0x1F, 0xD6]
        code += (0..<8).map { UInt8(truncatingIfNeeded: UInt64(0x7E00_0000_1000) >> ($0 * 8)) }
        let finding = try self.finding(.elfARM64, .arm64, 0x1828, [0x1828: code])
        #expect(finding?.kind == .outside)
        #expect(finding?.target == 0x7E00_0000_1000)
    }

    @Test("a breakpoint is found on both architectures")
    func breakpointIsFoundOnBothArchitectures() throws {
        #expect(try self.finding(.elfX86, .x86, 0x1730, [0x1730: [0xCC]])?.kind == .breakpoint)
        #expect(try self.finding(.elfARM64, .arm64, 0x1828, [0x1828: [0, 0, 0x20, 0xD4]])?.kind == .breakpoint)
    }

    @Test("a function that begins with a breakpoint in the file is no finding")
    func functionThatBeginsWithABreakpointInTheFileIsNoFinding() throws {
        var file = RecordedImage.elfX86.bytes
        file[0x730] = 0xCC
        let image = try ELFImage(ExecutableBytes(file))
        var copy = MappedCopy(image, file, at: Self.place)
        let images = LoadedImages([LoadedImage(path: "/lib/libdoor.so", image: image, mappedAt: Self.place)])
        let check = PrologueCheck(.x86, images: images, memory: copy.memory)
        #expect(check.finding(at: Self.place + 0x1730) == nil)
        copy.write([0xCC], at: 0x1760)
        let debugged = PrologueCheck(.x86, images: images, memory: copy.memory)
        #expect(debugged.finding(at: Self.place + 0x1730) == nil)
        #expect(debugged.finding(at: Self.place + 0x1760)?.kind == .breakpoint)
    }

    @Test("jumps in a circle end")
    func jumpsInACircleEnd() throws {
        #expect(try self.finding(.elfX86, .x86, 0x1730, [0x1730: [0xEB, 0xFE]]) == nil)
    }

    @Test("a function outside of all images cannot be evaluated, and that is said")
    func functionOutsideOfAllImagesCannotBeEvaluatedAndThatIsSaid() throws {
        #expect(try self.finding(.elfX86, .x86, 0x900_0000, [:])?.kind == .unreadable)
    }
}

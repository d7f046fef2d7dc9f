// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("The addresses that calls to other libraries go through")
struct ImportSlotsTests {
    private static let place: UInt64 = 0x7F00_0000_0000
    private static let otherPlace: UInt64 = 0x7F00_0100_0000
    private static let preloadPlace: UInt64 = 0x7F00_0200_0000

    /// Where the slots of the library lie, by `readelf -r`, and what would be right in each.
    ///
    /// No image has `knock`, `bell` and `spare`, so each points to the library's own symbol.
    private static func bound(_ copy: inout MappedCopy) {
        copy.write(pointer: 0, at: 0x39A0)
        copy.write(pointer: 0, at: 0x2968)
        copy.write(pointer: 0, at: 0x3990)
        copy.write(pointer: 0, at: 0x2970)
        copy.write(pointer: 0x3980 + self.place, at: 0x2960)
        copy.write(pointer: 0x3980 + 4 + self.place, at: 0x3998)
        copy.write(pointer: 0x17C0 + self.place, at: 0x39D8)
        // knock and spare are not bound yet: they point to the code that binds them, as the file says.
        for slot: UInt64 in [0x39C0, 0x39C8] {
            let offset = Int(slot - 0x3980 + 0x980)
            let unbound = RecordedImage.elfX86.bytes.littleEndian(UInt64.self, at: offset) ?? 0
            copy.write(pointer: unbound + self.place, at: slot)
        }
        // fast is what its resolver chose.
        copy.write(pointer: 0x17D0 + self.place, at: 0x39D0)
    }

    /// The findings in the library after some pointers were written.
    private func findings(_ pointers: [UInt64: UInt64]) throws -> [ImportFinding] {
        let image = try RecordedImage.elfX86.image(.x86)
        var copy = MappedCopy(image, RecordedImage.elfX86.bytes, at: Self.place)
        Self.bound(&copy)
        for (address, pointer) in pointers { copy.write(pointer: pointer, at: address) }
        let other = try RecordedImage.elfARM64.image(.arm64)
        let images = LoadedImages([
            LoadedImage(path: "/lib/libdoor.so.1", image: image, mappedAt: Self.place),
            LoadedImage(
                path: "/lib/libother.so", image: try ELFImage(ExecutableBytes(TinyELF.header(code: 4_096))),
                mappedAt: Self.otherPlace),
            LoadedImage(path: "/tmp/preload.so", image: other, mappedAt: Self.preloadPlace),
        ])
        let (findings, count) = try ImportSlots(in: images, memory: copy.memory).findings(ofImage: 0)
        #expect(count == 11)
        return findings
    }

    @Test("bound, not yet bound, missing, own and resolved addresses are right")
    func boundNotYetBoundMissingOwnAndResolvedAddressesAreRight() throws { #expect(try self.findings([:]) == []) }

    @Test("a call that goes into memory without a file is found, and named")
    func callThatGoesIntoMemoryWithoutAFileIsFoundAndNamed() throws {
        let findings = try self.findings([0x39C0: 0x7E00_0000_0000])
        #expect(findings.map(\.kind) == [.outside])
        #expect(findings.first?.slot.symbol == "knock")
        #expect(findings.first?.slot.address == 0x39C0)
        #expect(findings.first?.target == 0x7E00_0000_0000)
    }

    @Test("an address in the linker's table that goes into memory without a file is found")
    func addressInTheLinkersTableThatGoesIntoMemoryWithoutAFileIsFound() throws {
        #expect(try self.findings([0x2968: 0x7E00_0000_0000]).map(\.kind) == [.outside])
    }

    @Test("a variable of the program may point anywhere: to the heap, to another library")
    func variableOfTheProgramMayPointAnywhereToTheHeapToAnotherLibrary() throws {
        #expect(try self.findings([0x39A0: 0x7E00_0000_0000, 0x3990: Self.otherPlace + 0x1100]) == [])
    }

    @Test("a call that goes into a library without the name is found")
    func callThatGoesIntoALibraryWithoutTheNameIsFound() throws {
        let findings = try self.findings([0x39C0: Self.otherPlace + 0x1100])
        #expect(findings.map(\.kind) == [.otherImage])
        #expect(findings.first?.path == "/lib/libother.so")
    }

    @Test("a name that points to another place of the library that has it is found")
    func nameThatPointsToAnotherPlaceOfTheLibraryThatHasItIsFound() throws {
        #expect(try self.findings([0x2960: 0x3984 + Self.place]).map(\.kind) == [.displaced])
    }

    @Test("a name that a library has which no other needs is found as the weaker sign")
    func nameThatALibraryHasWhichNoOtherNeedsIsFoundAsTheWeakerSign() throws {
        let findings = try self.findings([0x2960: 0x3B10 + Self.preloadPlace])
        #expect(findings.map(\.kind) == [.interposed])
        #expect(findings.first?.path == "/tmp/preload.so")
    }

    @Test("what a resolver of the library chose must lie in its code")
    func whatAResolverOfTheLibraryChoseMustLieInItsCode() throws {
        #expect(try self.findings([0x39D8: 0x3980 + Self.place]).map(\.kind) == [.otherImage])
        #expect(try self.findings([0x39D8: 0x7E00_0000_0000]).map(\.kind) == [.outside])
        #expect(try self.findings([0x39D0: 0x3980 + Self.place]).map(\.kind) == [.displaced])
    }

    @Test("many preloaded names do not keep a hook behind them from being seen")
    func manyPreloadedNamesDoNotKeepAHookBehindThemFromBeingSeen() throws {
        let images = LoadedImages([
            LoadedImage(path: "/program", image: ManySlots(count: 500), mappedAt: 0x1_0000),
            LoadedImage(path: "/preload.so", image: ManySlots(hasNames: true), mappedAt: 0x2_0000),
        ])
        var memory = [UInt8](repeating: 0, count: 4_096)
        for index in 0..<500 { memory[index * 8 + 2] = 2 }
        memory[499 * 8 + 2] = 3
        let check = ImportSlots(in: images, memory: ExecutableBytes(memory, from: 0x1_0000))
        let (findings, count) = try check.findings(ofImage: 0)
        #expect(count == 500)
        #expect(findings.filter { $0.kind == .interposed }.count == ImportSlots.maximumInterposed)
        #expect(findings.filter { $0.kind == .outside }.map(\.slot.symbol) == ["name499"])
        #expect(findings.count == ImportSlots.maximumInterposed + 1)
        // Each of them a hook: there is an end.
        for index in 0..<500 { memory[index * 8 + 2] = 3 }
        let all = ImportSlots(in: images, memory: ExecutableBytes(memory, from: 0x1_0000))
        #expect(try all.findings(ofImage: 0).findings.count == ImportSlots.maximumFindings)
    }

    @Test("slots that cannot be read are said to be so")
    func slotsThatCannotBeReadAreSaidToBeSo() throws {
        let image = try RecordedImage.elfX86.image(.x86)
        let images = LoadedImages([LoadedImage(path: "/lib/libdoor.so.1", image: image, mappedAt: Self.place)])
        let findings = try ImportSlots(in: images, memory: ExecutableBytes { _, _ in nil }).findings(ofImage: 0)
            .findings
        #expect(findings.map(\.kind) == Array(repeating: .unreadable, count: 8))
    }

    @Test("a pointer that is signed is evaluated without its signature")
    func pointerThatIsSignedIsEvaluatedWithoutItsSignature() throws {
        var file = RecordedImage.machOARM64Chained.bytes
        MachOImageTests.makeSigned(&file, format: 9)
        let image = try MachOImage(ExecutableBytes(file), architecture: .arm64)
        var copy = MappedCopy(image, file, at: Self.place)
        for address: UInt64 in [0x4008, 0x4010, 0x8018] { copy.write(pointer: 0, at: address) }
        copy.write(pointer: 0xFFFF_FFFF_FFFF_FFFE, at: 0x4008)
        copy.write(pointer: 0x00AB_8000_0000_0000 | (Self.otherPlace + 0x10), at: 0x4000)
        copy.write(pointer: Self.otherPlace + 0x14, at: 0x8010)
        let images = LoadedImages([
            LoadedImage(path: "/door", image: image, mappedAt: Self.place),
            LoadedImage(path: "(cache)", opaque: [Self.otherPlace..<Self.otherPlace + 0x1000]),
        ])
        let check = ImportSlots(in: images, memory: copy.memory)
        #expect(try check.findings(ofImage: 0).findings == [])
        copy.write(pointer: 0x00AB_8000_0000_0000 | 0x7E00_0000_0000, at: 0x4000)
        let hooked = ImportSlots(in: images, memory: copy.memory)
        #expect(try hooked.findings(ofImage: 0).findings.map(\.kind) == [.outside])
    }
}

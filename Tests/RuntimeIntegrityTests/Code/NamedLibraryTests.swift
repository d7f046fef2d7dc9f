// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Mach-O names the library of each import: what is bound to another one, and lazy pointers that were bound again.
@Suite("Imports are bound to the library that they name")
struct NamedLibraryTests {
    private static let place: UInt64 = 0x7F00_0000_0000
    private static let knockPlace: UInt64 = 0x7F00_0100_0000
    private static let otherPlace: UInt64 = 0x7F00_0200_0000
    /// The lazy pointer to `_knock`.
    private static let slot: UInt64 = 0x3000

    /// A recorded file that loads `/knk.so` and has `_knock` from there: the file itself was linked without libraries.
    ///
    /// The command of the library takes the place of two unneeded ones (`LC_FUNCTION_STARTS`, `LC_DATA_IN_CODE`).
    private static func naming(command: UInt32 = 0x0C) throws -> [UInt8] {
        var file = RecordedImage.machOX86Opcodes.bytes
        func write(_ words: [UInt32], at place: Int) {
            for (index, word) in words.enumerated() {
                for byte in 0..<4 { file[place + index * 4 + byte] = UInt8(truncatingIfNeeded: word >> (byte * 8)) }
            }
        }
        try #require(file.littleEndian(UInt32.self, at: 1_216) == 0x26 && file.littleEndian(at: 1_232) == UInt32(0x29))
        let count: UInt32 = try #require(file.littleEndian(at: 16))
        write([count - 1], at: 16)
        write([command, 32, 24, 0, 0, 0], at: 1_216)
        file.replaceSubrange(1_240..<1_248, with: Array("/knk.so\0".utf8))
        // The first lazy pointer: segment 2 at 0, then where from. 0x3E is anywhere, 0x11 the first library.
        try #require(file[16_456..<16_459].elementsEqual([0x72, 0x00, 0x3E]))
        file[16_458] = 0x11
        return file
    }

    /// The findings in the program when its lazy pointer leads somewhere.
    ///
    /// - Parameters:
    ///   - target: Where it leads.
    ///   - isUnbound: That it leads nowhere yet.
    ///   - reexports: Whether `/knk.so` gives on the names of `/other.so`, which it needs in any case.
    ///   - file: The program; by default the one that names the library.
    private func findings(
        _ target: UInt64, isUnbound: Bool = false, reexports: Bool = false, file: [UInt8]? = nil
    ) throws -> [ImportFinding] {
        let bytes = try file ?? Self.naming()
        let image = try MachOImage(ExecutableBytes(bytes), architecture: .x86)
        var copy = MappedCopy(image, bytes, at: Self.place)
        try image.forEachImportSlot { slot in
            // As the linker left them; all that is not looked at here is missing.
            copy.write(
                pointer: slot.kind == .call ? (slot.unboundAddress ?? 0) + Self.place : 0, at: slot.address)
            return true
        }
        if !isUnbound { copy.write(pointer: target, at: Self.slot) }
        var knock = ManySlots(hasNames: true)
        knock.libraries = ["/other.so"]
        knock.reexports = reexports ? ["/other.so"] : []
        let images = LoadedImages([
            LoadedImage(path: "/program", image: image, mappedAt: Self.place),
            LoadedImage(path: "/knk.so", image: knock, mappedAt: Self.knockPlace),
            LoadedImage(path: "/other.so", image: ManySlots(hasNames: true), mappedAt: Self.otherPlace),
        ])
        return try ImportSlots(in: images, memory: copy.memory).findings(ofImage: 0).findings
    }

    @Test("the slot names the library that its instruction gives, by its place among the libraries")
    func slotNamesTheLibraryThatItsInstructionGivesByItsPlaceAmongTheLibraries() throws {
        let image = try MachOImage(ExecutableBytes(try Self.naming()), architecture: .x86)
        #expect(image.libraries == ["/knk.so"])
        var sources: [UInt64: ImportSlot.Source] = [:]
        try image.forEachImportSlot { slot in
            sources[slot.address] = slot.source
            return true
        }
        #expect(sources[Self.slot] == .library(0))
        // The others may be had from anywhere: so they were linked.
        #expect(Set(sources.filter { $0.key != Self.slot }.values) == [.any])
    }

    @Test("bound to the named library, or not bound yet, it is right")
    func boundToTheNamedLibraryOrNotBoundYetItIsRight() throws {
        #expect(try self.findings(Self.knockPlace) == [])
        #expect(try self.findings(0, isUnbound: true) == [])
    }

    @Test("bound to another library of the program that has the name, it is found")
    func boundToAnotherLibraryOfTheProgramThatHasTheNameItIsFound() throws {
        let findings = try self.findings(Self.otherPlace)
        #expect(findings.map(\.kind) == [.otherLibrary])
        #expect(findings.first?.slot.symbol == "_knock")
        #expect(findings.first?.path == "/other.so")
    }

    @Test("bound to a library that the named one gives on, it is right")
    func boundToALibraryThatTheNamedOneGivesOnItIsRight() throws {
        #expect(try self.findings(Self.otherPlace, reexports: true) == [])
    }

    @Test("a lazy pointer that was bound again to code of an agent, as fishhook does it, is found")
    func lazyPointerThatWasBoundAgainToCodeOfAnAgentAsFishhookDoesItIsFound() throws {
        let findings = try self.findings(0x7E00_0000_0000)
        #expect(findings.map(\.kind) == [.outside])
        #expect(findings.first?.slot.kind == .call)
    }

    @Test("a lazy pointer that was bound again to a function of the program itself is found")
    func lazyPointerThatWasBoundAgainToAFunctionOfTheProgramItselfIsFound() throws {
        let image = try MachOImage(ExecutableBytes(try Self.naming()), architecture: .x86)
        let own = try #require(image.definitions(of: "_close_door").first).address
        #expect(try self.findings(own + Self.place).map(\.kind) == [.otherImage])
    }

    @Test("a library that is named by a number that no library has counts as any")
    func libraryThatIsNamedByANumberThatNoLibraryHasCountsAsAny() throws {
        var file = try Self.naming()
        file[16_458] = 0x1F
        #expect(try self.findings(Self.otherPlace, file: file) == [])
        let image = try MachOImage(ExecutableBytes(file), architecture: .x86)
        for ordinal: UInt64 in [0, 2, 0xFD, 0xFF, 0xFFFF, .max] {
            #expect(image.header.source(ordinal: ordinal) == .any)
        }
        #expect(image.header.source(ordinal: 1) == .library(0))
    }

    @Test("a library whose names are given on is known by its command")
    func libraryWhoseNamesAreGivenOnIsKnownByItsCommand() throws {
        let file = try Self.naming(command: 0x8000_001F)
        #expect(try MachOImage(ExecutableBytes(file), architecture: .x86).reexports == ["/knk.so"])
        #expect(try MachOImage(ExecutableBytes(try Self.naming()), architecture: .x86).reexports.isEmpty)
    }
}

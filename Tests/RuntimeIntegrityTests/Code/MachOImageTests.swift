// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// What `llvm-objdump --macho` and LIEF print of the recorded files.
@Suite("Mach-O images are read as other tools read them")
struct MachOImageTests {
    /// A slot, shortened.
    struct Slot: Hashable {
        let address: UInt64
        let symbol: String
        let kind: ImportSlot.Kind
        var isWeak = false
        var addend: Int64 = 0
        var isSigned = false
    }

    private func slots(_ image: any ExecutableImage) throws -> [Slot] {
        var slots: [Slot] = []
        try image.forEachImportSlot { slot in
            slots.append(
                Slot(
                    address: slot.address, symbol: slot.symbol ?? "", kind: slot.kind, isWeak: slot.isWeak,
                    addend: slot.addend, isSigned: slot.isSigned))
            return true
        }
        return slots
    }

    @Test("bound pointers of chained fixups")
    func boundPointersOfChainedFixups() throws {
        let x86 = try self.slots(RecordedImage.machOX86Chained.image(.x86))
        #expect(
            x86 == [
                Slot(address: 0x2000, symbol: "_bell", kind: .pointer),
                Slot(address: 0x2008, symbol: "_knock", kind: .pointer),
                Slot(address: 0x2010, symbol: "_spare", kind: .pointer, isWeak: true),
                Slot(address: 0x3010, symbol: "_bell", kind: .pointer),
                Slot(address: 0x3018, symbol: "_knock", kind: .pointer),
            ])
        let program = try self.slots(RecordedImage.machOARM64Program.image(.arm64))
        #expect(program.map(\.address) == [0x1_0000_4000, 0x1_0000_4008, 0x1_0000_4010, 0x1_0000_8010, 0x1_0000_8018])
        #expect(program.map(\.symbol) == ["_bell", "_knock", "_spare", "_bell", "_knock"])
    }

    @Test("pointers in the program's data are variables, those in the linker's tables are not")
    func pointersInTheProgramsDataAreVariablesThoseInTheLinkersTablesAreNot() throws {
        func variables(_ recorded: RecordedImage, _ architecture: CodeArchitecture) throws -> [UInt64] {
            var addresses: [UInt64] = []
            try recorded.image(architecture).forEachImportSlot { slot in
                if slot.isVariable { addresses.append(slot.address) }
                return true
            }
            return addresses.sorted()
        }
        #expect(try variables(.machOX86Chained, .x86) == [0x3010, 0x3018])
        #expect(try variables(.machOX86Opcodes, .x86) == [0x3020, 0x3028])
        #expect(try variables(.machOARM64Program, .arm64) == [0x1_0000_8010, 0x1_0000_8018])
    }

    @Test("bound pointers and lazy calls of bind opcodes")
    func boundPointersAndLazyCallsOfBindOpcodes() throws {
        let image = try RecordedImage.machOX86Opcodes.image(.x86)
        #expect(
            Set(try self.slots(image)) == [
                Slot(address: 0x2000, symbol: "_bell", kind: .pointer),
                Slot(address: 0x3020, symbol: "_bell", kind: .pointer),
                Slot(address: 0x2008, symbol: "_spare", kind: .pointer, isWeak: true),
                Slot(address: 0x2010, symbol: "dyld_stub_binder", kind: .pointer),
                Slot(address: 0x3028, symbol: "_knock", kind: .pointer),
                Slot(address: 0x3000, symbol: "_knock", kind: .call),
                Slot(address: 0x3008, symbol: "_spare", kind: .call, isWeak: true),
            ])
        try image.forEachImportSlot { slot in
            // Lazy calls begin at code of the image itself.
            if slot.kind == .call { #expect(slot.unboundAddress.map(image.isCode) == true) }
            return true
        }
    }

    /// Turns the arm64 sample's chains into those of arm64e. LIEF reads the same places and names from the result; it
    /// does not give the addends.
    static func makeSigned(_ file: inout [UInt8], format: UInt8) {
        let fixups = 49_152
        file[fixups + 56 + 6] = format
        file[fixups + 80 + 6] = format
        let words: [Int: UInt64] = [
            0x4000: 0xC008_ABCD_0000_0000, 0x4008: 0x400F_FFFE_0000_0001, 0x4010: 0xC000_0000_0000_0002,
            0x8010: 0x4008_0004_0000_0000, 0x8018: 0x4000_0000_0000_0001,
        ]
        for (offset, word) in words {
            file.replaceSubrange(offset..<offset + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) })
        }
    }

    @Test("bound pointers of arm64e, signed and not", arguments: [UInt8(1), 9, 12])
    func boundPointersOfArm64eSignedAndNot(_ format: UInt8) throws {
        var file = RecordedImage.machOARM64Chained.bytes
        Self.makeSigned(&file, format: format)
        let image = try MachOImage(ExecutableBytes(file), architecture: .arm64)
        #expect(
            try self.slots(image) == [
                Slot(address: 0x4000, symbol: "_bell", kind: .pointer, isSigned: true),
                Slot(address: 0x4008, symbol: "_knock", kind: .pointer, addend: -2),
                Slot(address: 0x4010, symbol: "_spare", kind: .pointer, isWeak: true, isSigned: true),
                Slot(address: 0x8010, symbol: "_bell", kind: .pointer, addend: 4),
                Slot(address: 0x8018, symbol: "_knock", kind: .pointer),
            ])
    }

    @Test("exported names, all names, and the names of addresses")
    func exportedNamesAllNamesAndTheNamesOfAddresses() throws {
        let image = try RecordedImage.machOARM64Program.image(.arm64)
        #expect(image.definitions(of: "_open_door").map(\.address) == [0x1_0000_047C])
        #expect(image.definitions(of: "_knock_pointer").map(\.address) == [0x1_0000_8018])
        // Not exported, imported, a part of a name, more than a name.
        for name in ["_inner", "_knock", "_open", "_open_doors", ""] { #expect(image.definitions(of: name).isEmpty) }
        let functions = image.functions(named: ["_inner", "_open_door", "_table", "_knock"])
        #expect(
            functions.mapValues { $0.map(\.address) } == ["_inner": [0x1_0000_0460], "_open_door": [0x1_0000_047C]])
        let named = image.symbols(at: [0x1_0000_0460, 0x1_0000_047B, 0x1_0000_04C0, 0x1_0000_8011, 5])
        #expect(
            named.mapValues(\.name) == [
                0x1_0000_0460: "_inner", 0x1_0000_047B: "_inner", 0x1_0000_04C0: "_close_door",
                0x1_0000_8011: "_bell_pointer",
            ])
    }

    @Test("segments, name and identifier")
    func segmentsNameAndIdentifier() throws {
        let library = try RecordedImage.machOARM64Chained.image(.arm64)
        #expect(library.ownName == "@rpath/libdoor.dylib")
        #expect(library.base == 0)
        #expect(library.segments.map(\.address) == [0, 0x4000, 0x8000, 0xC000])
        #expect(library.segments.map(\.isExecutable) == [true, false, false, false])
        #expect(library.identifier == [76, 76, 68, 83, 85, 85, 49, 68, 161, 153, 126, 160, 176, 105, 62, 1])
        let program = try RecordedImage.machOARM64Program.image(.arm64)
        #expect(program.base == 0x1_0000_0000)
        #expect(program.segments.first?.address == 0x1_0000_0000)
    }

    /// As `lipo -create` puts them together: x86-64 at 4,096, arm64 at 32,768.
    private static var fat: [UInt8] {
        let parts = [RecordedImage.machOX86Chained.bytes, RecordedImage.machOARM64Chained.bytes]
        func big(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - $0 * 8)) } }
        var file: [UInt8] = [0xCA, 0xFE, 0xBA, 0xBE] + big(2)
        file += big(0x0100_0007) + big(3) + big(4_096) + big(parts[0].count) + big(12)
        file += big(0x0100_000C) + big(0) + big(32_768) + big(parts[1].count) + big(14)
        file += [UInt8](repeating: 0, count: 4_096 - file.count) + parts[0]
        file += [UInt8](repeating: 0, count: 32_768 - file.count) + parts[1]
        return file
    }

    @Test("of a fat file the slice is taken that is asked for")
    func ofAFatFileTheSliceIsTakenThatIsAskedFor() throws {
        let x86 = try MachOImage(ExecutableBytes(Self.fat), architecture: .x86)
        let arm64 = try MachOImage(ExecutableBytes(Self.fat), architecture: .arm64)
        #expect(x86.identifier == (try RecordedImage.machOX86Chained.image(.x86)).identifier)
        #expect(arm64.identifier == (try RecordedImage.machOARM64Chained.image(.arm64)).identifier)
        #expect(arm64.definitions(of: "_open_door").map(\.address) == [0x42C])
        #expect(try self.slots(arm64) == self.slots(RecordedImage.machOARM64Chained.image(.arm64)))
        let thin = ExecutableBytes(RecordedImage.machOX86Chained.bytes)
        #expect(throws: ImageError(.unsupported, "")) { try MachOImage(thin, architecture: .arm64) }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// `DT_RELACOUNT`: how many relocations the loader takes as relative without a look at their types.
@Suite("Relocations that a file counts as relative")
struct RelativeRelocationsTests {
    /// The recorded library, with this count in the place of its own name in the dynamic section.
    private func image(count: UInt64) throws -> ELFImage {
        var file = RecordedImage.elfX86.bytes
        let dynamic = try #require(try ELFHeader(ExecutableBytes(file)).dynamic)
        let image = try ELFImage(ExecutableBytes(file))
        let start = Int(try #require(image.offset(of: dynamic.lowerBound)))
        let place = try #require(
            stride(from: start, to: start + Int(dynamic.upperBound - dynamic.lowerBound), by: 16).first {
                file.littleEndian(UInt64.self, at: $0) == ELFDynamicSection.Tag.ownName.rawValue
            })
        for (offset, number) in [(0, ELFDynamicSection.Tag.relativeCount.rawValue), (8, count)] {
            for byte in 0..<8 { file[place + offset + byte] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(byte))) }
        }
        return try ELFImage(ExecutableBytes(file))
    }

    private func slots(_ image: ELFImage) throws -> [ImportSlot] {
        var slots: [ImportSlot] = []
        try image.forEachImportSlot {
            slots.append($0)
            return true
        }
        return slots
    }

    @Test("what is counted is no slot, as for the loader; a count past the table's end is its end")
    func whatIsCountedIsNoSlotAsForTheLoaderACountPastTheTablesEndIsItsEnd() throws {
        let all = try self.slots(self.image(count: 0))
        #expect(all.contains { $0.kind == .call } && all.contains { $0.kind == .pointer })
        for count: UInt64 in [1_000, .max] {
            let left = try self.slots(self.image(count: count))
            #expect(left == all.filter { $0.kind == .call || $0.kind == .resolved && left.contains($0) })
            #expect(left.contains { $0.kind == .call } && !left.contains { $0.kind == .pointer })
        }
    }

    @Test("code that the loader writes to is found among all relocations, counted or not")
    func codeThatTheLoaderWritesToIsFoundAmongAllRelocationsCountedOrNot() throws {
        let covered = try self.image(count: 0).relocatedCode
        #expect(!covered.isEmpty)
        #expect(try self.image(count: .max).relocatedCode == covered)
    }

    @Test("a slot that holds the image's own function is passed over without its name, and counted")
    func slotThatHoldsTheImagesOwnFunctionIsPassedOverWithoutItsNameAndCounted() throws {
        let image = try self.image(count: 0)
        let own = try self.slots(image).filter { $0.ownAddress != nil && $0.addend == 0 && $0.kind != .resolved }
        var asked: [UInt64] = []
        var left: [ImportSlot] = []
        try image.forEachImportSlot {
            asked.append($0)
            return $1 != 0
        } _: {
            left.append($0)
            return true
        }
        #expect(!own.isEmpty && asked == own.map(\.address))
        #expect(left.allSatisfy { !asked.contains($0.address) })
    }
}

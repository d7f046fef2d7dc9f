// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("Slots that were evaluated, and whether they were touched since")
struct CheckedSlotsTests {
    private static let base: UInt64 = 0x7E00_0000_0000

    /// Three slots, noted in the order of their names, on two pages.
    private func evaluated(_ memory: [UInt8]) -> CheckedSlots {
        var slots = CheckedSlots(from: Self.base)
        for offset in [8_184, 16, 4_096] {
            slots.note(memory.littleEndian(UInt64.self, at: offset) ?? 0, at: Self.base + UInt64(offset))
        }
        slots.sort()
        return slots
    }

    private func stand(_ slots: CheckedSlots, in memory: [UInt8]) -> Bool {
        slots.stand(in: ExecutableBytes(memory, from: Self.base))
    }

    @Test("each bit of each slot counts, and nothing beside them")
    func eachBitOfEachSlotCountsAndNothingBesideThem() {
        var memory = (0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let slots = self.evaluated(memory)
        #expect(slots.isWhole && self.stand(slots, in: memory))
        for offset in [8_184, 16, 4_096] {
            for bit in 0..<64 {
                memory[offset + bit / 8] ^= 1 << (bit % 8)
                #expect(!self.stand(slots, in: memory), "\(offset) \(bit)")
                memory[offset + bit / 8] ^= 1 << (bit % 8)
            }
        }
        for offset in [15, 24, 4_095, 4_104, 8_183] { memory[offset] ^= 0xFF }
        #expect(self.stand(slots, in: memory))
    }

    @Test("two slots that changed places are others")
    func twoSlotsThatChangedPlacesAreOthers() {
        var memory = [UInt8](repeating: 0, count: 8_192)
        memory[16] = 1
        memory[4_096] = 2
        let slots = self.evaluated(memory)
        memory[16] = 2
        memory[4_096] = 1
        #expect(!self.stand(slots, in: memory))
    }

    @Test("what cannot be read does not stand")
    func whatCannotBeReadDoesNotStand() {
        let memory = [UInt8](repeating: 7, count: 8_192)
        #expect(!self.stand(self.evaluated(memory), in: Array(memory.dropLast())))
    }

    @Test("more slots than are kept, one below the base and one 4 GiB behind it, are said not to be whole")
    func moreSlotsThanAreKeptOneBelowTheBaseAndOne4GiBBehindItAreSaidNotToBeWhole() {
        var slots = CheckedSlots(from: Self.base)
        for index in 0..<UInt64(CheckedSlots.maximum) { slots.note(index, at: Self.base + index * 8) }
        #expect(slots.isWhole)
        slots.note(1, at: Self.base)
        #expect(!slots.isWhole)
        for far in [Self.base - 8, Self.base + 1 << 32] {
            var slots = CheckedSlots(from: Self.base)
            slots.note(1, at: far)
            #expect(!slots.isWhole)
        }
    }
}

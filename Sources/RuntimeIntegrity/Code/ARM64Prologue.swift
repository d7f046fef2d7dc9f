// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Jumps at the beginning of arm64 code (Arm's manual, A64: B, BL, BR, BLR, RET, ADR, ADRP, ADD, LDR, MOVZ, MOVK, BRK).
struct ARM64Prologue {
    /// The maximum number of hints (NOP, BTI, PACIASP) before the jump.
    private static let maximumHints = 2
    /// The maximum number of instructions that assemble an address: MOVZ and three MOVK make 64 bits.
    private static let maximumSteps = 4

    private let bytes: [UInt8]
    private let address: UInt64

    /// Creates code whose first byte is at an address.
    init(_ bytes: [UInt8], at address: UInt64) {
        self.bytes = bytes
        self.address = address
    }

    /// The jump, after instructions without an effect.
    var jump: PrologueJump? {
        var start = 0
        while start < Self.maximumHints, let word = self.word(start), word & 0xFFFF_F01F == 0xD503_201F { start += 1 }
        guard let word = self.word(start) else { return nil }
        if word & 0xFFE0_001F == 0xD420_0000 { return PrologueJump(.breakpoint) }
        if word & 0x7C00_0000 == 0x1400_0000 {
            let target = self.place(start) &+ Self.signed(word, from: 0, bits: 26) &* 4
            return PrologueJump(word >> 31 == 0 ? .near : .call, target: target)
        }
        return self.registerJump(from: start)
    }

    /// Follows the value of one register up to a jump to it.
    private func registerJump(from start: Int) -> PrologueJump? {
        guard let first = self.word(start), var value = self.load(first, at: start) else { return nil }
        for step in start + 1...start + Self.maximumSteps {
            guard let word = self.word(step) else { return nil }
            if Self.isJump(word, to: value.register) {
                return value.isSlot
                    ? PrologueJump(.slot, slot: value.number) : PrologueJump(.absolute, target: value.number)
            }
            // The stub of a call to another library also puts the slot's own address into a register.
            if value.isSlot, word & 0xFF80_0000 == 0x9100_0000, word & 0x1F != value.register { continue }
            guard !value.isSlot, let next = Self.changed(value, by: word) else { return nil }
            value = next
        }
        return nil
    }

    /// The value of a register: a number, or the contents of an address.
    private struct Value {
        var register: UInt32
        var number: UInt64
        var isSlot: Bool
    }

    private func word(_ index: Int) -> UInt32? { self.bytes.littleEndian(UInt32.self, at: index * 4) }

    private func place(_ index: Int) -> UInt64 { self.address &+ UInt64(index * 4) }

    /// A signed number of some bits, as 64 bits.
    private static func signed(_ word: UInt32, from shift: UInt32, bits: UInt32) -> UInt64 {
        let field = UInt64(word >> shift) & (1 << UInt64(bits) - 1)
        return field >> UInt64(bits - 1) == 0 ? field : field &- (1 << UInt64(bits))
    }

    /// The first instruction: ADR, ADRP, LDR from a place near by, MOVZ.
    private func load(_ word: UInt32, at index: Int) -> Value? {
        let register = word & 0x1F
        if word & 0x1F00_0000 == 0x1000_0000 {
            let distance = Self.signed(word, from: 5, bits: 19) &* 4 | UInt64(word >> 29 & 3)
            let number =
                word >> 31 == 0
                ? self.place(index) &+ distance : self.place(index).roundedDown(to: 4_096) &+ distance &* 4_096
            return Value(register: register, number: number, isSlot: false)
        }
        if word & 0xFF00_0000 == 0x5800_0000 {
            let number = self.place(index) &+ Self.signed(word, from: 5, bits: 19) &* 4
            return Value(register: register, number: number, isSlot: true)
        }
        if word & 0xFF80_0000 == 0xD280_0000 {
            let number = UInt64(word >> 5 & 0xFFFF) << UInt64((word >> 21 & 3) * 16)
            return Value(register: register, number: number, isSlot: false)
        }
        return nil
    }

    /// An instruction that goes on with the value: ADD of a number, MOVK, LDR from it.
    private static func changed(_ value: Value, by word: UInt32) -> Value? {
        let target = word & 0x1F
        let source = word >> 5 & 0x1F
        if word & 0xFF80_0000 == 0x9100_0000, source == value.register {
            let number = UInt64(word >> 10 & 0xFFF) << (word >> 22 & 1 == 1 ? 12 : 0)
            return Value(register: target, number: value.number &+ number, isSlot: false)
        }
        if word & 0xFF80_0000 == 0xF280_0000, target == value.register {
            let shift = UInt64((word >> 21 & 3) * 16)
            let number = value.number & ~(0xFFFF << shift) | UInt64(word >> 5 & 0xFFFF) << shift
            return Value(register: target, number: number, isSlot: false)
        }
        if word & 0xFFC0_0000 == 0xF940_0000, source == value.register {
            return Value(register: target, number: value.number &+ UInt64(word >> 10 & 0xFFF) &* 8, isSlot: true)
        }
        return nil
    }

    /// BR, BLR, RET, and their kin that check a signature (BRAA, BRAAZ).
    private static func isJump(_ word: UInt32, to register: UInt32) -> Bool {
        guard word >> 5 & 0x1F == register else { return false }
        let isPlain = [0xD61F_0000, 0xD63F_0000, 0xD65F_0000].contains(word & 0xFFFF_FC1F)
        return isPlain || [0xD61F_0800, 0xD71F_0800].contains(word & 0xFFFF_F800)
    }
}

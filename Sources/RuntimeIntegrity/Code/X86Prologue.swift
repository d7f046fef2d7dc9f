// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Jumps at the beginning of x86-64 code (Intel's manual, volume 2: JMP, CALL, MOV, PUSH, RET, INT3, NOP, ENDBR64).
struct X86Prologue {
    /// The instructions that may precede the jump: ENDBR64, and NOP of 1 to 5 bytes.
    private static let fillers: [[UInt8]] = [
        [0xF3, 0x0F, 0x1E, 0xFA], [0x90], [0x66, 0x90], [0x0F, 0x1F, 0x00], [0x0F, 0x1F, 0x40, 0x00],
        [0x0F, 0x1F, 0x44, 0x00, 0x00],
    ]
    /// The maximum number of them: compilers write one or two.
    private static let maximumFillers = 4

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
        for _ in 0..<Self.maximumFillers {
            guard let filler = Self.fillers.first(where: { self.bytes.dropFirst(start).starts(with: $0) }) else {
                break
            }
            start += filler.count
        }
        // F2 is the mark of a bounded jump, which today's processors ignore.
        if self.byte(start) == 0xF2, [0xE9, 0xE8, 0xFF].contains(self.byte(start + 1)) { start += 1 }
        return self.jump(at: start)
    }

    private func jump(at start: Int) -> PrologueJump? {
        switch self.byte(start) {
        case 0xCC: return PrologueJump(.breakpoint)
        case 0xCD: return self.byte(start + 1) == 3 ? PrologueJump(.breakpoint) : nil
        case 0xE9: return self.relative(Int32.self, at: start + 1).map { PrologueJump(.near, target: $0) }
        case 0xE8: return self.relative(Int32.self, at: start + 1).map { PrologueJump(.call, target: $0) }
        case 0xEB: return self.relative(Int8.self, at: start + 1).map { PrologueJump(.near, target: $0) }
        case 0x68: return self.pushed(at: start)
        case 0xFF: return self.throughSlot(at: start)
        case 0x48 where self.byte(start + 1) == 0xFF: return self.throughSlot(at: start + 1)
        case 0x48, 0x49: return self.loaded(at: start)
        default: return nil
        }
    }

    private func byte(_ index: Int) -> UInt8? { index < self.bytes.count ? self.bytes[index] : nil }

    /// The target of a distance at the end of its instruction.
    private func relative<Distance: FixedWidthInteger & BitwiseCopyable>(
        _ type: Distance.Type, at index: Int
    ) -> UInt64? {
        guard let distance = self.bytes.littleEndian(type, at: index) else { return nil }
        let next = self.address &+ UInt64(index + MemoryLayout<Distance>.size)
        return next &+ UInt64(bitPattern: Int64(truncatingIfNeeded: distance))
    }

    /// `FF 25 distance` (from the next instruction), `FF 24 25 address`.
    private func throughSlot(at start: Int) -> PrologueJump? {
        if self.byte(start + 1) == 0x25 {
            return self.relative(Int32.self, at: start + 2).map { PrologueJump(.slot, slot: $0) }
        }
        guard self.byte(start + 1) == 0x24, self.byte(start + 2) == 0x25,
            let address = self.bytes.littleEndian(Int32.self, at: start + 3)
        else { return nil }
        return PrologueJump(.slot, slot: UInt64(bitPattern: Int64(address)))
    }

    /// `68 low, C3` and `68 low, C7 44 24 04 high, C3`.
    private func pushed(at start: Int) -> PrologueJump? {
        guard let low = self.bytes.littleEndian(Int32.self, at: start + 1) else { return nil }
        if self.byte(start + 5) == 0xC3 {
            return PrologueJump(.absolute, target: UInt64(bitPattern: Int64(low)))
        }
        guard self.bytes.dropFirst(start + 5).starts(with: [0xC7, 0x44, 0x24, 0x04]), self.byte(start + 13) == 0xC3,
            let high = self.bytes.littleEndian(UInt32.self, at: start + 9)
        else { return nil }
        return PrologueJump(.absolute, target: UInt64(high) << 32 | UInt64(UInt32(bitPattern: low)))
    }

    /// `48 B8+r number` into a register, then `FF E0+r` or `50+r C3`; `49` and `41` for the upper registers.
    private func loaded(at start: Int) -> PrologueJump? {
        guard let prefix = self.byte(start), let code = self.byte(start + 1), (0xB8...0xBF).contains(code),
            let target = self.bytes.littleEndian(UInt64.self, at: start + 2)
        else { return nil }
        let register = code - 0xB8
        var next = start + 10
        if prefix == 0x49 {
            guard self.byte(next) == 0x41 else { return nil }
            next += 1
        }
        let leaves =
            self.byte(next) == 0xFF && self.byte(next + 1) == 0xE0 + register
            || self.byte(next) == 0x50 + register && self.byte(next + 1) == 0xC3
        return leaves ? PrologueJump(.absolute, target: target) : nil
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

@Suite("Where a function's first instructions lead")
struct PrologueTests {
    @Test("the jump in a function's first instructions is read on x86-64", arguments: PrologueVector.x86)
    func jumpInAFunctionsFirstInstructionsIsReadOnX86(_ vector: PrologueVector) {
        let prologue = Prologue(architecture: .x86, address: PrologueVector.place, bytes: vector.bytes(.x86))
        #expect(prologue.jump == vector.jump)
    }

    @Test("the jump in a function's first instructions is read on arm64", arguments: PrologueVector.arm64)
    func jumpInAFunctionsFirstInstructionsIsReadOnARM64(_ vector: PrologueVector) {
        let prologue = Prologue(architecture: .arm64, address: PrologueVector.place, bytes: vector.bytes(.arm64))
        #expect(prologue.jump == vector.jump)
    }

    @Test("jumps at either end of the address space wrap, and do not trap")
    func jumpsAtEitherEndOfTheAddressSpaceWrapAndDoNotTrap() {
        let far = Prologue(architecture: .x86, address: .max, bytes: [0xE9, 0xFF, 0xFF, 0xFF, 0x7F])
        #expect(far.jump == PrologueJump(.near, target: 0x8000_0003))
        let back = Prologue(architecture: .arm64, address: 0, bytes: [0xFE, 0xFF, 0xFF, 0x17])
        #expect(back.jump == PrologueJump(.near, target: .max - 7))
    }
}

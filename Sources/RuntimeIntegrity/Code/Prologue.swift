// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The first bytes of a function, as they stand in memory.
struct Prologue: Sendable {
    /// How many bytes are looked at: the longest form is 5 arm64 instructions after 2 hints.
    static let size = 32

    /// The instruction set.
    let architecture: CodeArchitecture
    /// Where the first byte stands in memory.
    let address: UInt64
    /// The first bytes: ``size``, or fewer at the end of a mapping.
    let bytes: [UInt8]

    /// The jump, call or breakpoint that the function begins with; `nil` for code like any other.
    ///
    /// Instructions that do nothing, and those that say that a jump may land here, are passed over. A jump is no hook as
    /// such: functions end in jumps, and short ones begin with them.
    var jump: PrologueJump? {
        switch self.architecture {
        case .x86: X86Prologue(self.bytes, at: self.address).jump
        case .arm64: ARM64Prologue(self.bytes, at: self.address).jump
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How a function's first instructions leave it.
struct PrologueJump: Hashable, Sendable {
    /// The instructions.
    enum Form: Hashable, Sendable {
        /// A jump over a distance that stands in the instruction.
        case near
        /// A call over a distance that stands in the instruction.
        case call
        /// A jump through an address that stands elsewhere.
        case slot
        /// A jump to an address that is put together in a register, or on the stack.
        case absolute
        /// The instruction that stops for a debugger.
        case breakpoint
    }

    /// The instructions.
    let form: Form
    /// Where it goes; `nil` of a slot and of a breakpoint.
    let target: UInt64?
    /// Where the address stands; `nil` but for ``Form/slot``.
    let slot: UInt64?

    /// States a jump.
    init(_ form: Form, target: UInt64? = nil, slot: UInt64? = nil) {
        self.form = form
        self.target = target
        self.slot = slot
    }
}

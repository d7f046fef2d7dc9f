// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A place in an image's data that the loader fills with an address, and that code then jumps or points through.
struct ImportSlot: Hashable, Sendable {
    /// What is put there.
    enum Kind: Hashable, Sendable {
        /// The address of a function that is called through the slot, perhaps only found at the first call.
        case call
        /// The address of a name, plus an addend.
        case pointer
        /// What a resolver of this very image chose (`IRELATIVE`).
        case resolved
    }

    /// Where a name comes from (Mach-O's two levels of names).
    enum Source: Hashable, Sendable {
        /// From any image that has it.
        case any
        /// From the library at this place of ``ExecutableImage/libraries``.
        case library(Int)
    }

    /// Where the slot lies, without the image's bias.
    let address: UInt64
    /// What is put there.
    let kind: Kind
    /// The name; `nil` with ``Kind/resolved``.
    let symbol: String?
    /// Where the name has to come from, as the image says; ``Source/any`` where it does not, as in ELF.
    var source = Source.any
    /// What is added to the name's address.
    let addend: Int64
    /// Whether the name may be missing; then the slot holds 0.
    let isWeak: Bool
    /// Where the image itself has the name, without the bias; `nil` where it has not.
    let ownAddress: UInt64?
    /// What stands in the file: of a call that is not bound yet, the address of the code that binds it; `nil` where the
    /// file says nothing.
    let unboundAddress: UInt64?
    /// Whether the pointer carries a signature in its upper bits (arm64e).
    let isSigned: Bool
    /// Whether it is a variable of the program, which the loader only gives its first value.
    let isVariable: Bool
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A function that begins with a jump to where none should go.
struct PrologueFinding: Hashable, Sendable {
    /// What is wrong.
    enum Kind: Hashable, Sendable {
        /// It goes into memory that no file stands behind.
        case outside
        /// It goes straight into another image: only a hook does, for the distance is not known when code is linked.
        case otherImage
        /// It goes to data of an image.
        case data
        /// A breakpoint stands there that the file does not have.
        case breakpoint
        /// It, or the address that it goes to, cannot be read.
        case unreadable
    }

    /// What is wrong.
    let kind: Kind
    /// Where the function stands in memory.
    let function: UInt64
    /// Where the last jump goes; `nil` where that is not known.
    let target: UInt64?
    /// How many jumps were followed: 1 for a function that goes there itself.
    let jumps: Int
    /// The function's first bytes: at most ``CodeDifference/bytesShown``.
    let bytes: [UInt8]
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A slot that holds another address than the loader would have put there.
struct ImportFinding: Hashable, Sendable {
    /// What is wrong.
    enum Kind: Hashable, Sendable {
        /// It points to where no image lies.
        case outside
        /// It points into an image that does not have the name.
        case otherImage
        /// It points to the name in an image that the program needs, but another library is named as the one to have it
        /// from (Mach-O).
        case otherLibrary
        /// It points into an image that has the name, and not to it.
        case displaced
        /// It points to the name in an image that nobody needs: a preload. A weaker sign, and often meant.
        case interposed
        /// It cannot be read.
        case unreadable
    }

    /// What is wrong.
    let kind: Kind
    /// The slot; its address is without the image's bias.
    let slot: ImportSlot
    /// What the slot holds; `nil` where it cannot be read.
    let target: UInt64?
    /// The path of the image that it points into.
    let path: String?
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A name of an executable that has an address.
struct ImageSymbol: Hashable, Sendable {
    /// What a symbol names.
    enum Kind: Hashable, Sendable {
        /// Code.
        case function
        /// Code that chooses, once, the function that callers get (`STT_GNU_IFUNC`, `N_SYMBOL_RESOLVER`).
        case resolver
        /// Data, or what the file does not say.
        case other
    }

    /// As it stands in the file: mangled, and on Mach-O with the first underscore.
    let name: String
    /// Without the image's bias.
    let address: UInt64
    /// In bytes; 0 where the file does not say.
    let size: UInt64
    /// What it names.
    let kind: Kind

    /// Whether an address lies in it. A symbol without a size has one byte.
    func contains(_ address: UInt64) -> Bool {
        address >= self.address && address - self.address < max(self.size, 1)
    }
}

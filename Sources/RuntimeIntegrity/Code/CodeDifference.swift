// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A run of bytes of code that is not what the file says.
///
/// Runs with fewer than ``CodeComparison/joinedBytes`` equal bytes between them are one.
struct CodeDifference: Hashable, Sendable {
    /// The most bytes of each side that are given.
    static let bytesShown = 16

    /// The first byte's address, without the image's bias.
    let address: UInt64
    /// Where in the file it stands.
    let offset: UInt64
    /// How many bytes, from the first that differs to the last.
    let count: Int
    /// The file's, from the first on: at most ``bytesShown``.
    let inFile: [UInt8]
    /// The memory's, from the first on: as many.
    let inMemory: [UInt8]
    /// The symbol that the first byte lies in; `nil` where the file names none.
    var symbol: ImageSymbol?
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A part of an executable that is mapped as one: an ELF `PT_LOAD`, a Mach-O `LC_SEGMENT_64`.
///
/// No sum of its numbers overflows: who makes one has checked that.
struct ImageSegment: Hashable, Sendable {
    /// Where it wants to lie. It lies there plus the image's bias.
    let address: UInt64
    /// Bytes in memory, at least ``fileSize``: what the file does not have is zero.
    let memorySize: UInt64
    /// Where it begins in the file.
    let fileOffset: UInt64
    /// Bytes in the file.
    let fileSize: UInt64
    /// Whether it is mapped to be run.
    let isExecutable: Bool
    /// Whether it is mapped to be written to.
    let isWritable: Bool

    /// Its addresses in memory, without the bias.
    var addresses: Range<UInt64> { self.address..<self.address + self.memorySize }

    /// Where in the file the byte of an address stands; `nil` outside of what the file has.
    func offset(of address: UInt64) -> UInt64? {
        guard address >= self.address, address - self.address < self.fileSize else { return nil }
        return self.fileOffset + (address - self.address)
    }
}

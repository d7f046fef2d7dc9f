// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Some bytes of an image's code.
struct CodeRange: Hashable, Sendable {
    /// The first byte's, without the image's bias. It and ``count`` add up.
    let address: UInt64
    /// How many; not negative.
    let count: Int

    /// The address after the last byte.
    var end: UInt64 { self.address &+ UInt64(self.count) }

    /// These bytes, in the same order, with each run of adjacent or overlapping ranges as one.
    ///
    /// - Parameter ranges: Sorted by address.
    static func joined(_ ranges: [CodeRange]) -> [CodeRange] {
        var joined: [CodeRange] = []
        for range in ranges {
            if let last = joined.last, range.address <= last.end {
                let end = max(last.end, range.end)
                joined[joined.count - 1] = CodeRange(address: last.address, count: Int(end - last.address))
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}

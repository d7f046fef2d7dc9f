// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Bytes of unknown length that are taken in parts, up to a maximum. Pipes and devices have no size, and a file may grow
/// while it is read: what bounds the reading is the reading.
@_spi(Tools)
public enum BoundedBytes {
    /// The maximum number of bytes that are asked for at once: a short file takes no more memory than it has bytes.
    private static let partLength = 1 << 20

    /// Takes parts until there are no more, or more than the maximum.
    ///
    /// - Parameters:
    ///   - maximum: The most bytes there may be.
    ///   - next: Gives at most as many bytes as it is asked for; none, or `nil`, at the end.
    /// - Returns: The bytes; where there are more than the maximum, that many and one, which the caller refuses.
    /// - Throws: What `next` throws.
    public static func read<Part: Sequence<UInt8>>(
        upTo maximum: Int, _ next: (_ count: Int) throws -> Part?
    ) rethrows -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= maximum {
            let length = bytes.count
            guard let part = try next(min(maximum - length, Self.partLength - 1) + 1) else { break }
            bytes += part
            guard bytes.count > length else { break }
        }
        return bytes
    }
}

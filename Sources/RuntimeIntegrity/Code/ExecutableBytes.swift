// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Bytes that are read a piece at a time: those of an executable file by offset, or those of memory by address.
///
/// The reading code has no file and no pointer of its own: it is handed a closure, so that it runs over recorded bytes as
/// well. The closure may be called from any thread. Reading is many small pieces: over a file that is mapped, or held,
/// it is far cheaper than over a system call for each.
struct ExecutableBytes: Sendable {
    /// The most bytes of one piece: what a comparison holds of each side.
    static let longestRead = 65_536

    /// Gives the bytes from an offset on: as many as asked, fewer at the end, `nil` where nothing can be read.
    private let read: @Sendable (UInt64, Int) -> [UInt8]?

    /// Reads through a closure, which is asked for at most ``longestRead`` bytes and never past the end of `UInt64`.
    init(_ read: @escaping @Sendable (_ offset: UInt64, _ count: Int) -> [UInt8]?) { self.read = read }

    /// Reads bytes that are held, from an offset on: those of a file from 0, those of memory from their address.
    init(_ held: [UInt8], from start: UInt64 = 0) {
        self.init { offset, count in
            guard offset >= start, offset - start < UInt64(held.count) else { return nil }
            let first = Int(offset - start)
            return Array(held[first..<first + min(count, held.count - first)])
        }
    }

    /// Exactly so many bytes; `nil` where there are fewer, and for more than ``longestRead``.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
        guard let bytes = self.prefix(at: offset, most: count), bytes.count == count else { return nil }
        return bytes
    }

    /// So many bytes, or fewer at the end; `nil` where there is none, and for more than ``longestRead``.
    func prefix(at offset: UInt64, most: Int) -> [UInt8]? {
        guard (0...Self.longestRead).contains(most) else { return nil }
        guard most > 0 else { return [] }
        guard offset.adding(UInt64(most)) != nil, let bytes = self.read(offset, most) else { return nil }
        return bytes.isEmpty || bytes.count > most ? nil : bytes
    }

    /// A part of these bytes, whose first has the offset 0.
    func part(from start: UInt64, count: UInt64) -> ExecutableBytes {
        ExecutableBytes { offset, most in
            guard offset < count, let place = start.adding(offset) else { return nil }
            return self.prefix(at: place, most: Int(min(UInt64(most), count - offset)))
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Pieces of files that were read during one look, so that small reads of the same tables ask the system once.
///
/// Symbols are looked up in many places of a file, 64 bytes at a time: without this a look at all calls of a program
/// took 30,000 system calls. Each piece has one place, by its number; what comes later takes the place.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class FilePieces: @unchecked Sendable {
    /// The bytes of a piece.
    static let size = 4_096
    /// How many are held: half of the mebibyte that this module may hold at any time.
    static let most = 128

    private struct Piece {
        let file: Int
        let number: UInt64
        let bytes: [UInt8]
    }

    private let lock = NSLock()
    private var held = [Piece?](repeating: nil, count: FilePieces.most)

    /// Bytes of a file: as many as asked, or fewer at its end; `nil` where it cannot be read.
    ///
    /// - Parameters:
    ///   - file: A number for the file, the same each time.
    ///   - offset: Of the first byte.
    ///   - count: How many. More than ``size`` are read at once, and not held.
    ///   - read: Reads the file.
    func bytes(
        of file: Int, at offset: UInt64, count: Int, _ read: (_ offset: UInt64, _ count: Int) -> [UInt8]?
    ) -> [UInt8]? {
        guard count <= Self.size else { return read(offset, count) }
        let size = UInt64(Self.size)
        guard let first = self.piece(offset / size, of: file, read) else { return nil }
        let start = Int(offset % size)
        guard start < first.count else { return nil }
        let end = min(start + count, first.count)
        // A piece that is not whole is the file's last.
        guard end - start < count, first.count == Self.size else { return Array(first[start..<end]) }
        let second = self.piece(offset / size + 1, of: file, read) ?? []
        return Array(first[start...] + second[..<min(count - (end - start), second.count)])
    }

    private func piece(
        _ number: UInt64, of file: Int, _ read: (_ offset: UInt64, _ count: Int) -> [UInt8]?
    ) -> [UInt8]? {
        // Files lie apart, so that the first pieces of all do not share a place.
        let place = Int((number &+ UInt64(truncatingIfNeeded: file) &* 37) % UInt64(Self.most))
        let known = self.lock.withLock { self.held[place] }
        if let known, known.file == file, known.number == number { return known.bytes }
        guard let bytes = read(number * UInt64(Self.size), Self.size) else { return nil }
        self.lock.withLock { self.held[place] = Piece(file: file, number: number, bytes: bytes) }
        return bytes
    }
}

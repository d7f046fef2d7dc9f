// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The lines of a file or of standard input, one at a time and within a bound: what follows is read when it is needed.
package struct InputLines {
    /// One line without its end.
    package enum Line: Sendable {
        case bytes(Data)
        /// Over the bound; its bytes were passed over.
        case tooLong

        /// Whether there is nothing but blanks in it.
        var isBlank: Bool {
            guard case .bytes(let bytes) = self else { return false }
            return bytes.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        }
    }

    private static let partLength = 1 << 18

    private let handle: FileHandle
    private let maximumLength: Int
    private var held: [UInt8] = []
    /// The index in the held bytes at which the next line begins.
    private var start = 0
    /// Up to where there is known to be no end of that line: no byte is looked at twice.
    private var searchedEnd = 0
    private var isAtEnd = false
    private var isTooLong = false

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The file, or `-` for standard input.
    ///   - maximumLength: The most bytes of a line.
    /// - Throws: ``CommandError`` when there is no such file.
    package init(_ path: String, maximumLength: Int) throws(CommandError) {
        self.handle = try InputFile.open(path)
        self.maximumLength = maximumLength
    }

    /// The next lines: waits for one, then takes what else has arrived, so that a caller who waits for an answer before
    /// the next question gets it. None at the end.
    ///
    /// - Parameter maximumCount: The most lines that are given at once.
    /// - Throws: ``CommandError`` when reading fails.
    package mutating func next(atMost maximumCount: Int) throws(CommandError) -> [Line] {
        var lines: [Line] = []
        while lines.count < maximumCount {
            if let line = self.takeLine() {
                if !line.isBlank { lines.append(line) }
            } else if lines.isEmpty, !self.isAtEnd {
                try self.readPart()
            } else {
                break
            }
        }
        return lines
    }

    private mutating func takeLine() -> Line? {
        let end = self.endOfLine()
        self.searchedEnd = end ?? self.held.count
        let isLast = self.isAtEnd && (self.start < self.held.count || self.isTooLong)
        guard let end = end ?? (isLast ? self.held.count : nil) else {
            if self.held.count - self.start > self.maximumLength {
                self.isTooLong = true
                self.forget(before: self.held.count)
            }
            return nil
        }
        let line: Line =
            self.isTooLong || end - self.start > self.maximumLength
            ? .tooLong : .bytes(self.held.withUnsafeBytes { Data($0[self.start..<end]) })
        self.start = min(end + 1, self.held.count)
        self.searchedEnd = self.start
        self.isTooLong = false
        return line
    }

    private func endOfLine() -> Int? {
        self.held.withUnsafeBytes { bytes in
            guard self.searchedEnd < bytes.count, let base = bytes.baseAddress,
                let end = memchr(base + self.searchedEnd, Int32(UInt8(ascii: "\n")), bytes.count - self.searchedEnd)
            else { return nil }
            return UnsafeRawPointer(end) - base
        }
    }

    private mutating func forget(before index: Int) {
        self.held.removeSubrange(..<index)
        self.start -= min(self.start, index)
        self.searchedEnd -= min(self.searchedEnd, index)
    }

    private mutating func readPart() throws(CommandError) {
        var part = [UInt8](repeating: 0, count: Self.partLength)
        // The available bytes, not a full part: `FileHandle` would wait for all of it.
        let count = part.withUnsafeMutableBytes { buffer in
            var count = read(self.handle.fileDescriptor, buffer.baseAddress, buffer.count)
            while count < 0, errno == EINTR {
                count = read(self.handle.fileDescriptor, buffer.baseAddress, buffer.count)
            }
            return count
        }
        guard count >= 0 else { throw CommandError(.undecided, "the questions cannot be read to their end") }
        self.isAtEnd = count == 0
        self.forget(before: self.start)
        self.held += part[..<count]
    }
}

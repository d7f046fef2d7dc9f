// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The lines of a file or of standard input, one at a time and within a bound: what follows is read when it is needed.
struct InputLines {
    /// One line without its end.
    enum Line: Sendable {
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
    private var held = Data()
    /// How many of the bytes held are known to hold no end of a line: none is looked at twice.
    private var searchedCount = 0
    private var isAtEnd = false
    private var isTooLong = false

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The file, or `-` for standard input.
    ///   - maximumLength: The most bytes of a line.
    /// - Throws: ``CommandFailure`` when there is no such file.
    init(_ path: String, maximumLength: Int) throws(CommandFailure) {
        self.handle = try InputFile.open(path)
        self.maximumLength = maximumLength
    }

    /// The next lines: waits for one, then takes what else has arrived, so that who waits for an answer before the next
    /// question gets it. None at the end.
    ///
    /// - Parameter maximumCount: The most lines that are given at once.
    /// - Throws: ``CommandFailure`` when reading fails.
    mutating func next(atMost maximumCount: Int) throws(CommandFailure) -> [Line] {
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
        let end = self.held.dropFirst(self.searchedCount).firstIndex(of: UInt8(ascii: "\n"))
        self.searchedCount = end == nil ? self.held.count : 0
        guard let end = end ?? (self.isAtEnd && (!self.held.isEmpty || self.isTooLong) ? self.held.endIndex : nil)
        else {
            if self.held.count > self.maximumLength {
                self.isTooLong = true
                self.held = Data()
                self.searchedCount = 0
            }
            return nil
        }
        let line: Line =
            self.isTooLong || end - self.held.startIndex > self.maximumLength
            ? .tooLong : .bytes(Data(self.held[..<end]))
        self.held = end < self.held.endIndex ? self.held[(end + 1)...] : Data()
        self.isTooLong = false
        return line
    }

    private mutating func readPart() throws(CommandFailure) {
        var part = [UInt8](repeating: 0, count: Self.partLength)
        // What is there, not what fills the part: `FileHandle` would wait for all of it.
        let count = part.withUnsafeMutableBytes { buffer in
            var count = read(self.handle.fileDescriptor, buffer.baseAddress, buffer.count)
            while count < 0, errno == EINTR {
                count = read(self.handle.fileDescriptor, buffer.baseAddress, buffer.count)
            }
            return count
        }
        guard count >= 0 else { throw CommandFailure(.undecided, "the questions cannot be read to their end") }
        self.isAtEnd = count == 0
        self.held = Data(self.held) + part[..<count]
    }
}

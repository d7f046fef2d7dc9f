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

    private static let partLength = 1 << 16

    private let handle: FileHandle
    private let maximumLength: Int
    private var held = Data()
    private var isAtEnd = false

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

    /// The next line, or `nil` at the end.
    ///
    /// - Throws: ``CommandFailure`` when reading fails.
    mutating func next() throws(CommandFailure) -> Line? {
        var searched = 0
        var isTooLong = false
        while true {
            if let end = self.held.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                defer { self.held = Data(self.held[(end + 1)...]) }
                return isTooLong ? .tooLong : .bytes(Data(self.held[..<end]))
            }
            if self.isAtEnd {
                defer { self.held = Data() }
                if isTooLong { return .tooLong }
                return self.held.isEmpty ? nil : .bytes(self.held)
            }
            if self.held.count > self.maximumLength {
                isTooLong = true
                self.held = Data()
            }
            searched = self.held.count
            do {
                let part = try self.handle.read(upToCount: Self.partLength) ?? Data()
                self.isAtEnd = part.isEmpty
                self.held += part
            } catch {
                throw CommandFailure(.undecided, "the questions cannot be read to their end")
            }
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The reason for which bytes of an app are not read.
///
/// Only ``code`` takes part in comparisons.
public struct ArtifactError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of defect.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// Not a file of the format.
        public static let otherFormat = Code(description: "other-format")
        /// A file of the format, of a kind that is not understood.
        public static let unsupported = Code(description: "unsupported")
        /// Bytes that are promised are not there.
        public static let truncated = Code(description: "truncated")
        /// Numbers that contradict each other.
        public static let malformed = Code(description: "malformed")
        /// More of something than ``ArtifactLimits`` allows.
        public static let tooLarge = Code(description: "too-large")
    }

    /// The kind of defect.
    public let code: Code

    /// The place of the defect, in one sentence without a full stop.
    public let reason: String

    /// States a refusal.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String { "\(self.code): \(self.reason)" }

    /// Equal when the codes are.
    public static func == (left: ArtifactError, right: ArtifactError) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}

/// The most of everything that is read of a built app: its files may be hostile.
public enum ArtifactLimits {
    /// Files of a zip archive: all that it can have without zip64. Large apps have some ten thousand.
    public static let zipEntries = 65_534
    /// Bytes of the directory of a zip archive.
    public static let zipDirectoryBytes = 64 * 1_048_576
    /// Bytes of the name of a file in a zip archive.
    public static let zipNameBytes = 4_096
    /// The maximum number of bytes that one byte of a deflated file may become. Deflate itself ends near 1,032; a bomb
    /// is near that.
    public static let inflation = 200
    /// Architectures in a fat Mach-O file.
    public static let slices = 32
    /// Load commands of a slice.
    public static let loadCommands = 8_192
    /// Bytes of the load commands of a slice.
    public static let loadCommandBytes = 4 * 1_048_576
    /// Symbols of a slice that are looked at.
    public static let symbols = 4_000_000
    /// Bytes of a symbol's name that are looked at: the rest is no name of a C library.
    public static let symbolName = 512
    /// Bytes of a path of a library.
    public static let libraryName = 4_096
}

/// Bytes, and numbers in them, without a trap.
struct ByteField {
    let bytes: ArraySlice<UInt8>

    var count: Int { self.bytes.count }

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// A part; `nil` where it is not whole.
    func part(_ start: Int, _ count: Int) -> ByteField? {
        guard start >= 0, count >= 0, start <= self.bytes.count, count <= self.bytes.count - start else { return nil }
        let first = self.bytes.startIndex + start
        return ByteField(self.bytes[first..<(first + count)])
    }

    /// A number of two, four or eight bytes; `nil` where it is not whole.
    func number(_ start: Int, _ size: Int, isBig: Bool = false) -> UInt64? {
        guard start >= 0, start <= self.bytes.count, size <= self.bytes.count - start else { return nil }
        let first = self.bytes.startIndex + start
        var value: UInt64 = 0
        for index in 0..<size {
            value = value << 8 | UInt64(self.bytes[first + (isBig ? index : size - 1 - index)])
        }
        return value
    }

    /// A number as a place in a file; `nil` where it is not whole or larger than any place.
    func place(_ start: Int, _ size: Int, isBig: Bool = false) -> Int? {
        self.number(start, size, isBig: isBig).flatMap { Int(exactly: $0) }
    }

    /// The text that ends with a zero byte, or at a length.
    func text(at start: Int, maximum: Int) -> String? {
        guard start >= 0, start < self.bytes.count else { return nil }
        let first = self.bytes.startIndex + start
        let end = min(self.bytes.endIndex, first + maximum)
        return String(decoding: self.bytes[first..<end].prefix { $0 != 0 }, as: UTF8.self)
    }
}

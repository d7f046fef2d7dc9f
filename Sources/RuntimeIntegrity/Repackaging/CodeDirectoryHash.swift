// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The hash of a program's CodeDirectory, which has the hashes of all its pages: `codesign` calls it CDHash.
public struct CodeDirectoryHash: Hashable, Sendable, CustomStringConvertible {
    /// How many bytes of the hash function's result it is.
    static let count = 20

    /// The bytes, ``count`` of them.
    let bytes: [UInt8]

    /// From 40 hexadecimal digits, as `codesign -dvvv` and `scripts/code-directory-hash` print it.
    ///
    /// - Returns: `nil` for anything else.
    public init?(_ hexadecimal: String) {
        let digits = hexadecimal.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * Self.count, hexadecimal.utf8.count == digits.count else { return nil }
        self.bytes = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// From the hash function's result, of which the first ``count`` bytes count.
    ///
    /// - Returns: `nil` for fewer.
    init?(_ result: [UInt8]) {
        guard result.count >= Self.count else { return nil }
        self.bytes = Array(result.prefix(Self.count))
    }

    /// In hexadecimal digits, of lower case.
    public var description: String {
        self.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

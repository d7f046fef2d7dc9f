// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

/// The log list that a list names: a file beside it, known by its digest and so signed with it (formats.md, section 3.2).
public struct ListedLogs: Hashable, Sendable {
    /// What the length may be, in bytes: a log list is read up to 4 MiB.
    public static let lengths: ClosedRange<Int64> = 1...4_194_304

    /// The lower-case hex SHA-256 of the file.
    public let digest: String

    /// The file's length in bytes, within ``lengths``.
    public let length: Int

    /// Names a file; `nil` for one whose length is not within ``lengths``.
    public init?(of file: [UInt8]) {
        guard Self.lengths.contains(Int64(file.count)) else { return nil }
        self.digest = Envelope.digest(of: file)
        self.length = file.count
    }

    /// Names a file by its digest and its length; `nil` when the digest is not 64 digits of lower-case hex, or the length
    /// is not within ``lengths``.
    public init?(digest: String, length: Int64) {
        guard Self.isDigest(digest), Self.lengths.contains(length), let length = Int(exactly: length) else {
            return nil
        }
        self.digest = digest
        self.length = length
    }

    /// Whether some bytes are the file.
    public func isFile(_ bytes: [UInt8]) -> Bool {
        bytes.count == self.length && Envelope.digest(of: bytes) == self.digest
    }

    /// Where the file is, below the base address of a list: `/logs/{sha256}.json`.
    public var path: String { "/logs/\(self.digest).json" }

    /// Whether a text is the SHA-256 of something: 64 digits of lower-case hex.
    public static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

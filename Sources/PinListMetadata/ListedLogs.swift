// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

/// The log list that a list names: a file beside it, identified by its digest, which the list's signatures cover
/// (formats.md, section 3.2).
public struct ListedLogs: Hashable, Sendable {
    /// The allowed lengths of a log list in bytes: at most 4 MiB.
    public static let lengths: ClosedRange<Int64> = 1...4_194_304

    /// The lower-case hex SHA-256 of the file.
    public let digest: String

    /// The file's length in bytes, within ``lengths``.
    public let length: Int

    /// Creates the reference to a file; `nil` where its length is not within ``lengths``.
    public init?(of file: [UInt8]) {
        guard Self.lengths.contains(Int64(file.count)) else { return nil }
        self.digest = Envelope.digest(of: file)
        self.length = file.count
    }

    /// Creates the reference to a file from its digest and its length; `nil` when the digest is not 64 digits of
    /// lower-case hex, or the length is not within ``lengths``.
    public init?(digest: String, length: Int64) {
        guard Self.isDigest(digest), Self.lengths.contains(length), let length = Int(exactly: length) else {
            return nil
        }
        self.digest = digest
        self.length = length
    }

    /// Whether some bytes are the referenced file.
    public func isFile(_ bytes: [UInt8]) -> Bool {
        bytes.count == self.length && Envelope.digest(of: bytes) == self.digest
    }

    /// The path of the file below the base address of a list: `/logs/{sha256}.json`.
    public var path: String { "/logs/\(self.digest).json" }

    /// Whether a text is a SHA-256 digest in 64 digits of lower-case hex.
    public static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

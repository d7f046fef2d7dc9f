// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import NIOCore

/// A body of 5 MB in parts of 64 KiB, no two of which are the same.
enum BodyPattern {
    static let partBytes = 65_536
    static let parts = 80
    static let bytes = Self.parts * Self.partBytes

    /// A part: its number, again and again, each time counted up.
    static func part(_ number: Int) -> ByteBuffer {
        var part = ByteBuffer()
        part.reserveCapacity(Self.partBytes)
        for word in 0..<Self.partBytes / 8 { part.writeInteger(UInt64(number) << 32 + UInt64(word)) }
        return part
    }

    /// The SHA-256 of the whole, in hexadecimal.
    static let digest: String = {
        var digest = SHA256()
        for number in 0..<Self.parts { Self.part(number).withUnsafeReadableBytes { digest.update(bufferPointer: $0) } }
        return Self.text(digest.finalize())
    }()

    /// A digest in hexadecimal.
    static func text(_ digest: SHA256.Digest) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
#endif

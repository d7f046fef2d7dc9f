// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The two ways to write an ECDSA signature over P-256.
enum ECDSASignature {
    /// The bytes of r, and of s.
    private static let half = 32

    /// Makes r then s, 32 bytes each, of a DER ECDSA-Sig-Value (RFC 3279, section 2.2.3).
    ///
    /// - Returns: `nil` for anything that is not exactly one, in DER.
    static func raw(ofDER bytes: [UInt8]) -> [UInt8]? {
        // The longest has 72 bytes: two numbers of 33, and their frames.
        guard (8...72).contains(bytes.count) else { return nil }
        return try? DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes -> [UInt8]? in
            guard let r = nodes.next(), let s = nodes.next() else { return nil }
            guard let first = self.padded(try ArraySlice<UInt8>(derEncoded: r)),
                let second = self.padded(try ArraySlice<UInt8>(derEncoded: s))
            else { return nil }
            return first + second
        } ?? nil
    }

    /// - Parameter number: Without the byte that only says that it is positive; the parser takes no negative ones.
    private static func padded(_ number: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = number.drop { $0 == 0 }
        guard digits.count <= self.half else { return nil }
        return [UInt8](repeating: 0, count: self.half - digits.count) + digits
    }
}

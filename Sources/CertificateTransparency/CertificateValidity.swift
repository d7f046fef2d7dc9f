// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A certificate's Validity (RFC 5280, section 4.1.2.5).
struct CertificateValidity {
    /// The first second of validity.
    let notBefore: Timestamp

    /// The last second of validity.
    let notAfter: Timestamp

    /// Reads a Validity in DER, its header included. `nil` for any other form than that of RFC 5280, and for one that ends
    /// before it begins.
    init?(_ der: ArraySlice<UInt8>) {
        let bytes = Array(der)
        let times: (Timestamp, Timestamp)? = bytes.withUnsafeBytes { bytes in
            var whole = DERCursor(0..<bytes.count)
            guard let contents = try? whole.lastContents(of: DERCursor.Tag.sequence, in: bytes.bytes) else {
                return nil
            }
            var members = DERCursor(contents)
            guard let first = Self.time(&members, bytes), let last = Self.time(&members, bytes), members.isAtEnd else {
                return nil
            }
            return (first, last)
        }
        guard let (notBefore, notAfter) = times, notBefore <= notAfter else { return nil }
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    private static func time(_ cursor: inout DERCursor, _ bytes: UnsafeRawBufferPointer) -> Timestamp? {
        guard let (tag, contents) = try? cursor.element(in: bytes.bytes) else { return nil }
        return Timestamp(tag: tag, contents: contents, in: bytes.bytes)
    }
}

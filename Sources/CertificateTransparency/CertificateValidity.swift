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
        guard let (tag, range) = try? cursor.element(in: bytes.bytes) else { return nil }
        var digits = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
        switch (tag, range.count) {
        // Years from 50 on are those of the twentieth century (section 4.1.2.5.1).
        case (DERCursor.Tag.utcTime, 13): digits = (digits < "50" ? "20" : "19") + digits
        case (DERCursor.Tag.generalizedTime, 15): break
        default: return nil
        }
        var rest = digits[...]
        let parts = [4, 2, 2, 2, 2, 2].map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }
        return try? Timestamp(
            "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5])\(rest)")
    }
}

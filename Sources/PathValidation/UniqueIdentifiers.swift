// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// Certificates with unique identifiers (RFC 5280, section 4.1.2.8): old and harmless. swift-certificates refuses them,
/// because it expects explicit tags.
enum UniqueIdentifiers {
    /// The same certificate without them: for reading alone, since the signature is over the bytes that have them.
    ///
    /// - Parameters:
    ///   - der: The certificate.
    ///   - fields: The positions of its parts.
    /// - Throws: `InvalidCertificateError.unexpectedElement` when one of them is not a BIT STRING.
    static func removed(from der: [UInt8], _ fields: CertificateFields) throws(InvalidCertificateError) -> [UInt8] {
        var position = fields.uniqueIdentifiers.lowerBound
        while position < fields.uniqueIdentifiers.upperBound {
            let contents = self.contents(at: position, in: der)
            // The first byte says how many bits of the last one do not count.
            guard let unused = der[contents].first, unused < 8, contents.count > 1 || unused == 0 else {
                throw .unexpectedElement
            }
            position = contents.upperBound
        }
        let signed = self.contents(at: fields.toBeSigned.lowerBound, in: der)
        let shorter =
            der[signed.lowerBound..<fields.uniqueIdentifiers.lowerBound]
            + der[fields.uniqueIdentifiers.upperBound..<signed.upperBound]
        return self.sequence(self.sequence(shorter) + der[fields.toBeSigned.upperBound...])
    }

    /// The contents of an element that the walk has stepped over: its length is DER, and lies within the bytes.
    private static func contents(at position: Int, in der: [UInt8]) -> Range<Int> {
        let first = Int(der[position + 1])
        guard first >= 0x80 else { return (position + 2)..<(position + 2 + first) }
        let start = position + 2 + (first & 0x7f)
        let length = der[(position + 2)..<start].reduce(0) { $0 << 8 | Int($1) }
        return start..<(start + length)
    }

    private static func sequence(_ contents: some Collection<UInt8>) -> [UInt8] {
        let length = contents.count
        let header: [UInt8] =
            switch length {
            case ..<0x80: [UInt8(length)]
            case ..<0x100: [0x81, UInt8(length)]
            default: [0x82, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
            }
        return [0x30] + header + contents
    }
}
#endif

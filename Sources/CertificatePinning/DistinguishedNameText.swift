// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An X.501 Name as one line of text for people: `CN=api.example.com, O=Example`, the most specific first.
///
/// For messages alone; no decision uses it. The bytes come from outside: separators within a value are escaped (RFC
/// 4514, section 2.4), so that one value cannot look like two, and the rest is written as ``PrintableText`` does.
public struct DistinguishedNameText: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of the text in Unicode scalars; a longer text is cut and marked with `…`.
    public static let maximumLength = 256

    /// The text; empty for an empty name.
    public let description: String

    /// Writes the Name that lies in a range of a certificate.
    ///
    /// - Parameters:
    ///   - name: The range of a Name, its header included, as ``CertificateFields`` gives it.
    ///   - bytes: The certificate.
    public init(_ name: Range<Int>, of bytes: [UInt8]) {
        let parts = bytes.withUnsafeBytes { buffer -> [String] in
            (try? Self.attributes(name, in: buffer.bytes)) ?? []
        }
        self.description = PrintableText.line(
            parts.reversed().joined(separator: ", "), maximumLength: Self.maximumLength)
    }

    /// The subject of a certificate, or `nil` when the certificate cannot be read.
    public init?(subjectOf certificate: [UInt8]) {
        guard let fields = try? CertificateFields(walking: certificate) else { return nil }
        self.init(fields.subject, of: certificate)
    }

    /// The issuer of a certificate, or `nil` when the certificate cannot be read.
    public init?(issuerOf certificate: [UInt8]) {
        guard let fields = try? CertificateFields(walking: certificate) else { return nil }
        self.init(fields.issuer, of: certificate)
    }

    private static func attributes(_ name: Range<Int>, in bytes: RawSpan) throws(InvalidCertificateError) -> [String] {
        var parts: [String] = []
        var outer = DERCursor(name)
        var sets = DERCursor(try outer.contents(of: DERCursor.Tag.sequence, in: bytes))
        while !sets.isAtEnd {
            var attributes = DERCursor(try sets.contents(of: DERCursor.Tag.set, in: bytes))
            while !attributes.isAtEnd {
                var attribute = DERCursor(try attributes.contents(of: DERCursor.Tag.sequence, in: bytes))
                let type = try attribute.contents(of: DERCursor.Tag.objectIdentifier, in: bytes)
                let (tag, value) = try attribute.element(in: bytes)
                parts.append("\(self.label(copy(type, of: bytes)))=\(self.text(copy(value, of: bytes), tag: tag))")
            }
        }
        return parts
    }

    private static func copy(_ range: Range<Int>, of bytes: RawSpan) -> [UInt8] {
        range.prefix(4 * self.maximumLength).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }

    /// The short names of RFC 4514, section 3, and `serialNumber`; anything else is `OID`, without its numbers.
    private static func label(_ type: [UInt8]) -> String {
        switch type {
        case [0x55, 0x04, 0x03]: "CN"
        case [0x55, 0x04, 0x05]: "serialNumber"
        case [0x55, 0x04, 0x06]: "C"
        case [0x55, 0x04, 0x07]: "L"
        case [0x55, 0x04, 0x08]: "ST"
        case [0x55, 0x04, 0x0a]: "O"
        case [0x55, 0x04, 0x0b]: "OU"
        case [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x19]: "DC"
        default: "OID"
        }
    }

    private static func text(_ value: [UInt8], tag: UInt8) -> String {
        let utf8String: UInt8 = 0x0c
        let bmpString: UInt8 = 0x1e
        let scalars: [Unicode.Scalar] =
            switch tag {
            case utf8String: Array(String(decoding: value, as: UTF8.self).unicodeScalars)
            case bmpString:
                stride(from: 0, to: value.count - 1, by: 2).map {
                    Unicode.Scalar(UInt16(value[$0]) << 8 | UInt16(value[$0 + 1])) ?? "?"
                }
            default: value.map { Unicode.Scalar($0) }
            }
        return scalars.reduce(into: "") { text, scalar in
            if "\",+;<>\\".unicodeScalars.contains(scalar) { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

/// A certificate that lies in an app: whose it is, until when, and by which hashes it may be pinned.
struct AppCertificate {
    let path: String
    /// The subject, for people.
    let subject: String
    /// The end of its validity; `nil` where the field does not read.
    let end: Timestamp?
    /// SHA-256 of the SubjectPublicKeyInfo: a pin.
    let keyDigest: [UInt8]
    /// SHA-256 of the key alone, without its header: the classic mistake.
    let rawKeyDigest: [UInt8]?
    /// SHA-256 of all of it.
    let certificateDigest: [UInt8]

    /// The most certificates of a file: several times as many as a root store has.
    private static let maximumCount = 1_000

    /// The certificates of a file, DER or PEM, and why they may not be all of them.
    static func all(in bytes: [UInt8], path: String) -> (certificates: [AppCertificate], defect: String?) {
        if let one = AppCertificate(bytes, path: path) { return ([one], nil) }
        // A key in a form of its own: a SubjectPublicKeyInfo, PKCS #1 or PKCS #8.
        if let outer = Self.element(bytes[...]), outer.tag == 0x30, outer.rest.isEmpty,
            outer.content.first == 0x02 || Self.rawKey(in: bytes) != nil
        {
            return ([], nil)
        }
        let blocks: [PEMBlock]
        do throws(InputError) { blocks = try PEMBlock.blocks(in: bytes) } catch { return ([], error.reason) }
        // Also `X509 CERTIFICATE` and `TRUSTED CERTIFICATE`.
        let found = blocks.filter { $0.label.hasSuffix(PEMBlock.certificateLabel) }
        let certificates = found.prefix(Self.maximumCount).compactMap { AppCertificate($0.bytes, path: path) }
        if found.count > certificates.count {
            return (certificates, "\(found.count - certificates.count) of its \(found.count) certificates are not read")
        }
        // A PEM file may hold keys alone.
        let isOther = certificates.isEmpty && (blocks.isEmpty || !path.lowercased().hasSuffix(".pem"))
        return (certificates, isOther ? "it is no certificate that can be read" : nil)
    }

    init?(_ bytes: [UInt8], path: String) {
        guard let fields = try? CertificateFields(walking: bytes), let subject = DistinguishedNameText(subjectOf: bytes)
        else {
            return nil
        }
        self.path = path
        self.subject = subject.description
        let key = Array(bytes[fields.subjectPublicKeyInfo])
        self.keyDigest = Array(SHA256.hash(data: key))
        self.certificateDigest = Array(SHA256.hash(data: bytes))
        self.rawKeyDigest = Self.rawKey(in: key).map { Array(SHA256.hash(data: $0)) }
        self.end = Self.end(of: bytes[fields.validity])
    }

    /// An element of DER at the beginning of bytes: its tag, its content and what follows.
    private static func element(_ bytes: ArraySlice<UInt8>) -> (
        tag: UInt8, content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>
    )? {
        guard bytes.count >= 2, let tag = bytes.first else { return nil }
        var rest = bytes.dropFirst()
        guard let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard length <= rest.count else { return nil }
        return (tag, rest.prefix(length), rest.dropFirst(length))
    }

    /// The bits of the key in a SubjectPublicKeyInfo (RFC 5280, section 4.1).
    private static func rawKey(in information: [UInt8]) -> [UInt8]? {
        guard let outer = self.element(information[...]), outer.tag == 0x30,
            let algorithm = self.element(outer.content),
            let bits = self.element(algorithm.rest), bits.tag == 0x03, bits.content.first == 0
        else { return nil }
        return Array(bits.content.dropFirst())
    }

    /// The later of the two times of a Validity.
    private static func end(of validity: ArraySlice<UInt8>) -> Timestamp? {
        guard let outer = self.element(validity), let start = self.element(outer.content),
            let end = self.element(start.rest)
        else {
            return nil
        }
        var text = String(decoding: end.content, as: UTF8.self)
        // UTCTime: years from 50 on are of the last century.
        if end.tag == 0x17 { text = (text < "50" ? "20" : "19") + text }
        let digits = Array(text.utf8)
        guard digits.count == 15, digits.last == UInt8(ascii: "Z") else { return nil }
        func part(_ start: Int, _ count: Int) -> String {
            String(decoding: digits[start..<(start + count)], as: UTF8.self)
        }
        return try? Timestamp("\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(8, 2)):\(part(10, 2)):\(part(12, 2))Z")
    }
}

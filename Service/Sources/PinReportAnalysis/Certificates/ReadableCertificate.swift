// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The fields of a certificate in a report, for display. Nothing is decided by them but which group a report is counted
/// in, and the sender of the certificate has chosen every word of them.
public struct ReadableCertificate: Hashable, Sendable {
    /// The maximum number of names that are read of a certificate. Those of the public web have up to 100; one needs
    /// its own.
    public static let maximumNames = 32

    /// The maximum number of elements of a certificate, and of its extensions, that are stepped over.
    package static let maximumElements = 64

    /// The subject, the most specific part first; empty for an empty one.
    package let subject: String
    /// The issuer.
    package let issuer: String
    /// The DNS names and IP addresses of the subjectAltName, at most ``maximumNames``.
    public let names: [String]
    /// Whether the certificate has more names, or names of other kinds.
    package let hasOtherNames: Bool
    /// The first second in which it is valid; `nil` where that cannot be read.
    public let notBefore: Timestamp?
    /// The last second in which it is valid.
    public let notAfter: Timestamp?
    /// The pin of its key.
    package let pin: Pin
    /// Whether it names itself as its issuer.
    package let isSelfIssued: Bool

    /// Reads a certificate; `nil` when its frame cannot be read. Times and names are left out where they cannot be.
    ///
    /// - Parameter certificate: DER.
    package init?(_ certificate: [UInt8]) {
        guard let fields = try? CertificateFields(walking: certificate),
            let pin = try? Pin(publicKeyOf: certificate)
        else { return nil }
        self.subject = DistinguishedNameText(fields.subject, of: certificate).description
        self.issuer = DistinguishedNameText(fields.issuer, of: certificate).description
        self.pin = pin
        self.isSelfIssued = certificate[fields.subject] == certificate[fields.issuer]
        var position = fields.validity.lowerBound
        let validity = DERElement(at: &position, before: fields.validity.upperBound, in: certificate)
        let times = validity?.elements(in: certificate, maximum: 2) ?? []
        self.notBefore = times.first?.time(in: certificate).flatMap { try? Timestamp($0) }
        self.notAfter = times.dropFirst().first?.time(in: certificate).flatMap { try? Timestamp($0) }
        let names = Self.names(of: certificate, after: fields.subjectPublicKeyInfo.upperBound)
        self.names = Array(names.texts.prefix(Self.maximumNames))
        self.hasOtherNames = names.hasOthers || names.texts.count > Self.maximumNames
    }

    /// Whether its names cover a host (RFC 9525, section 6.3: a wildcard stands for one whole label); `nil` where that
    /// cannot be told, because it has more names than were read, or the host is none.
    package func names(_ host: String) -> Bool? {
        let host = Self.comparable(host)
        guard !host.isEmpty else { return nil }
        let parent = host.drop { $0 != "." }
        let covers = self.names.contains { name in
            let name = Self.comparable(name)
            return name == host || (name.hasPrefix("*.") && parent.count > 1 && name.dropFirst() == parent)
        }
        return covers ? true : self.hasOtherNames ? nil : false
    }

    private static func comparable(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    /// The subjectAltName (RFC 5280, section 4.2.1.6).
    private static func names(of certificate: [UInt8], after key: Int) -> (texts: [String], hasOthers: Bool) {
        let extensionsTag: UInt8 = 0xa3
        let octetString: UInt8 = 0x04
        let subjectAltName: [UInt8] = [0x55, 0x1d, 0x11]
        var position = 0
        guard let whole = DERElement(at: &position, before: certificate.count, in: certificate),
            let signed = whole.elements(in: certificate, maximum: 1).first
        else { return ([], false) }
        position = key
        while let element = DERElement(at: &position, before: signed.contents.upperBound, in: certificate) {
            guard element.tag == extensionsTag else { continue }
            let extensions =
                element.elements(in: certificate, maximum: 1).first?
                .elements(in: certificate, maximum: Self.maximumElements) ?? []
            for parts in extensions.map({ $0.elements(in: certificate, maximum: 3) }) {
                guard let type = parts.first, certificate[type.contents].elementsEqual(subjectAltName),
                    let value = parts.last, value.tag == octetString
                else { continue }
                let names =
                    value.elements(in: certificate, maximum: 1).first?
                    .elements(in: certificate, maximum: Self.maximumNames + 1) ?? []
                let texts = names.map { Self.text(of: $0, in: certificate) }
                return (texts.compactMap { $0 }, texts.contains(nil))
            }
        }
        return ([], false)
    }

    /// A dNSName or an iPAddress.
    private static func text(of name: DERElement, in certificate: [UInt8]) -> String? {
        let dnsName: UInt8 = 0x82
        let ipAddress: UInt8 = 0x87
        let bytes = certificate[name.contents]
        switch (name.tag, bytes.count) {
        case (dnsName, _):
            return PrintableText.line(
                String(decoding: bytes, as: UTF8.self), maximumLength: ReportBodyLimits.textLength)
        case (ipAddress, 4), (ipAddress, 16): return SourceAddress(bytes: Array(bytes))?.description
        default: return nil
        }
    }
}

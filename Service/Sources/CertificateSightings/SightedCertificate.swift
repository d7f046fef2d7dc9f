// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
@_spi(Tools) internal import CertificateTransparency
internal import PinListMetadata
internal import SwiftASN1
internal import X509

/// A certificate or a precertificate that a monitor found in a log, as far as a publisher of pins needs it. Logs take
/// certificates from any sender, and every byte of such a certificate is its author's.
public struct SightedCertificate: Hashable, Sendable {
    /// The lower-case hex SHA-256 of the TBSCertificate without poison and timestamps: the same for a precertificate and its
    /// certificate (RFC 6962, section 3.2). Monitors call it the TBS digest.
    public let identity: String

    /// Whether it is a precertificate: no client accepts it.
    public let isPrecertificate: Bool

    /// The pin of its key.
    public let key: Pin

    /// The DNS names and IP addresses of its subjectAltName, as it has them; what no host can be called is made printable.
    /// The subject's common name is none of them: no app compares it.
    public let names: [String]

    /// The issuer's name, the most specific part first.
    public let issuer: String

    /// The contents of the serial number, lower-case hex.
    public let serialNumber: String

    /// The first second in which it is valid.
    public let notBefore: Timestamp

    /// The last second in which it is valid.
    public let notAfter: Timestamp

    /// Reads one.
    ///
    /// - Parameter certificate: DER, at most 65,536 bytes, and nothing else.
    /// - Throws: ``SightingError``, with what is wrong.
    public init(_ certificate: [UInt8]) throws(SightingError) {
        let fields: CertificateFields
        let logged: LoggedCertificate
        do throws(InvalidCertificateError) { fields = try CertificateFields(walking: certificate) } catch {
            throw SightingError("the certificate cannot be read: \(error)")
        }
        do throws(TransparencyError) { logged = try LoggedCertificate(certificate, orPrecertificate: true) } catch {
            throw SightingError(error.reason)
        }
        guard let key = try? Pin(publicKeyOf: certificate) else {
            throw SightingError("the certificate's key cannot be read")
        }
        self.identity = Envelope.digest(of: logged.toBeSigned)
        self.isPrecertificate = logged.isPrecertificate
        self.key = key
        self.names = try Self.names(certificate[fields.uniqueIdentifiers.upperBound..<fields.toBeSigned.upperBound])
        self.issuer = DistinguishedNameText(fields.issuer, of: certificate).description
        self.serialNumber = Hexadecimal.text(of: certificate[fields.serialNumber].prefix(Self.maximumSerialNumber))
        (self.notBefore, self.notAfter) = (logged.notBefore, logged.notAfter)
    }

    /// The maximum number of bytes of a serial number that are told: RFC 5280, section 4.1.2.2, allows 20.
    private static let maximumSerialNumber = 64

    /// The names of the subjectAltName (RFC 5280, section 4.2.1.6).
    ///
    /// - Parameter extensions: `[3]` of the TBSCertificate; empty where it has none.
    private static func names(_ extensions: ArraySlice<UInt8>) throws(SightingError) -> [String] {
        guard !extensions.isEmpty else { return [] }
        let names: [GeneralName]
        do {
            names = try DER.explicitlyTagged(try DER.parse(extensions), tagNumber: 3, tagClass: .contextSpecific) {
                node in
                let all = try DER.sequence(of: Certificate.Extension.self, identifier: .sequence, rootNode: node)
                let wanted = all.filter { $0.oid == .X509ExtensionID.subjectAlternativeName }
                guard wanted.count <= 1 else { throw SightingError("the certificate has its names twice") }
                return try wanted.first.map { Array(try SubjectAlternativeNames($0)) } ?? []
            }
        } catch {
            throw SightingError("the names of the certificate cannot be read")
        }
        return names.compactMap { name in
            switch name {
            case .dnsName(let text): Self.isPlain(text) ? text : PrintableText.line(text, maximumLength: 255)
            case .ipAddress(let bytes): Self.address(Array(bytes.bytes))
            default: nil
            }
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 255 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        switch bytes.count {
        case 4: return bytes.map { "\($0)" }.joined(separator: ".")
        case 16:
            let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            let text = groups.map { String($0, radix: 16) }.joined(separator: ":")
            return (try? HostName(text))?.description ?? text
        default: return nil
        }
    }
}

/// The defect by which a certificate is no sighting.
public struct SightingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The defect, in one sentence without a full stop.
    public let description: String

    /// States a defect.
    init(_ description: String) { self.description = description }
}

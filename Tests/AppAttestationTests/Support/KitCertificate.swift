// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate of the test kit.
struct KitCertificate {
    /// Certificates are valid for a day before and after this.
    static let time: Int64 = 1_795_000_000

    let certificate: Certificate
    let key: Certificate.PrivateKey
    let der: [UInt8]

    /// A CA with a key of P-384, any point: a compact one is searched for.
    static func authority(_ name: String, by issuer: KitCertificate? = nil) throws -> KitCertificate {
        try KitCertificate(
            name, key: Certificate.PrivateKey(P384.Signing.PrivateKey(compactRepresentable: false)), by: issuer,
            extensions: [
                Certificate.Extension(BasicConstraints.isCertificateAuthority(maxPathLength: nil), critical: true),
                Certificate.Extension(KeyUsage(keyCertSign: true, cRLSign: true), critical: true),
            ])
    }

    /// Any certificate.
    init(
        _ name: String, key: Certificate.PrivateKey, by issuer: KitCertificate?, extensions: [Certificate.Extension],
        lifetime: Int64 = 86_400
    ) throws {
        let subject = try DistinguishedName { CommonName(name) }
        let signer = issuer?.key ?? key
        self.key = key
        self.certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: Double(Self.time - lifetime)),
            notValidAfter: Date(timeIntervalSince1970: Double(Self.time + lifetime)),
            issuer: issuer?.certificate.subject ?? subject, subject: subject,
            signatureAlgorithm: "\(signer.publicKey)".hasPrefix("P384") ? .ecdsaWithSHA384 : .ecdsaWithSHA256,
            extensions: Certificate.Extensions(extensions), issuerPrivateKey: signer)
        var serializer = DER.Serializer()
        try serializer.serialize(self.certificate)
        self.der = serializer.serializedBytes
    }
}

/// An extension of Apple's, below 1.2.840.113635.100.
func appleExtension(_ arcs: [UInt], _ value: [UInt8]) -> Certificate.Extension {
    Certificate.Extension(
        oid: ASN1ObjectIdentifier(elements: [1, 2, 840, 113_635, 100] + arcs), critical: false, value: value[...])
}

extension ASN1ObjectIdentifier {
    /// An object identifier from its numbers.
    fileprivate init(elements: [UInt]) {
        let text = elements.map(String.init).joined(separator: ".")
        // The numbers are written in this file.
        self = (try? ASN1ObjectIdentifier(dotRepresentation: text)) ?? [1, 2]
    }
}
#endif

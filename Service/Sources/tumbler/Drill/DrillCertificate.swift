// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate of a drill with its key: P-256, made on the spot, thrown away at the end.
struct DrillCertificate: Sendable {
    /// From a day before to 90 days after the drill: a probe warns of less than 30.
    private static let secondsBefore: Double = 86_400
    private static let secondsAfter: Double = 90 * 86_400

    /// The certificate in DER.
    let der: [UInt8]
    /// The certificate in PEM.
    let pem: String

    private let certificate: Certificate
    private let key: Certificate.PrivateKey

    private init(_ certificate: Certificate, _ key: Certificate.PrivateKey) throws {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        self.der = serializer.serializedBytes
        self.pem = PEMBlock(label: "CERTIFICATE", bytes: self.der).text
        self.certificate = certificate
        self.key = key
    }

    /// An authority that issues for itself.
    ///
    /// - Parameters:
    ///   - organisation: Whose it is: the service tells public authorities by this name.
    ///   - name: The common name.
    ///   - time: The time at which the drill begins.
    static func authority(_ organisation: String, _ name: String, at time: Timestamp) throws -> DrillCertificate {
        let subject = try DistinguishedName {
            OrganizationName(organisation)
            CommonName(name)
        }
        return try self.make(subject, by: nil, at: time) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        }
    }

    /// A server's certificate, with a new key; for `localhost`, too, so that `tumbler pin localhost:PORT` can be typed.
    func issued(for host: HostName, at time: Timestamp) throws -> DrillCertificate {
        try Self.make(try DistinguishedName { CommonName(host.description) }, by: self, at: time) {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.serverAuth])
            SubjectAlternativeNames([.dnsName(host.description), .dnsName("localhost")])
        }
    }

    private static func make(
        _ subject: DistinguishedName, by issuer: DrillCertificate?, at time: Timestamp,
        @ExtensionsBuilder _ extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws -> DrillCertificate {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let signer = issuer?.key ?? key
        var all = try extensions().get()
        let (own, above) = (SubjectKeyIdentifier(hash: key.publicKey), SubjectKeyIdentifier(hash: signer.publicKey))
        try all.append(Certificate.Extension(own, critical: false))
        try all.append(
            Certificate.Extension(AuthorityKeyIdentifier(keyIdentifier: above.keyIdentifier), critical: false))
        let now = Date(timeIntervalSince1970: Double(time.secondsSince1970))
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: now.addingTimeInterval(-Self.secondsBefore),
            notValidAfter: now.addingTimeInterval(Self.secondsAfter),
            issuer: issuer?.certificate.subject ?? subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: all, issuerPrivateKey: signer)
        return try DrillCertificate(certificate, key)
    }

    /// The pin of its key.
    var pin: Pin { get throws { try Pin(publicKeyOf: self.der) } }

    /// The certificate, for NIOSSL.
    var nio: NIOSSLCertificate { get throws { try NIOSSLCertificate(bytes: self.der, format: .der) } }

    /// The private key, for NIOSSL.
    var nioKey: NIOSSLPrivateKey {
        get throws { try NIOSSLPrivateKey(bytes: Array(self.key.serializeAsPEM().pemString.utf8), format: .pem) }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// An authority, and two servers of one name whose certificates it has signed.
struct VictimPKI {
    /// A server's certificate, and its key.
    struct Server {
        let certificate: Certificate
        let key: Certificate.PrivateKey

        /// The certificate in DER.
        var der: [UInt8] {
            get throws {
                var serializer = DER.Serializer()
                try serializer.serialize(self.certificate)
                return serializer.serializedBytes
            }
        }

        /// Settings for a server of TLS.
        var tls: TLSConfiguration {
            get throws {
                TLSConfiguration.makeServerConfiguration(
                    certificateChain: [.certificate(try NIOSSLCertificate(bytes: self.der, format: .der))],
                    privateKey: .privateKey(
                        try NIOSSLPrivateKey(bytes: Array(self.key.serializeAsPEM().pemString.utf8), format: .pem)))
            }
        }
    }

    /// The authority's certificate in PEM.
    let authority: String
    /// The server with the pinned key.
    let pinned: Server
    /// The attacker's.
    let foreign: Server

    /// Makes keys and certificates, valid around now.
    init(host: String) throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("Tampering Authority") }
        let authority = try Self.certificate(
            name, key.publicKey, by: (name, key),
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true))
            })
        self.authority = try authority.serializeAsPEM().pemString + "\n"
        func server() throws -> Server {
            let own = Certificate.PrivateKey(P256.Signing.PrivateKey())
            let certificate = try Self.certificate(
                DistinguishedName { CommonName(host) }, own.publicKey, by: (name, key),
                extensions: Certificate.Extensions {
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames([.dnsName(host)])
                })
            return Server(certificate: certificate, key: own)
        }
        self.pinned = try server()
        self.foreign = try server()
    }

    private static func certificate(
        _ subject: DistinguishedName, _ publicKey: Certificate.PublicKey,
        by issuer: (name: DistinguishedName, key: Certificate.PrivateKey), extensions: Certificate.Extensions
    ) throws -> Certificate {
        let now = Date()
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-86_400), notValidAfter: now.addingTimeInterval(30 * 86_400),
            issuer: issuer.name, subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: issuer.key)
    }
}

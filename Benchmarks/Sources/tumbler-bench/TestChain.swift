// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

/// A chain of three made on the spot: leaf, intermediate, anchor, as the public web has them.
struct TestChain {
    let name: String
    let host = "api.example.com"
    let certificates: [[UInt8]]
    let time: Int64 = 1_800_000_000

    /// Leaf and intermediate P-256, anchor P-384.
    static func ellipticCurve() throws -> TestChain {
        try TestChain(
            name: "P-256, P-256, P-384", leaf: Certificate.PrivateKey(P256.Signing.PrivateKey()),
            issuer: Certificate.PrivateKey(P256.Signing.PrivateKey()),
            root: Certificate.PrivateKey(P384.Signing.PrivateKey()))
    }

    /// RSA with 2,048 bits throughout.
    static func rsa() throws -> TestChain {
        try TestChain(
            name: "RSA 2048", leaf: Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits2048)),
            issuer: Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits2048)),
            root: Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits2048)))
    }

    private init(
        name: String, leaf: Certificate.PrivateKey, issuer: Certificate.PrivateKey, root: Certificate.PrivateKey
    ) throws {
        let names = try ["Example Root", "Example Issuer", "api.example.com"].map { text in
            try DistinguishedName { CommonName(text) }
        }
        func certificate(_ index: Int, key: Certificate.PrivateKey, issuer: Int, signer: Certificate.PrivateKey) throws -> [UInt8] {
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
                notValidBefore: Date(timeIntervalSince1970: 1_790_000_000),
                notValidAfter: Date(timeIntervalSince1970: 1_810_000_000),
                issuer: names[issuer], subject: names[index],
                extensions: try Certificate.Extensions {
                    if index == 2 {
                        Critical(BasicConstraints.notCertificateAuthority)
                        SubjectAlternativeNames([.dnsName("api.example.com"), .dnsName("www.example.com")])
                        try ExtendedKeyUsage([.serverAuth])
                        Critical(KeyUsage(digitalSignature: true))
                    } else {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    }
                    SubjectKeyIdentifier(hash: key.publicKey)
                    AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: signer.publicKey).keyIdentifier)
                },
                issuerPrivateKey: signer)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
        self.name = name
        self.certificates = [
            try certificate(2, key: leaf, issuer: 1, signer: issuer),
            try certificate(1, key: issuer, issuer: 0, signer: root),
            try certificate(0, key: root, issuer: 0, signer: root),
        ]
    }
}

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
        self.init(
            name: name,
            certificates: [
                try Self.server(key: leaf, issuer: "Example Issuer", signer: issuer),
                try Self.authority("Example Issuer", key: issuer, issuer: "Example Root", signer: root),
                try Self.authority("Example Root", key: root, issuer: "Example Root", signer: root),
            ])
    }

    /// A leaf with so many directory names, under a CA that excludes as many others: five parts are the same in all.
    static func hostileNames(_ count: Int) throws -> TestChain {
        func name(_ text: String) throws -> GeneralName {
            .directoryName(
                try DistinguishedName {
                    for _ in 0..<5 { OrganizationalUnitName("a") }
                    CommonName(text)
                })
        }
        let keys = (0..<3).map { _ in Certificate.PrivateKey(P256.Signing.PrivateKey()) }
        let names = try (0..<count).map { try name("y\($0)") }
        let excluded = try (0..<count).map { try name("x\($0)") }
        return TestChain(
            name: "\(count) names, \(count) constraints",
            certificates: [
                try self.certificate("api.example.com", key: keys[0], issuer: "Example Issuer", signer: keys[1]) {
                    Critical(BasicConstraints.notCertificateAuthority)
                    SubjectAlternativeNames([.dnsName("api.example.com")] + names)
                },
                try self.certificate("Example Issuer", key: keys[1], issuer: "Example Root", signer: keys[2]) {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true))
                    Critical(NameConstraints(excludedSubtrees: excluded))
                },
                try self.authority("Example Root", key: keys[2], issuer: "Example Root", signer: keys[2]),
            ])
    }

    private init(name: String, certificates: [[UInt8]]) {
        self.name = name
        self.certificates = certificates
    }

    /// A CA's certificate in DER.
    static func authority(
        _ name: String, key: Certificate.PrivateKey, issuer: String, signer: Certificate.PrivateKey,
        names: [String] = []
    ) throws -> [UInt8] {
        try self.certificate(name, key: key, issuer: issuer, signer: signer) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            if !names.isEmpty { SubjectAlternativeNames(names.map { .dnsName($0) }) }
        }
    }

    /// A server's certificate in DER, for `api.example.com`.
    static func server(key: Certificate.PrivateKey, issuer: String, signer: Certificate.PrivateKey) throws -> [UInt8] {
        try self.certificate("api.example.com", key: key, issuer: issuer, signer: signer) {
            Critical(BasicConstraints.notCertificateAuthority)
            SubjectAlternativeNames([.dnsName("api.example.com"), .dnsName("www.example.com")])
            try ExtendedKeyUsage([.serverAuth])
            Critical(KeyUsage(digitalSignature: true))
        }
    }

    private static func certificate(
        _ name: String, key: Certificate.PrivateKey, issuer: String, signer: Certificate.PrivateKey,
        @ExtensionsBuilder _ extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws -> [UInt8] {
        var extensions = try Certificate.Extensions(builder: extensions)
        let authority = SubjectKeyIdentifier(hash: signer.publicKey).keyIdentifier
        try extensions.append(Certificate.Extension(SubjectKeyIdentifier(hash: key.publicKey), critical: false))
        try extensions.append(Certificate.Extension(AuthorityKeyIdentifier(keyIdentifier: authority), critical: false))
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: 1_790_000_000),
            notValidAfter: Date(timeIntervalSince1970: 1_810_000_000),
            issuer: try DistinguishedName { CommonName(issuer) }, subject: try DistinguishedName { CommonName(name) },
            extensions: extensions, issuerPrivateKey: signer)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}

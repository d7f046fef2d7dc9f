// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import X509

/// A certificate of the tests' own PKI, made in code: what a test does not say is what a good CA would do.
struct TestCertificate {
    /// All certificates are valid from a day before to a day after this.
    static let time: Int64 = 1_800_000_000

    let certificate: Certificate
    let key: Certificate.PrivateKey
    let der: [UInt8]

    /// Everything that a test may want different.
    struct Form {
        var version = Certificate.Version.v3
        var serialNumber = Certificate.SerialNumber(42)
        var notBefore = TestCertificate.time - 86_400
        var notAfter = TestCertificate.time + 86_400
        var isAuthority = false
        var pathLength: Int?
        var names: [GeneralName] = []
        var keyUsage: KeyUsage?
        var purposes: [ExtendedKeyUsage.Usage]?
        var purposesAreCritical = false
        var constraints: NameConstraints?
        var others: [Certificate.Extension] = []
        var signature: Certificate.SignatureAlgorithm?
        /// Which key the authority key identifier points at; the issuer's by default.
        var authorityKey: Certificate.PublicKey?
        var withKeyIdentifiers = true
    }

    /// Makes a certificate.
    ///
    /// - Parameters:
    ///   - name: The common name, and with it the whole subject.
    ///   - issuer: Who signs; itself when `nil`.
    ///   - key: Its key; a new P-256 key by default.
    ///   - change: What is different.
    init(
        _ name: String, by issuer: TestCertificate? = nil, key: Certificate.PrivateKey? = nil,
        _ change: (inout Form) -> Void = { _ in }
    ) throws {
        var form = Form()
        change(&form)
        let key = key ?? Certificate.PrivateKey(P256.Signing.PrivateKey())
        let signer = issuer?.key ?? key
        let subject = try name.isEmpty ? DistinguishedName() : DistinguishedName { CommonName(name) }
        var extensions = Certificate.Extensions()
        if form.version == .v3 {
            try extensions.append(
                form.isAuthority
                    ? Certificate.Extension(
                        BasicConstraints.isCertificateAuthority(maxPathLength: form.pathLength), critical: true)
                    : Certificate.Extension(BasicConstraints.notCertificateAuthority, critical: true))
            if !form.names.isEmpty {
                try extensions.append(Certificate.Extension(SubjectAlternativeNames(form.names), critical: false))
            }
            if let usage = form.keyUsage { try extensions.append(Certificate.Extension(usage, critical: true)) }
            if let purposes = form.purposes {
                try extensions.append(
                    Certificate.Extension(ExtendedKeyUsage(purposes), critical: form.purposesAreCritical))
            }
            if let constraints = form.constraints {
                try extensions.append(Certificate.Extension(constraints, critical: true))
            }
            if form.withKeyIdentifiers {
                let identifier = SubjectKeyIdentifier(hash: key.publicKey)
                let authority = SubjectKeyIdentifier(hash: form.authorityKey ?? signer.publicKey)
                try extensions.append(Certificate.Extension(identifier, critical: false))
                try extensions.append(
                    Certificate.Extension(
                        AuthorityKeyIdentifier(keyIdentifier: authority.keyIdentifier), critical: false))
            }
        }
        // A certificate of version 1 that has extensions all the same is a test's.
        for other in form.others { try extensions.append(other) }
        self.key = key
        self.certificate = try Certificate(
            version: form.version, serialNumber: form.serialNumber, publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: Double(form.notBefore)),
            notValidAfter: Date(timeIntervalSince1970: Double(form.notAfter)),
            issuer: issuer?.certificate.subject ?? subject, subject: subject,
            signatureAlgorithm: form.signature ?? Self.algorithm(for: signer), extensions: extensions,
            issuerPrivateKey: signer)
        var serializer = DER.Serializer()
        try serializer.serialize(self.certificate)
        self.der = serializer.serializedBytes
    }

    /// A CA: may sign certificates.
    static func authority(
        _ name: String, by issuer: TestCertificate? = nil, key: Certificate.PrivateKey? = nil,
        _ change: (inout Form) -> Void = { _ in }
    ) throws -> TestCertificate {
        try TestCertificate(name, by: issuer, key: key) { form in
            form.isAuthority = true
            form.keyUsage = KeyUsage(keyCertSign: true, cRLSign: true)
            change(&form)
        }
    }

    /// A server's certificate, for `api.example.com`.
    static func server(
        by issuer: TestCertificate, key: Certificate.PrivateKey? = nil, _ change: (inout Form) -> Void = { _ in }
    ) throws -> TestCertificate {
        try TestCertificate("server", by: issuer, key: key) { form in
            form.names = [.dnsName("api.example.com")]
            form.keyUsage = KeyUsage(digitalSignature: true)
            form.purposes = [.serverAuth]
            change(&form)
        }
    }

    private static func algorithm(for key: Certificate.PrivateKey) -> Certificate.SignatureAlgorithm {
        key.publicKey.description.hasPrefix("RSA")
            ? .sha256WithRSAEncryption
            : key.publicKey.description.hasPrefix("Ed25519") ? .ed25519 : .ecdsaWithSHA256
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import CryptoExtras
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate that the bench made, or was given, with its key. Keys that it makes are in memory alone.
struct InterceptorCertificate: Sendable {
    /// The differences from a good server's certificate.
    struct Form {
        var names: [GeneralName]
        var subject: DistinguishedName
        var notBefore: Int64
        var notAfter: Int64
        var isAuthority = false
        var constraints: [String] = []
        var purposes: [ExtendedKeyUsage.Usage] = [.serverAuth]
        var usage = KeyUsage(digitalSignature: true, keyEncipherment: true)
        var serialNumber = Certificate.SerialNumber()
        var signature: Certificate.SignatureAlgorithm?
    }

    let certificate: Certificate
    let key: Certificate.PrivateKey
    let der: [UInt8]

    init(_ certificate: Certificate, _ key: Certificate.PrivateKey) throws {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        self.certificate = certificate
        self.key = key
        self.der = serializer.serializedBytes
    }

    /// Makes one.
    ///
    /// - Parameters:
    ///   - form: The content of the certificate.
    ///   - issuer: The signer; itself when `nil`.
    ///   - key: Its key; a new P-256 key by default.
    init(_ form: Form, by issuer: InterceptorCertificate?, key: Certificate.PrivateKey? = nil) throws {
        let key = key ?? Certificate.PrivateKey(P256.Signing.PrivateKey())
        let signer = issuer?.key ?? key
        var extensions = Certificate.Extensions()
        let basic: BasicConstraints =
            form.isAuthority ? .isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority
        try extensions.append(Certificate.Extension(basic, critical: true))
        try extensions.append(Certificate.Extension(form.usage, critical: true))
        if !form.names.isEmpty {
            try extensions.append(Certificate.Extension(SubjectAlternativeNames(form.names), critical: false))
        }
        if !form.purposes.isEmpty {
            try extensions.append(Certificate.Extension(ExtendedKeyUsage(form.purposes), critical: false))
        }
        if !form.constraints.isEmpty {
            let constraints = NameConstraints(permittedDNSDomains: NameConstraints.DNSNames(form.constraints))
            try extensions.append(Certificate.Extension(constraints, critical: true))
        }
        let (own, above) = (SubjectKeyIdentifier(hash: key.publicKey), Self.identifier(of: issuer, signer))
        try extensions.append(Certificate.Extension(own, critical: false))
        try extensions.append(Certificate.Extension(AuthorityKeyIdentifier(keyIdentifier: above), critical: false))
        let (begin, end) = (Self.date(form.notBefore), Self.date(form.notAfter))
        let issuerName = issuer?.certificate.subject ?? form.subject
        let made =
            if let signature = form.signature {
                try Certificate(
                    version: .v3, serialNumber: form.serialNumber, publicKey: key.publicKey, notValidBefore: begin,
                    notValidAfter: end, issuer: issuerName, subject: form.subject, signatureAlgorithm: signature,
                    extensions: extensions, issuerPrivateKey: signer)
            } else {
                try Certificate(
                    version: .v3, serialNumber: form.serialNumber, publicKey: key.publicKey, notValidBefore: begin,
                    notValidAfter: end, issuer: issuerName, subject: form.subject, extensions: extensions,
                    issuerPrivateKey: signer)
            }
        try self.init(made, key)
    }

    /// The key identifier that an issuer says it has, or that of its key.
    private static func identifier(
        of issuer: InterceptorCertificate?, _ signer: Certificate.PrivateKey
    ) -> ArraySlice<UInt8> {
        let said = try? issuer?.certificate.extensions.subjectKeyIdentifier?.keyIdentifier
        return said ?? SubjectKeyIdentifier(hash: signer.publicKey).keyIdentifier
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    /// The private key, for NIOSSL.
    var nioKey: NIOSSLPrivateKey {
        get throws { try NIOSSLPrivateKey(bytes: Array(self.key.serializeAsPEM().pemString.utf8), format: .pem) }
    }
}

/// The identity that one case presents: certificates, the server's first, and the server's key.
struct InterceptorIdentity: Sendable {
    let chain: [[UInt8]]
    let key: NIOSSLPrivateKey

    init(_ leaf: InterceptorCertificate, _ others: [[UInt8]] = []) throws {
        self.chain = [leaf.der] + others
        self.key = try leaf.nioKey
    }
}

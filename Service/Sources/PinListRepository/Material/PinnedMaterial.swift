// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import SwiftASN1
internal import X509

/// A file that has a pin, and its description.
public struct PinnedMaterial: Sendable {
    /// The kind of the material.
    public enum Kind: String, Hashable, Sendable {
        /// A certificate.
        case certificate
        /// A public key.
        case publicKey = "public-key"
        /// A private key, not encrypted.
        case privateKey = "private-key"
        /// A certificate request.
        case request
    }

    /// The pin of its public key.
    public let pin: Pin
    /// The kind of the material.
    public let kind: Kind
    /// The input that it is from, as it was named.
    public let source: String
    /// The position that a certificate may have in a path; `nil` for keys and requests.
    public let position: KnownPin.Position?
    /// The subject of a certificate or a request.
    public let subject: String?
    /// The kind of key, such as `RSA 2048`.
    public let algorithm: String
    /// The first second of a certificate's validity.
    public let notBefore: Timestamp?
    /// The last second of a certificate's validity.
    public let notAfter: Timestamp?
    /// Whether a certificate names itself as its issuer: an anchor, or a server's own.
    public let isSelfIssued: Bool

    /// A key or a request, by its DER SubjectPublicKeyInfo.
    public init(_ kind: Kind, subjectPublicKeyInfo: [UInt8], subject: String? = nil, source: String) {
        self.pin = Pin(kind: .publicKey, hashing: subjectPublicKeyInfo)
        self.kind = kind
        self.source = source
        self.position = nil
        self.subject = subject
        self.algorithm = KeyAlgorithm.name(ofSubjectPublicKeyInfo: subjectPublicKeyInfo)
        self.notBefore = nil
        self.notAfter = nil
        self.isSelfIssued = false
    }

    /// A certificate.
    ///
    /// - Parameters:
    ///   - certificate: DER.
    ///   - index: Its place among those of the same source.
    ///   - source: The input that it is from.
    /// - Throws: What is wrong with it.
    public init(certificate: [UInt8], index: Int, source: String) throws(InvalidCertificateError) {
        let fields = try CertificateFields(walking: certificate)
        self.pin = try Pin(publicKeyOf: certificate)
        self.kind = .certificate
        self.source = source
        self.subject = DistinguishedNameText(fields.subject, of: certificate).description
        self.algorithm = KeyAlgorithm.name(ofSubjectPublicKeyInfo: Array(certificate[fields.subjectPublicKeyInfo]))
        (self.notBefore, self.notAfter) = CertificateValidity.read(certificate[fields.validity])
        // Where the parser does not know the key, the place among the others is the best that can be said.
        let parsed = try? Certificate(derEncoded: certificate)
        let isAuthority: Bool
        switch parsed.map({ try? $0.extensions.basicConstraints }) {
        case .some(.some(.isCertificateAuthority)): isAuthority = true
        case .some: isAuthority = false
        case nil: isAuthority = index > 0
        }
        self.position = isAuthority ? .issuer : .leaf
        self.isSelfIssued = certificate[fields.issuer] == certificate[fields.subject]
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A certificate that may become part of a path, read once: our walk for the parts that identify it, swift-certificates
/// for its contents.
struct CandidateCertificate: Sendable {
    /// The certificate as it was given.
    let der: [UInt8]

    /// The positions of its parts.
    let fields: CertificateFields

    /// The parsed certificate, without unique identifiers where it has some.
    let certificate: Certificate

    /// Whether it has unique identifiers: its signature covers other bytes than those that the parser was given.
    let hasUniqueIdentifiers: Bool

    /// The issuer's Name as it stands. Names are compared byte by byte, as Go and webpki do.
    let issuer: ArraySlice<UInt8>

    /// The subject's Name as it stands.
    let subject: ArraySlice<UInt8>

    /// The public key as it stands. A signature check depends on it and on the child's bytes.
    let publicKey: ArraySlice<UInt8>

    /// The names in the subject alternative name extension, as they stand.
    let alternativeNames: ArraySlice<UInt8>?

    /// The authority and subject key identifiers: hints for the order of the search alone.
    let authorityKey: ArraySlice<UInt8>?
    let subjectKey: ArraySlice<UInt8>?

    /// The certificate's policy extensions; `nil` when they are malformed, which an anchor's may be.
    let policies: CertificatePolicies?

    /// The path length constraint: how many further CA certificates may follow below this one, if it says so.
    let pathLengthConstraint: Int?

    /// Reads a certificate.
    ///
    /// - Throws: ``PathValidationError`` when either reader refuses it. Bytes that our walk refuses are never given to a parser
    ///   that might read them differently.
    init(_ der: [UInt8]) throws(PathValidationError) {
        do {
            let fields = try CertificateFields(walking: der)
            let hasUniqueIdentifiers = !fields.uniqueIdentifiers.isEmpty
            let certificate = try Certificate(
                derEncoded: hasUniqueIdentifiers ? UniqueIdentifiers.removed(from: der, fields) : der)
            self.der = der
            self.fields = fields
            self.hasUniqueIdentifiers = hasUniqueIdentifiers
            self.certificate = certificate
            self.issuer = der[fields.issuer]
            self.subject = der[fields.subject]
            self.publicKey = der[fields.subjectPublicKeyInfo]
            self.alternativeNames = certificate.extensions[oid: .X509ExtensionID.subjectAlternativeName]?.value
            self.authorityKey = try? certificate.extensions.authorityKeyIdentifier?.keyIdentifier
            self.subjectKey = try? certificate.extensions.subjectKeyIdentifier?.keyIdentifier
            self.policies = try? CertificatePolicies(certificate.extensions)
            if case .isCertificateAuthority(let maximum)? = try? certificate.extensions.basicConstraints {
                self.pathLengthConstraint = maximum
            } else {
                self.pathLengthConstraint = nil
            }
        } catch let defect as InvalidCertificateError {
            throw PathValidationError(.chainInvalid, "a certificate cannot be read: \(defect)")
        } catch {
            // The parser's message about hostile bytes may be long and does not help the reader.
            let name = DistinguishedNameText(subjectOf: der)?.description ?? ""
            throw PathValidationError(
                .chainInvalid, "a certificate or its key is of a kind that is not supported: \(name)")
        }
    }

    /// The validity period. A certificate that is never valid gets an instant of the past.
    var validity: ClosedRange<Timestamp> {
        let from = Timestamp(roundingDown: self.certificate.notValidBefore.timeIntervalSince1970)
        let until = Timestamp(roundingDown: self.certificate.notValidAfter.timeIntervalSince1970)
        return min(from, until)...until
    }

    /// Whether this constrains the names of those below it.
    var hasNameConstraints: Bool { self.certificate.extensions[oid: .X509ExtensionID.nameConstraints] != nil }

    /// Whether the certificate names itself as its issuer.
    var isSelfIssued: Bool { self.issuer == self.subject }

    /// The subject for messages.
    var name: String { DistinguishedNameText(subjectOf: self.der)?.description ?? "" }

    /// Whether the signature is the issuer's, over the bytes as they were given.
    func isSigned(by issuer: CandidateCertificate) -> Bool {
        let key = issuer.certificate.publicKey
        guard self.hasUniqueIdentifiers else {
            return key.isValidSignature(self.certificate.signature, for: self.certificate)
        }
        return key.isValidSignature(
            self.certificate.signature.rawRepresentation, for: self.der[self.fields.toBeSigned],
            signatureAlgorithm: self.certificate.signatureAlgorithm)
    }

    /// Whether two certificates would take a path in a circle: same name, same key, same alternative names
    /// (RFC 4158, section 5.2).
    func isSameNode(as other: CandidateCertificate) -> Bool {
        self.subject == other.subject && self.publicKey == other.publicKey
            && self.alternativeNames == other.alternativeNames
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import CryptoExtras
import SwiftASN1
import X509

/// What a certificate must be to stand in its place in a server's path, whatever the path: RFC 5280 where
/// swift-certificates' policies leave it out, and the least strength of keys and signatures.
///
/// Applied before a certificate becomes a candidate, so that what cannot be used costs the search nothing.
struct CertificateProfile {
    /// The place in a path.
    enum Place {
        case leaf
        case intermediate
        case anchor
    }

    /// The least RSA key, in bits (CA/Browser Forum Baseline Requirements, section 6.1.5).
    static let minimumRSABits = 2_048

    /// Critical extensions that are understood here or by the policies that judge the path.
    static let knownCriticalExtensions: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.nameConstraints, .X509ExtensionID.keyUsage,
        .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.extendedKeyUsage,
    ]

    private static let policyConstraints: ASN1ObjectIdentifier = [2, 5, 29, 36]

    private static let allowedSignatures: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512, .ed25519,
        .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption,
    ]

    /// Why a certificate may not stand in a place at a time, or `nil` when it may.
    static func objection(to candidate: CandidateCertificate, as place: Place, at time: Timestamp) -> String? {
        let certificate = candidate.certificate
        do {
            return try self.validityObjection(to: candidate, at: time)
                ?? self.strengthObjection(to: certificate, as: place)
                ?? self.formObjection(to: candidate, as: place)
                ?? self.extensionObjection(to: certificate, as: place)
        } catch {
            return "an extension cannot be read"
        }
    }

    private static func validityObjection(to candidate: CandidateCertificate, at time: Timestamp) -> String? {
        let validity = candidate.validity
        if time > validity.upperBound { return "expired at \(validity.upperBound)" }
        if time < validity.lowerBound { return "not valid before \(validity.lowerBound)" }
        return nil
    }

    private static func strengthObjection(to certificate: Certificate, as place: Place) throws -> String? {
        if let key = _RSA.Signing.PublicKey(certificate.publicKey) {
            guard key.keySizeInBits >= self.minimumRSABits else {
                return "an RSA key of under \(self.minimumRSABits) bits"
            }
            guard key.keySizeInBits % 8 == 0 else { return "an RSA key whose length is not whole bytes" }
        }
        // Nobody checks an anchor's own signature: it is trusted as it is.
        guard place == .anchor || self.allowedSignatures.contains(certificate.signatureAlgorithm) else {
            return "signed with \(certificate.signatureAlgorithm), which is not accepted"
        }
        return nil
    }

    private static func formObjection(to candidate: CandidateCertificate, as place: Place) -> String? {
        let certificate = candidate.certificate
        if place != .leaf, certificate.subject.isEmpty { return "a CA without a name" }
        guard place != .anchor else { return nil }
        guard certificate.version == .v3 else { return "not an X.509 version 3 certificate" }
        // A serial number is a positive integer (RFC 5280, section 4.1.2.2). Old anchors have zero.
        guard certificate.serialNumber.bytes.contains(where: { $0 != 0 }) else { return "its serial number is zero" }
        return nil
    }

    private static func extensionObjection(to certificate: Certificate, as place: Place) throws -> String? {
        let extensions = certificate.extensions
        for other in extensions where other.critical && !self.knownCriticalExtensions.contains(other.oid) {
            return "a critical extension that is not known: \(other.oid)"
        }
        if let constraints = extensions[oid: self.policyConstraints], !constraints.critical {
            return "policy constraints that are not critical"
        }
        // Read so that a malformed one is noticed, whether or not anybody asks for it later.
        if place != .anchor { _ = try extensions.authorityInformationAccess }
        if place == .leaf { _ = try extensions.subjectAlternativeNames }

        let isAuthority: Bool
        if case .isCertificateAuthority? = try extensions.basicConstraints {
            isAuthority = true
        } else {
            isAuthority = false
        }
        let usage = try extensions.keyUsage
        let purposes = try extensions.extendedKeyUsage
        if place == .leaf {
            if let usage, usage.keyCertSign, !isAuthority { return "may sign certificates and is no CA" }
            if extensions[oid: .X509ExtensionID.nameConstraints] != nil, !isAuthority {
                return "has name constraints and is no CA"
            }
            if let purposes, !purposes.contains(.serverAuth) { return "not for TLS servers (extended key usage)" }
            return nil
        }
        // Version 1 anchors have no extensions to say it with.
        guard isAuthority || certificate.version != .v3 else { return "not a CA" }
        if let usage, !usage.keyCertSign { return "may not sign certificates (key usage)" }
        if let purposes, !purposes.contains(.serverAuth), !purposes.contains(.any) {
            return "not for TLS servers (extended key usage)"
        }
        return nil
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import CryptoExtras
import SwiftASN1
import X509

/// The certificate profile: the requirements on a certificate for its place in a server's path, independent of the
/// path. RFC 5280 where swift-certificates' policies do not check it, and the minimum strength of keys and signatures.
///
/// Applied before a certificate becomes a candidate, so that an unusable one costs the search nothing.
struct CertificateProfile {
    /// The place in a path.
    enum Place {
        case leaf
        case intermediate
        case anchor
    }

    /// The objection to a certificate in a place.
    struct Objection: CustomStringConvertible {
        /// The objection as a sentence for people.
        let description: String

        /// Whether the objection is about the time: at another time the answer may differ.
        var isAboutTime = false

        /// The subject of the certificate that was left out by it; `nil` where it is about a path, or about what cannot be read.
        var subject: ArraySlice<UInt8>?
    }

    /// The minimum length of an RSA key, in bits (CA/Browser Forum Baseline Requirements, section 6.1.5).
    static let minimumRSABits = 2_048

    /// The critical extensions that this module or the verifier's policies understand.
    static let knownCriticalExtensions: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.nameConstraints, .X509ExtensionID.keyUsage,
        .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.extendedKeyUsage,
        CertificatePolicies.certificatePolicies, CertificatePolicies.policyMappings,
        CertificatePolicies.policyConstraints, CertificatePolicies.inhibitAnyPolicy,
    ]

    /// The maximum length of a serial number in octets (RFC 5280, section 4.1.2.2), without the zero that keeps it
    /// positive.
    static let maximumSerialNumberLength = 20

    private static let allowedSignatures: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512, .ed25519,
        .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption,
    ]

    /// Returns the objection to a certificate in a place at a time, or `nil` when there is none.
    ///
    /// - Parameters:
    ///   - candidate: The certificate.
    ///   - place: The place.
    ///   - isServers: Whether the path is a TLS server's; if not, extended key usages are for the caller to evaluate.
    ///   - time: The time at which it must be valid.
    static func objection(
        to candidate: CandidateCertificate, as place: Place, ofServer isServers: Bool, at time: Timestamp
    ) -> Objection? {
        let certificate = candidate.certificate
        if let objection = self.validityObjection(to: candidate, at: time) {
            return Objection(description: objection, isAboutTime: true)
        }
        do {
            return try
                (self.strengthObjection(to: certificate, as: place)
                ?? self.formObjection(to: candidate, as: place)
                ?? self.extensionObjection(to: candidate, as: place, ofServer: isServers)).map {
                    Objection(description: $0)
                }
        } catch {
            return Objection(description: "an extension cannot be read")
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
        // An anchor's own signature is not checked: it is trusted as it is.
        guard place == .anchor || self.allowedSignatures.contains(certificate.signatureAlgorithm) else {
            return "signed with \(certificate.signatureAlgorithm), which is not accepted"
        }
        return nil
    }

    private static func formObjection(to candidate: CandidateCertificate, as place: Place) -> String? {
        let certificate = candidate.certificate
        if place != .leaf, certificate.subject.isEmpty { return "a CA without a name" }
        guard self.isWellFormed(validity: candidate.der[candidate.fields.validity]) else {
            return "a validity that is not written in whole seconds"
        }
        guard place != .anchor else {
            // The verifier says so, too, but is not asked about a path with name constraints or unique identifiers.
            return certificate.version != .v3 && !certificate.extensions.isEmpty
                ? "extensions in a certificate that is not of version 3" : nil
        }
        // Only the algorithm within the signed bytes is authentic: the one outside must be the same
        // (section 4.1.1.2).
        guard candidate.der[candidate.fields.signature] == candidate.der[candidate.fields.signatureAlgorithm] else {
            return "two signature algorithms that differ"
        }
        guard certificate.version == .v3 else { return "not an X.509 version 3 certificate" }
        // A serial number is a positive integer (RFC 5280, section 4.1.2.2). Old anchors have zero.
        let serialNumber = candidate.der[candidate.fields.serialNumber].drop { $0 == 0 }
        guard !serialNumber.isEmpty else { return "its serial number is zero" }
        guard serialNumber.count <= self.maximumSerialNumberLength else {
            return "a serial number of over \(self.maximumSerialNumberLength) octets"
        }
        return nil
    }

    /// Whether both times are in the one form that RFC 5280, sections 4.1.2.5.1 and 4.1.2.5.2, has for them. The parser,
    /// which has read them, also takes fractions and a second 60.
    private static func isWellFormed(validity: ArraySlice<UInt8>) -> Bool {
        var rest = validity.dropFirst(2)
        for _ in 0..<2 {
            guard let tag = rest.popFirst(), let length = rest.popFirst(), length == (tag == 0x17 ? 13 : 15),
                rest.count >= length, rest[rest.startIndex + Int(length) - 3] < UInt8(ascii: "6")
            else { return false }
            rest = rest.dropFirst(Int(length))
        }
        return rest.isEmpty
    }

    private static func extensionObjection(
        to candidate: CandidateCertificate, as place: Place, ofServer isServers: Bool
    ) throws -> String? {
        let certificate = candidate.certificate
        let extensions = certificate.extensions
        for other in extensions where other.critical && !self.knownCriticalExtensions.contains(other.oid) {
            return "an unknown critical extension: \(other.oid)"
        }
        // The anchor's own policies do not bind.
        if place != .anchor, extensions[oid: CertificatePolicies.policyConstraints]?.critical == false {
            return "policy constraints that are not critical"
        }
        if place != .anchor { try self.readUnasked(extensions) }
        if place != .anchor, candidate.policies == nil { return "its policies cannot be read" }
        if place == .leaf {
            _ = try extensions.subjectAlternativeNames
            if certificate.subject.isEmpty, extensions[oid: .X509ExtensionID.subjectAlternativeName]?.critical == false
            {
                return "no subject, and alternative names that are not critical"
            }
        }

        let isAuthority: Bool
        if case .isCertificateAuthority? = try extensions.basicConstraints {
            isAuthority = true
        } else {
            isAuthority = false
        }
        let maySign = try self.maySign(extensions, as: place)
        let purposes = try extensions.extendedKeyUsage
        if place == .leaf {
            if maySign == true, !isAuthority { return "may sign certificates but is not a CA" }
            if extensions[oid: .X509ExtensionID.nameConstraints] != nil, !isAuthority {
                return "has name constraints but is not a CA"
            }
            if isServers, let purposes, !purposes.contains(.serverAuth) {
                return "not for TLS servers (extended key usage)"
            }
            return nil
        }
        // Version 1 anchors have no extensions, and so no basic constraints.
        guard isAuthority || certificate.version != .v3 else { return "not a CA" }
        if maySign == false { return "may not sign certificates (key usage)" }
        if isServers, let purposes, !purposes.contains(.serverAuth), !purposes.contains(.any) {
            return "not for TLS servers (extended key usage)"
        }
        return nil
    }

    /// Reads extensions that may never be needed later, so that a malformed one is noticed.
    private static func readUnasked(_ extensions: Certificate.Extensions) throws {
        _ = try extensions.authorityInformationAccess
        _ = try extensions.authorityKeyIdentifier
        _ = try extensions.subjectKeyIdentifier
        if let points = extensions[oid: DistributionPoints.identifier] { try DistributionPoints.check(points.value) }
    }

    /// Whether the key usage lets a key sign certificates; `nil` where it says nothing.
    private static func maySign(_ extensions: Certificate.Extensions, as place: Place) throws -> Bool? {
        guard place == .anchor else { return try extensions.keyUsage?.keyCertSign }
        // Old roots have more padding than DER allows in a list of named bits (X.690, section 11.2.2).
        return try extensions[oid: .X509ExtensionID.keyUsage].map { usage in
            try ASN1BitString(derEncoded: usage.value).bytes.first.map { $0 & 0x04 != 0 } ?? false
        }
    }
}
#endif

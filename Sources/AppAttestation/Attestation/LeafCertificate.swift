// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import SwiftASN1
import X509

/// The contents of a key's certificate under App Attest.
struct LeafCertificate {
    /// The extension with the nonce.
    private static let nonceExtension: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 8, 2]
    /// The extension with the key's policy: its uses and their conditions.
    private static let keyPolicyExtension: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 8, 6]
    /// The extension with versions and the platform.
    private static let platformExtension: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 8, 7]
    /// The tag of the platform in it, and its value on a Mac.
    private static let platformTag: UInt = 1_026
    private static let mac = Array("macosx".utf8)

    /// SEQUENCE { [1] { OCTET STRING } } around 32 bytes.
    private static let noncePrefix: [UInt8] = [0x30, 0x24, 0xa1, 0x22, 0x04, 0x20]

    /// The key policy of a Mac with System Integrity Protection and Full Security: 66 bytes, as Apple publishes them in
    /// "Validating apps that connect to your server", step 4.
    static let macKeyPolicy: [UInt8] = [
        0x30, 0x40, 0x0c, 0x02, 0x31, 0x31, 0x30, 0x3a, 0x30, 0x09, 0x0c, 0x02, 0x6f, 0x6b, 0xa1, 0x03, 0x01, 0x01,
        0xff, 0x30, 0x09, 0x0c, 0x02, 0x6f, 0x61, 0xa1, 0x03, 0x01, 0x01, 0xff, 0x30, 0x0b, 0x0c, 0x04, 0x6f, 0x64,
        0x65, 0x6c, 0xa1, 0x03, 0x01, 0x01, 0xff, 0x30, 0x15, 0x0c, 0x04, 0x6f, 0x73, 0x67, 0x6e, 0xa0, 0x06, 0x0c,
        0x04, 0x72, 0x73, 0x65, 0x63, 0x30, 0x05, 0xa6, 0x03, 0x02, 0x01, 0x01,
    ]

    /// Whether it may sign certificates: then it is not the certificate of a key.
    let isAuthority: Bool

    /// The attested key; `nil` where it is not one of P-256.
    let key: AttestedKey?

    private let certificate: Certificate

    /// Reads a certificate; `nil` when it cannot be read.
    init?(_ der: [UInt8]) {
        guard let fields = try? CertificateFields(walking: der), let certificate = try? Certificate(derEncoded: der)
        else { return nil }
        if case .isCertificateAuthority? = try? certificate.extensions.basicConstraints {
            self.isAuthority = true
        } else {
            self.isAuthority = false
        }
        self.key = AttestedKey(subjectPublicKeyInfo: der[fields.subjectPublicKeyInfo])
        self.certificate = certificate
    }

    /// Whether the certificate was made for a nonce.
    func holds(nonce: [UInt8]) -> Bool {
        self.certificate.extensions[oid: Self.nonceExtension].map { Array($0.value) == Self.noncePrefix + nonce }
            ?? false
    }

    /// Whether the key's policy is the one that a key on this platform must have.
    ///
    /// Apple demands one of Macs. iPhones have had the same extension with other contents since iOS 26, so the platform
    /// in the certificate decides. Without one, a policy counts as a Mac's.
    var hasAcceptableKeyPolicy: Bool {
        let policy = self.certificate.extensions[oid: Self.keyPolicyExtension]
        switch self.platform {
        case .mac: break
        case .unknown where policy != nil: break
        case .unknown, .other: return true
        }
        guard let policy, let outer = try? BERElement.reading(policy.value), outer.identifier == .sequence,
            outer.children.count == 1, var inner = outer.children.first
        else { return false }
        if inner.identifier.tagClass == .contextSpecific, inner.children.count == 1 { inner = inner.children[0] }
        guard inner.identifier == .octetString, !inner.isConstructed else { return false }
        return inner.contents.elementsEqual(Self.macKeyPolicy)
    }

    private enum Platform {
        case mac
        case other
        case unknown
    }

    private var platform: Platform {
        guard let value = self.certificate.extensions[oid: Self.platformExtension]?.value else { return .unknown }
        // An unreadable extension does not prove that this is not a Mac.
        guard let outer = try? BERElement.reading(value), outer.identifier == .sequence else { return .mac }
        let named = outer.children.filter {
            $0.identifier == BERElement.Identifier(.contextSpecific, Self.platformTag)
        }
        guard let first = named.first else { return .unknown }
        guard named.count == 1, first.children.count == 1, first.children[0].identifier == .octetString else {
            return .mac
        }
        return first.children[0].contents.elementsEqual(Self.mac) ? .mac : .other
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import SwiftASN1
internal import X509

/// Finds the issuer of a certificate that a monitor found: as far as signatures prove it, and no farther. The chain
/// comes from the log, which takes what it is given.
public enum SightedIssuers {
    /// The maximum number of certificates of a chain that are looked at. Those of the public web have up to five.
    public static let maximumCertificates = 8

    /// The pins of the keys that signed: the one that signed the certificate, then the one that signed that one's, as far as
    /// each signature holds.
    ///
    /// - Parameters:
    ///   - certificate: A certificate or a precertificate, DER.
    ///   - chain: The certificates above it, the issuer's first.
    /// - Returns: None where the first signature does not hold, or is of an algorithm that is not known here.
    public static func verified(of certificate: [UInt8], in chain: [[UInt8]]) -> [Pin] {
        var pins: [Pin] = []
        var below = try? Certificate(derEncoded: certificate)
        for bytes in chain.prefix(Self.maximumCertificates) {
            guard bytes.count <= CertificateFields.maximumCertificateLength, let signed = below,
                let issuer = try? Certificate(derEncoded: bytes), issuer.subject == signed.issuer,
                issuer.publicKey.isValidSignature(signed.signature, for: signed),
                let pin = try? Pin(publicKeyOf: bytes)
            else { return pins }
            pins.append(pin)
            below = issuer
        }
        return pins
    }
}

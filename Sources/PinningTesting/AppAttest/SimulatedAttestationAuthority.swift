// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Crypto

/// Apple's part of App Attest, for tests: a root of its own (P-384), an intermediate, and a certificate for each key with
/// the extension that holds the nonce. It uses no code of the verifier; its output has the form that real devices send.
public struct SimulatedAttestationAuthority: Sendable {
    /// The root in DER, for a verifier in place of Apple's.
    public let root: [UInt8]
    /// The certificate in DER that signs those of keys.
    public let intermediate: [UInt8]

    private let intermediateKey: P384.Signing.PrivateKey
    private let time: Timestamp

    /// The validity of a key's certificate in seconds: three days, as with many of Apple's.
    public static let leafLifetime: Int64 = 259_200

    private static let withSHA384: [UInt8] = DERText.sequence([
        0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03,
    ])

    /// Makes a root and an intermediate.
    ///
    /// - Parameter time: The time: they are valid for ten years from a day before.
    /// - Throws: The error of the signing library.
    public init(at time: Timestamp) throws {
        let (rootKey, key) = (P384.Signing.PrivateKey(), P384.Signing.PrivateKey())
        let authority = [
            DERText.certificateExtension([0x55, 0x1d, 0x13], isCritical: true, DERText.sequence([0x01, 0x01, 0xff])),
            DERText.certificateExtension([0x55, 0x1d, 0x0f], isCritical: true, [0x03, 0x02, 0x01, 0x06]),
        ]
        let validity = time.secondsSince1970 - 86_400...time.secondsSince1970 + 315_360_000
        self.root = try Self.certificate(
            "Simulated App Attestation Root CA", Array(rootKey.publicKey.derRepresentation), by: rootKey,
            of: "Simulated App Attestation Root CA", serial: 1, validity, authority)
        self.intermediate = try Self.certificate(
            "Simulated App Attestation CA 1", Array(key.publicKey.derRepresentation), by: rootKey,
            of: "Simulated App Attestation Root CA", serial: 2, validity, authority)
        self.intermediateKey = key
        self.time = time
    }

    /// The certificate of a key.
    ///
    /// - Parameters:
    ///   - key: Its SubjectPublicKeyInfo in DER.
    ///   - nonce: The nonce, 32 bytes.
    ///   - serial: Its serial number.
    func certificate(of key: [UInt8], nonce: [UInt8], serial: UInt8) throws -> [UInt8] {
        let nonceValue = DERText.sequence(DERText.element(0xa1, DERText.element(0x04, nonce)))
        return try Self.certificate(
            "simulated key", key, by: self.intermediateKey, of: "Simulated App Attestation CA 1", serial: serial,
            self.time.secondsSince1970 - 3_600...self.time.secondsSince1970 + Self.leafLifetime,
            [
                DERText.certificateExtension([0x55, 0x1d, 0x13], isCritical: true, DERText.sequence()),
                DERText.certificateExtension([0x55, 0x1d, 0x0f], isCritical: true, [0x03, 0x02, 0x04, 0xf0]),
                DERText.certificateExtension(DERText.apple(8, 2), nonceValue),
            ])
    }

    private static func certificate(
        _ name: String, _ key: [UInt8], by signer: P384.Signing.PrivateKey, of issuer: String, serial: UInt8,
        _ validity: ClosedRange<Int64>, _ extensions: [[UInt8]]
    ) throws -> [UInt8] {
        let toBeSigned = DERText.sequence(
            DERText.element(0xa0, [0x02, 0x01, 0x02]), DERText.element(0x02, [0x01, serial]), Self.withSHA384,
            DERText.name(issuer),
            DERText.sequence(Self.time(validity.lowerBound), Self.time(validity.upperBound)), DERText.name(name), key,
            DERText.element(0xa3, DERText.element(0x30, Array(extensions.joined()))))
        let signature = try signer.signature(for: toBeSigned)
        return DERText.sequence(toBeSigned, Self.withSHA384, DERText.bits(Array(signature.derRepresentation)))
    }

    /// UTCTime up to 2049, GeneralizedTime from then on (RFC 5280, section 4.1.2.5).
    private static func time(_ seconds: Int64) -> [UInt8] {
        let digits = "\(Timestamp(secondsSince1970: seconds))".filter(\.isNumber)
        guard digits.hasPrefix("20"), digits < "2050" else { return DERText.element(0x18, Array("\(digits)Z".utf8)) }
        return DERText.element(0x17, Array("\(digits.dropFirst(2))Z".utf8))
    }
}

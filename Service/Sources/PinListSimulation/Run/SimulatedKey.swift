// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto
internal import Foundation
internal import SwiftASN1
internal import X509

/// A key of a scenario: a chain of certificates that the server presents, and the pin of its leaf.
///
/// The keys are made of the name: equal names have equal pins in every run.
struct SimulatedKey: Sendable {
    /// The validity of certificates before and after the beginning of the scenario, in seconds.
    private static let validity: Double = 400 * 86_400

    /// The chain as it would be validated.
    let path: ValidatedPath
    /// The pin of the server's own key.
    let pin: Pin

    /// Makes it.
    ///
    /// - Parameters:
    ///   - name: The name that the keys are derived from.
    ///   - host: The server's name.
    /// - Throws: ``SimulationError`` when the chain cannot be made.
    init(_ name: String, host: String) throws(SimulationError) {
        do {
            let keys = try ["anchor", "intermediate", "leaf"].map { try Self.key("\($0) of \(name)") }
            let names = try ["anchor", "intermediate", host].map { name in try DistinguishedName { CommonName(name) } }
            let chain = try [2, 1, 0].map { place in
                try Self.certificate(
                    of: keys[place], names[place], by: keys[max(place - 1, 0)], names[max(place - 1, 0)])
            }
            self.path = ValidatedPath(uncheckedValidatedPath: chain)
            self.pin = try Pin(publicKeyOf: chain[0])
        } catch {
            throw SimulationError(.scenario, "no chain can be made for the key \(PrintableText.line(name))")
        }
    }

    /// A key that follows from a text: one number in 2^32 is no scalar of P-256.
    private static func key(_ text: String) throws -> Certificate.PrivateKey {
        Certificate.PrivateKey(
            try P256.Signing.PrivateKey(rawRepresentation: Data(SHA256.hash(data: Data(text.utf8)))))
    }

    private static func certificate(
        of key: Certificate.PrivateKey, _ name: DistinguishedName, by issuer: Certificate.PrivateKey,
        _ issuerName: DistinguishedName
    ) throws -> [UInt8] {
        let beginning = Date(timeIntervalSince1970: Double(Timeline.beginning.secondsSince1970))
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: beginning.addingTimeInterval(-Self.validity),
            notValidAfter: beginning.addingTimeInterval(Self.validity), issuer: issuerName, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: Certificate.Extensions(), issuerPrivateKey: issuer)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}

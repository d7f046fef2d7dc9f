// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The kind of key in a SubjectPublicKeyInfo, in words. For people alone: any algorithm has a pin.
public enum KeyAlgorithm {
    static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    static let rsaPSS: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 10]
    static let ellipticCurve: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 2, 1]
    static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]

    private static let names: [ASN1ObjectIdentifier: String] = [
        rsa: "RSA", rsaPSS: "RSA-PSS", ellipticCurve: "EC", ed25519: "Ed25519",
        [1, 3, 101, 113]: "Ed448", [1, 2, 840, 10_040, 4, 1]: "DSA",
        [2, 16, 840, 1, 101, 3, 4, 3, 17]: "ML-DSA-44", [2, 16, 840, 1, 101, 3, 4, 3, 18]: "ML-DSA-65",
        [2, 16, 840, 1, 101, 3, 4, 3, 19]: "ML-DSA-87",
    ]

    private static let curves: [ASN1ObjectIdentifier: String] = [
        [1, 2, 840, 10_045, 3, 1, 7]: "P-256", [1, 3, 132, 0, 34]: "P-384", [1, 3, 132, 0, 35]: "P-521",
        [1, 3, 132, 0, 10]: "secp256k1", [1, 2, 840, 10_045, 3, 1, 1]: "P-192",
        [1, 3, 36, 3, 3, 2, 8, 1, 1, 7]: "brainpoolP256r1", [1, 3, 36, 3, 3, 2, 8, 1, 1, 11]: "brainpoolP384r1",
    ]

    /// The name, with the size or the curve where there is one; the object identifier of what is not known here.
    public static func name(ofSubjectPublicKeyInfo bytes: [UInt8]) -> String {
        let parts = try? DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let key = nodes.next() else {
                throw ASN1Error.invalidASN1Object(reason: "")
            }
            let (identifier, parameters) = try self.identifier(of: algorithm)
            return (identifier, parameters, try ASN1BitString(derEncoded: key).bytes)
        }
        guard let (identifier, parameters, key) = parts else { return "unknown key" }
        let name = self.names[identifier] ?? "\(identifier)"
        switch identifier {
        case self.rsa, self.rsaPSS: return self.bits(ofRSAKey: key).map { "\(name) \($0)" } ?? name
        case self.ellipticCurve:
            guard let curve = parameters.flatMap({ try? ASN1ObjectIdentifier(derEncoded: $0) }) else {
                return "\(name) with explicit parameters"
            }
            return "\(name) \(self.curves[curve] ?? "\(curve)")"
        default: return name
        }
    }

    /// The object identifier and the parameters of an AlgorithmIdentifier.
    static func identifier(of algorithm: ASN1Node) throws -> (ASN1ObjectIdentifier, parameters: ASN1Node?) {
        try DER.sequence(algorithm, identifier: .sequence) { nodes in
            guard let first = nodes.next() else { throw ASN1Error.invalidASN1Object(reason: "no algorithm") }
            return (try ASN1ObjectIdentifier(derEncoded: first), nodes.next())
        }
    }

    private static func bits(ofRSAKey key: ArraySlice<UInt8>) -> Int? {
        try? DER.sequence(try DER.parse(key), identifier: .sequence) { nodes in
            guard let first = nodes.next() else { throw ASN1Error.invalidASN1Object(reason: "no modulus") }
            let modulus = try ArraySlice<UInt8>(derEncoded: first).drop { $0 == 0 }
            while nodes.next() != nil {}
            return modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        }
    }
}

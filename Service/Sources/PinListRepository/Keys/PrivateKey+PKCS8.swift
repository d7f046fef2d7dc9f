// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import SwiftASN1

/// The forms in which private keys are kept: PKCS#8 (RFC 5958) is read and written; SEC 1 (RFC 5915) is read.
extension PrivateKey {
    private static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    private static let ellipticCurve: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 2, 1]
    private static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
    private static let p256: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 3, 1, 7]
    private static let p384: ASN1ObjectIdentifier = [1, 3, 132, 0, 34]

    /// The reason for which bytes are no key that is used here.
    struct ParsingError: Error, Hashable, CustomStringConvertible {
        /// The reason, without a full stop.
        let description: String
        /// The next step, where that is another thing than to write the key in another form.
        var hint: String?
    }

    /// Reads a key in PKCS#8.
    ///
    /// - Parameter bytes: DER of a PrivateKeyInfo or a OneAsymmetricKey.
    /// - Throws: ``ParsingError``, or an error of the parser.
    init(pkcs8 bytes: [UInt8]) throws {
        let (algorithm, parameters, secret) = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let version = nodes.next(), let algorithm = nodes.next(), let secret = nodes.next() else {
                throw ParsingError(description: "members are missing")
            }
            guard (0...1).contains(try Int(derEncoded: version)) else {
                throw ParsingError(description: "unknown version")
            }
            let (identifier, parameters) = try Self.identifier(of: algorithm)
            // Attributes and the public key may follow.
            while nodes.next() != nil {}
            return (identifier, parameters, try ASN1OctetString(derEncoded: secret).bytes)
        }
        switch algorithm {
        case Self.rsa:
            self.init(.rsa(try Self.rsaKey(Array(secret))))
        case Self.ed25519:
            let raw = try ASN1OctetString(derEncoded: Array(secret)).bytes
            self.init(.ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: raw)))
        case Self.mlDSA65:
            guard parameters == nil else { throw ParsingError(description: "an ML-DSA key with parameters") }
            try self.init(mlDSA65: Array(secret))
        case Self.ellipticCurve:
            guard let curve = try parameters.map({ try ASN1ObjectIdentifier(derEncoded: $0) }) else {
                throw ParsingError(description: "the curve is not named")
            }
            try self.init(sec1: Array(secret), curve: curve)
        default:
            throw ParsingError(description: "a key of another kind than P-256, P-384, Ed25519, ML-DSA-65 and RSA")
        }
    }

    /// Reads a key of an elliptic curve in the form of SEC 1.
    ///
    /// - Parameters:
    ///   - bytes: DER of an ECPrivateKey.
    ///   - outside: The curve, where it stands outside.
    /// - Throws: ``ParsingError``, or an error of the parser.
    init(sec1 bytes: [UInt8], curve outside: ASN1ObjectIdentifier? = nil) throws {
        let (secret, inside, point) = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let version = nodes.next(), let secret = nodes.next(), try Int(derEncoded: version) == 1 else {
                throw ParsingError(description: "not an elliptic-curve key")
            }
            let curve = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try ASN1ObjectIdentifier(derEncoded: $0)
            }
            let point = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                Array(try ASN1BitString(derEncoded: $0).bytes)
            }
            return (Array(try ASN1OctetString(derEncoded: secret).bytes), curve, point)
        }
        guard outside == nil || inside == nil || outside == inside else {
            throw ParsingError(description: "it names two curves")
        }
        switch outside ?? inside {
        case Self.p256: self.init(.p256(try P256.Signing.PrivateKey(rawRepresentation: secret)))
        case Self.p384: self.init(.p384(try P384.Signing.PrivateKey(rawRepresentation: secret)))
        case nil: throw ParsingError(description: "the curve is not named")
        default: throw ParsingError(description: "a curve other than P-256 and P-384")
        }
        // A key whose halves do not belong together makes signatures that never verify.
        guard point.map({ self.holds(point: $0) }) ?? true else {
            throw ParsingError(description: "the public key in it is not that of the private one")
        }
    }

    /// Reads an RSA key in PKCS#1 (RFC 8017, appendix A.1.2).
    ///
    /// - Throws: An error of the parser.
    init(pkcs1 bytes: [UInt8]) throws { self.init(.rsa(try Self.rsaKey(bytes))) }

    /// The key in PKCS#8, unencrypted.
    var pkcs8: [UInt8] {
        get throws {
            switch self.material {
            case .p256(let key): Array(key.derRepresentation)
            case .p384(let key): Array(key.derRepresentation)
            case .rsa(let key): Array(key.pkcs8DERRepresentation)
            case .ed25519(let key): try Self.ed25519PKCS8(Array(key.rawRepresentation))
            case .mlDSA65(let key): try Self.mlDSA65PKCS8(key)
            }
        }
    }

    private static func rsaKey(_ pkcs1: [UInt8]) throws -> _RSA.Signing.PrivateKey {
        // Checked before, because the parser of RSA keys takes PKCS#8 as well, in which another key may lie.
        let numbers = try DER.sequence(try DER.parse(pkcs1), identifier: .sequence) { nodes in
            var count = 0
            while let node = nodes.next() {
                if count < 9 { _ = try ArraySlice<UInt8>(derEncoded: node) }
                count += 1
            }
            return count
        }
        guard numbers == 9 else { throw ParsingError(description: "not an RSA key of two primes") }
        return try _RSA.Signing.PrivateKey(derRepresentation: pkcs1)
    }

    private func holds(point: [UInt8]) -> Bool {
        switch self.material {
        case .p256(let key):
            let own = key.publicKey
            return [own.x963Representation, own.compressedRepresentation].contains { $0.elementsEqual(point) }
        case .p384(let key):
            let own = key.publicKey
            return [own.x963Representation, own.compressedRepresentation].contains { $0.elementsEqual(point) }
        case .ed25519, .rsa, .mlDSA65: return true
        }
    }

    /// A PrivateKeyInfo whose key is an OCTET STRING in an OCTET STRING (RFC 8410, section 7).
    private static func ed25519PKCS8(_ seed: [UInt8]) throws -> [UInt8] {
        var inner = DER.Serializer()
        try inner.serialize(ASN1OctetString(contentBytes: seed[...]))
        let secret = inner.serializedBytes
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(0)
            try info.appendConstructedNode(identifier: .sequence) { try $0.serialize(Self.ed25519) }
            try info.serialize(ASN1OctetString(contentBytes: secret[...]))
        }
        return serializer.serializedBytes
    }

    /// The object identifier and the parameters of an AlgorithmIdentifier.
    static func identifier(of algorithm: ASN1Node) throws -> (ASN1ObjectIdentifier, parameters: ASN1Node?) {
        try DER.sequence(algorithm, identifier: .sequence) { nodes in
            guard let first = nodes.next() else { throw ParsingError(description: "no algorithm") }
            return (try ASN1ObjectIdentifier(derEncoded: first), nodes.next())
        }
    }
}

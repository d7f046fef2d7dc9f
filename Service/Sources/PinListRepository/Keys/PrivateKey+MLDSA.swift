// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The three forms of an ML-DSA-65 private key in PKCS#8 (RFC 9881, section 6): `seed` is written and read, `both` is
/// read, and `expandedKey` alone is refused.
extension PrivateKey {
    /// id-ml-dsa-65 (RFC 9881, section 2).
    static let mlDSA65: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 3, 18]

    /// The tag of `seed`: `[0] IMPLICIT OCTET STRING`.
    private static let seedTag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)

    /// Reads the key that stands in a PrivateKeyInfo of id-ml-dsa-65.
    ///
    /// - Throws: ``ParsingError``, or an error of the parser.
    init(mlDSA65 secret: [UInt8]) throws {
        let node = try DER.parse(secret)
        switch node.identifier {
        case Self.seedTag:
            let seed = try ASN1OctetString(derEncoded: node, withIdentifier: Self.seedTag)
            self.init(.mlDSA65(try MLDSA65PrivateKey(seed: Array(seed.bytes))))
        case .octetString:
            throw ParsingError.expandedKeyAlone
        case .sequence:
            let (seed, expanded) = try DER.sequence(node, identifier: .sequence) { nodes in
                guard let seed = nodes.next(), let expanded = nodes.next() else {
                    throw ParsingError(description: "members are missing")
                }
                return (
                    Array(try ASN1OctetString(derEncoded: seed).bytes),
                    Array(try ASN1OctetString(derEncoded: expanded).bytes)
                )
            }
            let key = try MLDSA65PrivateKey(seed: seed)
            // Both begin with rho, which the seed decides on. Nothing here can expand a seed, so this is what is compared.
            let length = MLDSA65PrivateKey.commonLength
            guard expanded.count == MLDSA65PrivateKey.expandedLength,
                expanded.prefix(length) == key.publicKey.prefix(length)
            else { throw ParsingError(description: "the expanded key in it is not that of the seed") }
            self.init(.mlDSA65(key))
        default:
            throw ParsingError(description: "an ML-DSA key in none of the forms of RFC 9881")
        }
    }

    /// A PrivateKeyInfo whose key is a `seed`.
    static func mlDSA65PKCS8(_ key: MLDSA65PrivateKey) throws -> [UInt8] {
        var inner = DER.Serializer()
        try ASN1OctetString(contentBytes: key.seed[...]).serialize(into: &inner, withIdentifier: Self.seedTag)
        let secret = inner.serializedBytes
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(0)
            // No parameters (RFC 9881, section 2).
            try info.appendConstructedNode(identifier: .sequence) { try $0.serialize(Self.mlDSA65) }
            try info.serialize(ASN1OctetString(contentBytes: secret[...]))
        }
        return serializer.serializedBytes
    }
}

extension PrivateKey.ParsingError {
    /// An ML-DSA key without its seed.
    static let expandedKeyAlone = Self(
        description: "it holds the expanded key alone, and swift-crypto makes ML-DSA keys from their seed",
        hint: "its maker may still have the seed; else make a new key, with tumbler key new or openssl genpkey")
}

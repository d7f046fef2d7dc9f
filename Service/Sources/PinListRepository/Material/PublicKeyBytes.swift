// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto
internal import SwiftASN1

/// The SubjectPublicKeyInfo in, or of, keys and requests.
///
/// In a request it is sliced out as it stands. Of a private key it is put together from what stands in the key, or
/// computed where the key holds the secret number alone.
enum PublicKeyBytes {
    /// The public key of this private key cannot be computed here.
    struct NotDerivableError: Error {}

    /// A SubjectPublicKeyInfo as it is, once it is clear that it is one and nothing more.
    static func checked(_ bytes: [UInt8]) throws -> [UInt8] {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let key = nodes.next() else { throw ASN1Error.truncatedASN1Field() }
            _ = try KeyAlgorithm.identifier(of: algorithm)
            _ = try ASN1BitString(derEncoded: key)
        }
        return bytes
    }

    /// Whether some bytes are an encrypted private key (RFC 5958, section 3).
    static func isEncrypted(_ bytes: [UInt8]) -> Bool {
        let isEncrypted = try? DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let secret = nodes.next() else { throw ASN1Error.truncatedASN1Field() }
            _ = try KeyAlgorithm.identifier(of: algorithm)
            _ = try ASN1OctetString(derEncoded: secret)
            return true
        }
        return isEncrypted ?? false
    }

    /// The public key of a private key in any of its forms.
    ///
    /// - Throws: ``NotDerivableError`` for a private key whose public key cannot be told; other errors when it is none.
    static func ofPrivateKey(_ bytes: [UInt8]) throws -> [UInt8] {
        do { return try self.ofPKCS8(bytes) } catch let error as NotDerivableError { throw error } catch {}
        do { return try self.ofSEC1(bytes) } catch let error as NotDerivableError { throw error } catch {}
        return try self.ofPKCS1(bytes)
    }

    /// Whether some bytes are a private key in DER, encrypted or not.
    static func isPrivateKey(_ bytes: [UInt8]) -> Bool {
        do {
            _ = try self.ofPrivateKey(bytes)
            return true
        } catch {
            return error is NotDerivableError || self.isEncrypted(bytes)
        }
    }

    /// The public key of a certificate request (RFC 2986), and its subject.
    static func ofRequest(_ bytes: [UInt8]) throws -> (key: [UInt8], subject: String) {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let information = nodes.next(), nodes.next() != nil, nodes.next() != nil else {
                throw ASN1Error.truncatedASN1Field()
            }
            return try DER.sequence(information, identifier: .sequence) { fields in
                guard let version = fields.next(), let subject = fields.next(), let key = fields.next() else {
                    throw ASN1Error.truncatedASN1Field()
                }
                _ = try Int(derEncoded: version)
                while fields.next() != nil {}
                let name = subject.encodedBytes
                let text = DistinguishedNameText(name.startIndex..<name.endIndex, of: bytes).description
                return (try self.checked(Array(key.encodedBytes)), text)
            }
        }
    }

    /// The public key of a private key in PKCS#8 (RFC 5958).
    static func ofPKCS8(_ bytes: [UInt8]) throws -> [UInt8] {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let version = nodes.next(), let algorithm = nodes.next(), let key = nodes.next() else {
                throw ASN1Error.truncatedASN1Field()
            }
            _ = try Int(derEncoded: version)
            let secret = try ASN1OctetString(derEncoded: key).bytes
            let (identifier, parameters) = try KeyAlgorithm.identifier(of: algorithm)
            while nodes.next() != nil {}
            switch identifier {
            case KeyAlgorithm.rsa, KeyAlgorithm.rsaPSS:
                return try self.assemble(algorithm: algorithm.encodedBytes, key: try self.rsaPublicKey(ofPKCS1: secret))
            case KeyAlgorithm.ellipticCurve:
                guard let parameters else { throw NotDerivableError() }
                return try self.ofSEC1(Array(secret), parameters: parameters.encodedBytes)
            case KeyAlgorithm.ed25519:
                let raw = try ASN1OctetString(derEncoded: Array(secret)).bytes
                let key = try Curve25519.Signing.PrivateKey(rawRepresentation: raw)
                return try self.assemble(algorithm: algorithm.encodedBytes, key: Array(key.publicKey.rawRepresentation))
            case PrivateKey.mlDSA65:
                // Without a seed it cannot be told: swift-crypto makes these keys from seeds.
                guard let key = try? PrivateKey(pkcs8: bytes) else { throw NotDerivableError() }
                return key.subjectPublicKeyInfo
            default: throw NotDerivableError()
            }
        }
    }

    /// The public key of an RSA private key in PKCS#1 (RFC 8017, appendix A.1.2).
    static func ofPKCS1(_ bytes: [UInt8]) throws -> [UInt8] {
        try self.assemble(algorithm: self.rsaAlgorithm()[...], key: try self.rsaPublicKey(ofPKCS1: bytes[...]))
    }

    /// The SubjectPublicKeyInfo of an RSA public key in PKCS#1.
    static func ofPKCS1Public(_ bytes: [UInt8]) throws -> [UInt8] {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in _ = try self.numbers(2, of: &nodes) }
        return try self.assemble(algorithm: self.rsaAlgorithm()[...], key: bytes)
    }

    /// The public key of an elliptic-curve private key (RFC 5915).
    ///
    /// - Parameter parameters: The curve where it stands outside, as in PKCS#8.
    static func ofSEC1(_ bytes: [UInt8], parameters outside: ArraySlice<UInt8>? = nil) throws -> [UInt8] {
        let (secret, inside, published) = try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let version = nodes.next(), let secret = nodes.next() else { throw ASN1Error.truncatedASN1Field() }
            guard try Int(derEncoded: version) == 1 else { throw ASN1Error.unsupportedFieldLength(reason: "version") }
            let inside = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                $0.encodedBytes
            }
            let published = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) {
                try ASN1BitString(derEncoded: $0).bytes
            }
            return (try ASN1OctetString(derEncoded: secret).bytes, inside, published)
        }
        guard let parameters = outside ?? inside else { throw NotDerivableError() }
        let algorithm = try self.sequence([try self.serialized(KeyAlgorithm.ellipticCurve), Array(parameters)])
        if let published { return try self.assemble(algorithm: algorithm[...], key: Array(published)) }
        let point: [UInt8]
        switch try? ASN1ObjectIdentifier(derEncoded: Array(parameters)) {
        case [1, 2, 840, 10_045, 3, 1, 7]:
            point = Array(try P256.Signing.PrivateKey(rawRepresentation: secret).publicKey.x963Representation)
        case [1, 3, 132, 0, 34]:
            point = Array(try P384.Signing.PrivateKey(rawRepresentation: secret).publicKey.x963Representation)
        case [1, 3, 132, 0, 35]:
            point = Array(try P521.Signing.PrivateKey(rawRepresentation: secret).publicKey.x963Representation)
        default: throw NotDerivableError()
        }
        return try self.assemble(algorithm: algorithm[...], key: point)
    }

    private static func rsaPublicKey(ofPKCS1 bytes: ArraySlice<UInt8>) throws -> [UInt8] {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let version = nodes.next() else { throw ASN1Error.truncatedASN1Field() }
            guard (0...1).contains(try Int(derEncoded: version)) else {
                throw ASN1Error.invalidASN1Object(reason: "version")
            }
            // All eight, though two are the public key: other keys begin with a version and two elements as well.
            let numbers = try self.numbers(8, of: &nodes)
            // More than two primes.
            while nodes.next() != nil {}
            return try self.sequence(numbers.prefix(2).map { Array($0.encodedBytes) })
        }
    }

    /// So many integers.
    private static func numbers(_ count: Int, of nodes: inout ASN1NodeCollection.Iterator) throws -> [ASN1Node] {
        try (0..<count).map { _ in
            guard let node = nodes.next() else { throw ASN1Error.truncatedASN1Field() }
            _ = try ArraySlice<UInt8>(derEncoded: node)
            return node
        }
    }

    private static func rsaAlgorithm() throws -> [UInt8] {
        try self.sequence([try self.serialized(KeyAlgorithm.rsa), try self.serialized(ASN1Null())])
    }

    private static func assemble(algorithm: ArraySlice<UInt8>, key: [UInt8]) throws -> [UInt8] {
        try self.sequence([Array(algorithm), try self.serialized(ASN1BitString(bytes: key[...]))])
    }

    private static func serialized(_ element: some DERSerializable) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(element)
        return serializer.serializedBytes
    }

    private static func sequence(_ parts: [[UInt8]]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { inner in
            for part in parts { inner.serializeRawBytes(part) }
        }
        return serializer.serializedBytes
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata
internal import SwiftASN1

/// The two forms of a public key in metadata, from what tokens and files have.
public enum PublicKeyForm {
    /// The PEM label of a SubjectPublicKeyInfo (RFC 7468, section 13).
    public static let label = "PUBLIC KEY"

    /// The maximum number of bytes of a file with a public key: the largest key here, ML-DSA-65, has below 3,000 in
    /// PEM.
    public static let maximumLength = 64 * 1_024

    /// The SubjectPublicKeyInfo of an Ed25519 key (RFC 8410, section 4).
    static func ed25519(point: [UInt8]) -> [UInt8] {
        [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00] + point
    }

    /// The SubjectPublicKeyInfo of a P-256 key with an uncompressed point (RFC 5480, section 2).
    static func p256(point: [UInt8]) -> [UInt8] {
        [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ] + point
    }

    /// The SubjectPublicKeyInfo of an ML-DSA-65 key (RFC 9881, section 4: no parameters).
    static func mlDSA65(key: [UInt8]) -> [UInt8] {
        [
            0x30, 0x82, 0x07, 0xB2, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12, 0x03,
            0x82, 0x07, 0xA1, 0x00,
        ] + key
    }

    /// The key in a file that holds a public key in PEM, or in DER.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - name: The name as the user gave it.
    /// - Throws: ``RepositoryError`` when it holds something else, a private key included: roles are made from public
    ///   keys alone.
    public static func subjectPublicKeyInfo(in bytes: [UInt8], named name: String) throws(RepositoryError) -> [UInt8] {
        if bytes.first == 0x30 { return try self.checked(bytes, named: name) }
        let blocks: [PEMBlock]
        do { blocks = try PEMBlock.blocks(in: bytes) } catch { throw RepositoryError(.metadata, "\(name): \(error)") }
        guard blocks.count == 1, let block = blocks.first else {
            throw RepositoryError(.metadata, "\(name): not one PEM block but \(blocks.count)")
        }
        guard block.label == self.label else {
            let isPrivate = block.label.hasSuffix("PRIVATE KEY")
            throw RepositoryError(
                .metadata, "\(name): \(isPrivate ? "a private key" : block.label.lowercased()), not a public key",
                hint: isPrivate ? "the public key is in the file beside it that ends in .pub" : nil)
        }
        return try self.checked(block.bytes, named: name)
    }

    /// A SubjectPublicKeyInfo as it is, once it is clear that it is one: certificates and private keys in DER begin
    /// alike, and have other digests.
    private static func checked(_ bytes: [UInt8], named name: String) throws(RepositoryError) -> [UInt8] {
        do {
            return try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
                guard let algorithm = nodes.next(), let key = nodes.next() else {
                    throw PrivateKey.ParsingError(description: "members are missing")
                }
                _ = try PrivateKey.identifier(of: algorithm)
                _ = try ASN1BitString(derEncoded: key)
                return bytes
            }
        } catch {
            throw RepositoryError(
                .metadata, "\(name): not a public key", hint: "openssl pkey -in KEY -pubout writes one in PEM")
        }
    }

    /// The key of metadata in a file that holds a public key.
    ///
    /// - Throws: ``RepositoryError`` when it holds something else, or a key that does not sign metadata.
    public static func metadataKey(in bytes: [UInt8], named name: String) throws(RepositoryError) -> MetadataKey {
        guard let key = MetadataKey(subjectPublicKeyInfo: try self.subjectPublicKeyInfo(in: bytes, named: name)) else {
            throw RepositoryError(
                .metadata, "\(name): not a public key that signs metadata",
                hint: "P-256 (a named curve, uncompressed), Ed25519 and ML-DSA-65 keys do: tumbler key new FILE")
        }
        return key
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

/// A DSSE v1 envelope: a payload, its type, and signatures over both.
///
/// Reading one proves nothing. Checking its signatures does, as `TrustState` and ``signers(among:)`` do.
///
/// Source: secure-systems-lab/dsse 1.0.2; formats.md, section 3.
public struct Envelope: Hashable, Sendable {
    /// One signature.
    public struct Signature: Hashable, Sendable {
        /// The key id: a hint for finding the key, which decides nothing.
        public let keyID: String
        /// The raw signature in the form of the key's algorithm.
        public let bytes: [UInt8]

        /// Creates a signature.
        public init(keyID: String, bytes: [UInt8]) {
            self.keyID = keyID
            self.bytes = bytes
        }
    }

    /// The type of the payload: any text; those used here are ``payloadType(of:)``.
    public let payloadType: String

    /// The bytes that are signed, as they are.
    public let payload: [UInt8]

    /// Unverified signatures, at most ``MetadataLimits/signatures``.
    public var signatures: [Signature]

    /// Creates an envelope.
    public init(payloadType: String, payload: [UInt8], signatures: [Signature] = []) {
        self.payloadType = payloadType
        self.payload = payload
        self.signatures = signatures
    }

    /// The payload type of a kind of metadata.
    public static func payloadType(of kind: MetadataRole) -> String {
        "application/vnd.tumbler.\(kind.rawValue)+json"
    }

    /// Reads an envelope.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8 JSON.
    ///   - kind: The kind of metadata that is expected: it sets the limit and the type.
    ///   - limits: The size limits.
    /// - Throws: ``MetadataError``: `too-large`, `malformed` or `wrong-type`.
    public init(_ bytes: [UInt8], of kind: MetadataRole, limits: MetadataLimits) throws(MetadataError) {
        let maximum = kind == .root ? limits.rootBytes : limits.listBytes
        guard bytes.count <= maximum else {
            throw MetadataError(kind, .tooLarge, "the envelope is over \(maximum) bytes")
        }
        var object = try MetadataObject(parsing: bytes, of: kind, maximumValues: MetadataLimits.envelopeValues)
        self.payloadType = try object.string("payloadType")
        self.payload = try object.base64("payload")
        self.signatures = try object.objects("signatures", maximum: MetadataLimits.signatures) {
            (signature: inout MetadataObject) throws(MetadataError) in
            let bytes = try signature.base64("sig")
            guard bytes.count <= MetadataLimits.signatureBytes else {
                throw signature.malformed("sig", "is over \(MetadataLimits.signatureBytes) bytes long")
            }
            return Signature(keyID: try signature.optionalString("keyid") ?? "", bytes: bytes)
        }
        guard self.payloadType.utf8.elementsEqual(Self.payloadType(of: kind).utf8) else {
            throw MetadataError(kind, .wrongType, "the payload type is not \(Self.payloadType(of: kind))")
        }
    }

    /// The signed bytes: PAE(payloadType, payload) of DSSE.
    public var signedBytes: [UInt8] {
        var bytes = self.signedPrefix
        bytes.reserveCapacity(bytes.count + self.payload.count)
        bytes += self.payload
        return bytes
    }

    /// The prefix of ``signedBytes`` before the payload.
    var signedPrefix: [UInt8] {
        Array("DSSEv1 \(self.payloadType.utf8.count) \(self.payloadType) \(self.payload.count) ".utf8)
    }

    /// The envelope as UTF-8 JSON.
    public var bytes: [UInt8] {
        let signatures = self.signatures.map { signature in
            JSONValue.object([
                .init("keyid", .string(signature.keyID)), .init("sig", .string(Base64.encode(signature.bytes))),
            ])
        }
        return JSONValue.object([
            .init("payloadType", .string(self.payloadType)), .init("payload", .string(Base64.encode(self.payload))),
            .init("signatures", .array(signatures)),
        ]).bytes
    }

    /// The lower-case hex SHA-256 of some bytes: names an envelope in `ETag`, and a payload when it is signed.
    public static func digest(of bytes: [UInt8]) -> String { Hexadecimal.text(of: SHA256.hash(data: bytes)) }
}

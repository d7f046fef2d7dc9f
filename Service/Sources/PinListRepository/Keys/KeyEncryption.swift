// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import SwiftASN1

/// The encryption of a private key under a passphrase: PBES2 (RFC 8018, section 6.2) with PBKDF2 and AES in CBC mode.
///
/// Written is one combination, which `openssl pkcs8 -topk8 -v2 aes-256-cbc` writes, too. Read are those that people
/// have. There is no authentication in this format: a wrong passphrase is told by what comes out, and a damaged file
/// looks the same.
struct KeyEncryption: Hashable {
    /// The function under PBKDF2.
    enum Function: Hashable {
        /// HMAC with SHA-1: what older tools write, and what is meant where none is named.
        case sha1
        /// HMAC with SHA-256.
        case sha256
    }

    /// Rounds that are written (OWASP, Password Storage Cheat Sheet, for PBKDF2 with HMAC-SHA256).
    static let writtenIterations = 600_000

    /// The maximum number of rounds that are read: some seconds of work.
    static let maximumIterations = 10_000_000

    /// The maximum number of bytes of a salt that are read: OpenSSL writes 8 or 16 (RFC 8018, section 4.1, asks for 8
    /// at least).
    static let maximumSaltBytes = 1_024

    private static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 13]
    private static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 12]
    private static let hmacSHA1: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 7]
    private static let hmacSHA256: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 9]
    private static let aes128: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 2]
    private static let aes256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]

    let function: Function
    let iterations: Int
    let salt: [UInt8]
    /// In bytes: 16 or 32.
    let keyLength: Int
    let initialisationVector: [UInt8]

    /// Anything, for what people have.
    init(function: Function, iterations: Int, salt: [UInt8], keyLength: Int, initialisationVector: [UInt8]) {
        self.function = function
        self.iterations = iterations
        self.salt = salt
        self.keyLength = keyLength
        self.initialisationVector = initialisationVector
    }

    /// The parameters for a new file, with a new salt and vector.
    init(using generator: inout some RandomNumberGenerator) {
        self.function = .sha256
        self.iterations = Self.writtenIterations
        self.salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.keyLength = 32
        self.initialisationVector = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    // MARK: EncryptedPrivateKeyInfo (RFC 5958, section 3)

    /// Reads the frame of an encrypted key.
    ///
    /// - Returns: The encryption, and the encrypted bytes.
    /// - Throws: ``PrivateKey/ParsingError``, or an error of the parser.
    static func read(_ bytes: [UInt8]) throws -> (KeyEncryption, encrypted: [UInt8]) {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let secret = nodes.next() else {
                throw PrivateKey.ParsingError(description: "members are missing")
            }
            let (scheme, parameters) = try PrivateKey.identifier(of: algorithm)
            guard scheme == Self.pbes2, let parameters else {
                throw PrivateKey.ParsingError(description: "encrypted in another way than PBES2")
            }
            return (try KeyEncryption(parameters), Array(try ASN1OctetString(derEncoded: secret).bytes))
        }
    }

    private init(_ parameters: ASN1Node) throws {
        let (derivation, encryption) = try DER.sequence(parameters, identifier: .sequence) { nodes in
            guard let derivation = nodes.next(), let encryption = nodes.next() else {
                throw PrivateKey.ParsingError(description: "members are missing")
            }
            return (
                try PrivateKey.identifier(of: derivation), try PrivateKey.identifier(of: encryption)
            )
        }
        guard derivation.0 == Self.pbkdf2, let rounds = derivation.parameters else {
            throw PrivateKey.ParsingError(description: "the passphrase is stretched in another way than PBKDF2")
        }
        let length: Int
        switch encryption.0 {
        case Self.aes128: length = 16
        case Self.aes256: length = 32
        default: throw PrivateKey.ParsingError(description: "encrypted in another way than AES-256-CBC and AES-128-CBC")
        }
        let vector = try encryption.parameters.map { Array(try ASN1OctetString(derEncoded: $0).bytes) }
        guard let vector, vector.count == 16 else {
            throw PrivateKey.ParsingError(description: "no initialisation vector")
        }
        self.initialisationVector = vector
        self.keyLength = length
        (self.salt, self.iterations, self.function) = try Self.derivation(rounds, keyLength: length)
    }

    private static func derivation(_ parameters: ASN1Node, keyLength: Int) throws -> ([UInt8], Int, Function) {
        try DER.sequence(parameters, identifier: .sequence) { nodes in
            guard let salt = nodes.next(), let iterations = nodes.next() else {
                throw PrivateKey.ParsingError(description: "members are missing")
            }
            let bytes = Array(try ASN1OctetString(derEncoded: salt).bytes)
            guard (1...Self.maximumSaltBytes).contains(bytes.count) else {
                throw PrivateKey.ParsingError(description: "a salt of \(bytes.count) bytes")
            }
            let rounds = try Int(derEncoded: iterations)
            guard (1...Self.maximumIterations).contains(rounds) else {
                throw PrivateKey.ParsingError(description: "not 1 to \(Self.maximumIterations) rounds of PBKDF2")
            }
            var next = nodes.next()
            if let node = next, node.identifier == .integer {
                guard try Int(derEncoded: node) == keyLength else {
                    throw PrivateKey.ParsingError(description: "a length of the key that is not the cipher's")
                }
                next = nodes.next()
            }
            guard let next else { return (bytes, rounds, .sha1) }
            switch try PrivateKey.identifier(of: next).0 {
            case Self.hmacSHA1: return (bytes, rounds, .sha1)
            case Self.hmacSHA256: return (bytes, rounds, .sha256)
            default: throw PrivateKey.ParsingError(description: "PBKDF2 with another hash than SHA-256 and SHA-1")
            }
        }
    }

    /// The frame of an encrypted key.
    func frame(_ encrypted: [UInt8]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { info in
            try info.appendConstructedNode(identifier: .sequence) { algorithm in
                try algorithm.serialize(Self.pbes2)
                try algorithm.appendConstructedNode(identifier: .sequence) { try self.serialize(into: &$0) }
            }
            try info.serialize(ASN1OctetString(contentBytes: encrypted[...]))
        }
        return serializer.serializedBytes
    }

    private func serialize(into parameters: inout DER.Serializer) throws {
        try parameters.appendConstructedNode(identifier: .sequence) { derivation in
            try derivation.serialize(Self.pbkdf2)
            try derivation.appendConstructedNode(identifier: .sequence) { rounds in
                try rounds.serialize(ASN1OctetString(contentBytes: self.salt[...]))
                try rounds.serialize(self.iterations)
                try rounds.appendConstructedNode(identifier: .sequence) { function in
                    try function.serialize(self.function == .sha256 ? Self.hmacSHA256 : Self.hmacSHA1)
                    try function.serialize(ASN1Null())
                }
            }
        }
        try parameters.appendConstructedNode(identifier: .sequence) { encryption in
            try encryption.serialize(self.keyLength == 32 ? Self.aes256 : Self.aes128)
            try encryption.serialize(ASN1OctetString(contentBytes: self.initialisationVector[...]))
        }
    }

    // MARK: The cipher

    /// Encrypts, with padding.
    func encrypt(_ bytes: [UInt8], with passphrase: Passphrase) throws -> [UInt8] {
        let vector = try AES._CBC.IV(ivBytes: self.initialisationVector)
        return Array(try AES._CBC.encrypt(bytes, using: try self.key(from: passphrase), iv: vector))
    }

    /// Decrypts; the padding must hold.
    func decrypt(_ bytes: [UInt8], with passphrase: Passphrase) throws -> [UInt8] {
        let vector = try AES._CBC.IV(ivBytes: self.initialisationVector)
        return Array(try AES._CBC.decrypt(bytes, using: try self.key(from: passphrase), iv: vector))
    }

    private func key(from passphrase: Passphrase) throws -> SymmetricKey {
        // Few rounds are no reason to refuse an existing key; we write many.
        try KDF.Insecure.PBKDF2.deriveKey(
            from: passphrase.bytes, salt: self.salt, using: self.function == .sha256 ? .sha256 : .insecureSHA1,
            outputByteCount: self.keyLength, unsafeUncheckedRounds: self.iterations)
    }
}

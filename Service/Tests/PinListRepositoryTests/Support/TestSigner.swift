// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import PinListMetadata
import PinListRepository

/// A key that really signs, in memory.
struct TestSigner: MetadataSigner {
    let name: String
    let key: MetadataKey
    private let sign: @Sendable ([UInt8]) throws -> [UInt8]

    private init(_ name: String, _ key: MetadataKey?, _ sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws {
        guard let key else { throw RepositoryError(.metadata, "no key of metadata") }
        self.name = name
        self.key = key
        self.sign = sign
    }

    /// A P-256 key; it answers raw, or in DER.
    static func p256(_ name: String, der: Bool = false) throws -> TestSigner {
        let key = P256.Signing.PrivateKey()
        let publicKey = MetadataKey(subjectPublicKeyInfo: Array(key.publicKey.derRepresentation))
        return try TestSigner(name, publicKey) { message in
            let signature = try key.signature(for: message)
            return Array(der ? signature.derRepresentation : signature.rawRepresentation)
        }
    }

    /// An Ed25519 key.
    static func ed25519(_ name: String) throws -> TestSigner {
        let key = Curve25519.Signing.PrivateKey()
        let prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        let publicKey = MetadataKey(subjectPublicKeyInfo: prefix + Array(key.publicKey.rawRepresentation))
        return try TestSigner(name, publicKey) { message in Array(try key.signature(for: message)) }
    }

    /// A key of ML-DSA-65.
    static func mlDSA65(_ name: String) throws -> TestSigner {
        let key = try MLDSA65.PrivateKey()
        let prefix: [UInt8] = [
            0x30, 0x82, 0x07, 0xB2, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12, 0x03,
            0x82, 0x07, 0xA1, 0x00,
        ]
        let publicKey = MetadataKey(subjectPublicKeyInfo: prefix + Array(key.publicKey.rawRepresentation))
        return try TestSigner(name, publicKey) { message in Array(try key.signature(for: message)) }
    }

    /// The same key, which answers something else.
    func answering(_ answer: @escaping @Sendable ([UInt8]) throws -> [UInt8]) throws -> TestSigner {
        let sign = self.sign
        return try TestSigner(self.name, self.key) { message in try answer(try sign(message)) }
    }

    func signature(over message: [UInt8]) async throws -> [UInt8] { try self.sign(message) }
}

/// The times of these tests.
enum TestTime {
    static let issued = Timestamp(secondsSince1970: 1_795_000_000)
    static let day: Int64 = 86_400

    static func after(days: Int64) -> Timestamp {
        Timestamp(secondsSince1970: self.issued.secondsSince1970 + days * self.day)
    }
}

extension PinList {
    /// A small list.
    static func sample(version: Int64 = 7, name: String = "com.example.app") throws -> PinList {
        let pin = Pin(kind: .publicKey, hashing: Array("current".utf8))
        let backup = Pin(kind: .publicKey, hashing: Array("backup".utf8))
        let entry = PinnedDomain(try HostName("api.example.com"), pins: [KnownPin(pin), KnownPin(backup)])
        return PinList(
            name: name, version: version, issuedAt: TestTime.issued, expiresAt: TestTime.after(days: 60),
            domains: [Domain(entry)])
    }
}

extension Root {
    /// A first root with these keys.
    static func sample(
        root: [TestSigner], pins: [TestSigner], rootThreshold: Int = 1, pinsThreshold: Int = 1,
        name: String = "com.example.app"
    ) throws -> Root {
        var change = RootChange(issuedAt: TestTime.issued)
        change.added = root.map { (.root, $0.key) } + pins.map { (.pins, $0.key) }
        change.thresholds = [(.root, rootThreshold), (.pins, pinsThreshold)]
        return try change.first(named: name)
    }
}

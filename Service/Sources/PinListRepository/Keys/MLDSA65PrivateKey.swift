// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation

/// A private key of ML-DSA-65: the seed from which all of it is made (FIPS 204, algorithm 1), and its public key.
///
/// A type of its own, because a case cannot be of a type that an older system lacks: Apple's have ML-DSA from 26 on.
struct MLDSA65PrivateKey: Sendable {
    /// The length of a seed.
    static let seedLength = 32

    /// The length of an expanded key (FIPS 204, table 2).
    static let expandedLength = 4_032

    /// The length of rho, with which expanded and public keys begin (FIPS 204, algorithms 22 and 24).
    static let commonLength = 32

    /// The seed.
    let seed: [UInt8]

    /// The 1,952 bytes of the public key.
    let publicKey: [UInt8]

    /// Makes a key, with the randomness of the system.
    ///
    /// - Throws: `PrivateKey.ParsingError` where the system has no ML-DSA.
    init() throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { throw Self.tooOld }
        try self.init(MLDSA65.PrivateKey())
    }

    /// The key of a seed.
    ///
    /// - Throws: `PrivateKey.ParsingError` for a seed of another length, and where the system has no ML-DSA.
    init(seed: [UInt8]) throws {
        guard seed.count == Self.seedLength else {
            throw PrivateKey.ParsingError(description: "the seed has \(seed.count) bytes, not \(Self.seedLength)")
        }
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { throw Self.tooOld }
        try self.init(MLDSA65.PrivateKey(seedRepresentation: seed, publicKey: nil))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private init(_ key: MLDSA65.PrivateKey) {
        self.seed = Array(key.seedRepresentation)
        self.publicKey = Array(key.publicKey.rawRepresentation)
    }

    /// Signs a message, with an empty context.
    func signature(over message: [UInt8]) throws -> [UInt8] {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { throw Self.tooOld }
        return Array(try MLDSA65.PrivateKey(seedRepresentation: self.seed, publicKey: nil).signature(for: message))
    }

    private static var tooOld: PrivateKey.ParsingError {
        PrivateKey.ParsingError(description: "this system has no ML-DSA", hint: "macOS has it from 26 on, Linux always")
    }
}

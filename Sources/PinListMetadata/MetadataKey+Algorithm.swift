// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension MetadataKey {
    /// The signature algorithm of a key, by its name in roots. Unknown names are kept: they are algorithms of later
    /// versions.
    ///
    /// Source: formats.md, section 3.
    public struct Algorithm: RawRepresentable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        /// The name.
        public let rawValue: String

        /// Creates an algorithm of any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// ECDSA over P-256 with SHA-256; a signature is r then s, 32 bytes each.
        public static let ecdsaP256SHA256 = Algorithm(rawValue: "ecdsa-p256-sha256")
        /// Ed25519 (RFC 8032).
        public static let ed25519 = Algorithm(rawValue: "ed25519")
        /// ML-DSA-65 (FIPS 204) with an empty context.
        public static let mlDSA65 = Algorithm(rawValue: "ml-dsa-65")

        /// The algorithms whose key form is known here.
        public static let allCases: [Algorithm] = [.ecdsaP256SHA256, .ed25519, .mlDSA65]

        /// The algorithms that this system can verify: Apple's systems have ML-DSA from version 26 on.
        public static var verifiable: Set<Algorithm> {
            MLDSA65Verifier.isAvailable ? Set(Self.allCases) : [.ecdsaP256SHA256, .ed25519]
        }

        /// The length of a signature, in bytes; `nil` where it is not known.
        public var signatureLength: Int? {
            switch self {
            case .ecdsaP256SHA256, .ed25519: 64
            case .mlDSA65: 3_309
            default: nil
            }
        }

        /// The name.
        public var description: String { self.rawValue }
    }
}

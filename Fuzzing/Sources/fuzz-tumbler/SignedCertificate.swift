// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A certificate whose subject and extensions are bytes from outside, and whose signature holds all the same.
struct SignedCertificate {
    /// The content that is signed, beside the key.
    struct Form: Hashable {
        /// The relative distinguished names of the subject, in DER.
        var subject: [UInt8] = []
        /// Whether it may sign certificates.
        var isAuthority = false
        /// Extensions by the last number of their object identifier (2.5.29.x), in DER.
        var extensions: [UInt8: Value] = [:]
    }

    /// The value of an extension.
    struct Value: Hashable {
        var bytes: [UInt8]
        var isCritical: Bool
    }

    /// The certificate in DER.
    let der: [UInt8]
    /// The subject's Name, for what it signs.
    private let name: [UInt8]
    private let key: Curve25519.Signing.PrivateKey

    /// Makes a certificate, valid in 2026.
    ///
    /// - Parameters:
    ///   - form: What is signed.
    ///   - seed: Where its key comes from.
    ///   - issuer: Who signs; itself when `nil`.
    /// - Returns: `nil` when it cannot be signed.
    init?(_ form: Form, seed: UInt8, by issuer: SignedCertificate? = nil) {
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32))
        else {
            return nil
        }
        let name = Self.element(0x30, form.subject)
        let algorithm = Self.element(0x30, [0x06, 0x03, 0x2b, 0x65, 0x70])
        var extensions = form.extensions.sorted { $0.key < $1.key }.flatMap { Self.wrapped($0.key, $0.value) }
        if form.isAuthority {
            extensions += Self.wrapped(19, Value(bytes: [0x30, 0x03, 0x01, 0x01, 0xff], isCritical: true))
        }
        var parts: [[UInt8]] = [
            Self.element(0xa0, [0x02, 0x01, 0x02]), Self.element(0x02, [seed]), algorithm, issuer?.name ?? name,
            Self.element(0x30, Self.time("260101000000Z") + Self.time("270101000000Z")), name,
            Self.element(0x30, algorithm + Self.element(0x03, [0] + Array(key.publicKey.rawRepresentation))),
        ]
        if !extensions.isEmpty { parts.append(Self.element(0xa3, Self.element(0x30, extensions))) }
        let toBeSigned = Self.element(0x30, Array(parts.joined()))
        guard let signature = try? (issuer?.key ?? key).signature(for: toBeSigned) else { return nil }
        self.der = Self.element(0x30, toBeSigned + algorithm + Self.element(0x03, [0] + Array(signature)))
        self.name = name
        self.key = key
    }

    private static func wrapped(_ number: UInt8, _ value: Value) -> [UInt8] {
        self.element(
            0x30,
            [0x06, 0x03, 0x55, 0x1d, number] + (value.isCritical ? [0x01, 0x01, 0xff] : [])
                + self.element(0x04, value.bytes))
    }

    private static func time(_ text: String) -> [UInt8] { self.element(0x17, Array(text.utf8)) }

    /// A tag, a length in its shortest form, and the contents.
    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        let head = contents.count < 0x80 ? [UInt8(contents.count)] : [0x80 | UInt8(length.count)] + length
        return [tag] + head + contents
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// An installation of an app on a device with App Attest, for tests: one key, its attestation, and assertions with a counter
/// that grows. Its attestations and assertions verify under its ``SimulatedAttestationAuthority``.
public struct SimulatedAttestedKey: Sendable {
    /// The form of the system's output.
    public enum Form: Hashable, Sendable {
        /// Before iOS 27: no extensions.
        case plain
        /// From iOS 27 on: the launch category and the version of the app, in a map behind the key, with the ED flag clear.
        case extended(category: UInt32, version: String)
    }

    /// The app id: `TEAMID.bundle.id`.
    public let appID: String
    /// Whether the key is of App Attest's development environment.
    public let isDevelopment: Bool
    /// The form of the system's output.
    public let form: Form
    /// The counter of the last assertion.
    public private(set) var counter: UInt32 = 0

    private let authority: SimulatedAttestationAuthority
    private let key: P256.Signing.PrivateKey
    private let serial: UInt8

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - authority: The authority that attests it.
    ///   - appID: The app id: `TEAMID.bundle.id`.
    ///   - isDevelopment: Whether it is of the development environment.
    ///   - form: The form of the system's output.
    public init(
        under authority: SimulatedAttestationAuthority, appID: String, isDevelopment: Bool = false, form: Form = .plain
    ) {
        self.authority = authority
        self.appID = appID
        self.isDevelopment = isDevelopment
        self.form = form
        self.key = P256.Signing.PrivateKey()
        self.serial = UInt8.random(in: 1...127)
    }

    /// The key id: the SHA-256 of ``x963``, 32 bytes.
    public var keyID: [UInt8] { Array(SHA256.hash(data: self.x963)) }

    /// The public key as an uncompressed point, 65 bytes.
    public var x963: [UInt8] { Array(self.key.publicKey.x963Representation) }

    /// Makes an attestation.
    ///
    /// - Parameter clientDataHash: The app's argument of `attestKey`: the SHA-256 of the challenge.
    /// - Returns: The CBOR map that the app sends.
    public func attestation(clientDataHash: [UInt8]) throws -> [UInt8] {
        let name = self.isDevelopment ? "appattestdevelop" : "appattest\0\0\0\0\0\0\0"
        let point = self.x963
        let coseKey: [UInt8] =
            [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21] + CBORText.bytes(Array(point[1..<33])) + [0x22]
            + CBORText.bytes(Array(point[33..<65]))
        let data =
            self.head(flags: 0x40, counter: 0) + Array(name.utf8) + [0, 32] + self.keyID + coseKey + self.extensions
        let nonce = Array(SHA256.hash(data: data + clientDataHash))
        let leaf = try self.authority.certificate(
            of: Array(self.key.publicKey.derRepresentation), nonce: nonce, serial: self.serial)
        return CBORText.map([
            ("fmt", CBORText.text("apple-appattest")),
            (
                "attStmt",
                CBORText.map([
                    ("x5c", CBORText.array([leaf, self.authority.intermediate].map(CBORText.bytes))),
                    ("receipt", CBORText.bytes([0x30, 0x80, 0, 0])),
                ])
            ), ("authData", CBORText.bytes(data)),
        ])
    }

    /// Makes an assertion with the next counter.
    ///
    /// - Parameter clientDataHash: The app's argument of `generateAssertion`: the SHA-256 of the request.
    /// - Returns: The CBOR map that the app sends.
    public mutating func assertion(clientDataHash: [UInt8]) throws -> [UInt8] {
        self.counter += 1
        let data = self.head(flags: 0x40, counter: self.counter) + self.extensions
        // Hashed once more where it is signed: the nonce is the message.
        let nonce = Array(SHA256.hash(data: data + clientDataHash))
        let signature = try self.key.signature(for: nonce)
        return CBORText.map([
            ("signature", CBORText.bytes(Array(signature.derRepresentation))),
            ("authenticatorData", CBORText.bytes(data)),
        ])
    }

    private func head(flags: UInt8, counter: UInt32) -> [UInt8] {
        Array(SHA256.hash(data: Array(self.appID.utf8))) + [flags]
            + withUnsafeBytes(of: counter.bigEndian) { Array($0) }
    }

    private var extensions: [UInt8] {
        guard case .extended(let category, let version) = self.form else { return [] }
        return CBORText.map([
            ("apple_bundle_version_01", CBORText.text(version)),
            (
                "apple_validation_category_01",
                CBORText.bytes(withUnsafeBytes(of: category.littleEndian) { Array($0) })
            ),
        ])
    }
}

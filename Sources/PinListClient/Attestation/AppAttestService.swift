// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The device's part of App Attest: the three functions of Apple's `DCAppAttestService`. A protocol, so that tests have
/// a device of their own.
///
/// Each throws ``AppAttestError``; any other error counts as ``AppAttestError/Code/failed``.
public protocol AppAttestService: Sendable {
    /// Whether the device supports App Attest: not on simulators, not in most app extensions, not on every Mac.
    var isSupported: Bool { get }

    /// Makes a key in the Secure Enclave.
    ///
    /// - Returns: Its id, base64 of 32 bytes.
    func generateKey() async throws -> String

    /// Has Apple attest a key. Takes a connection to Apple, and can be done once for a key.
    ///
    /// - Parameters:
    ///   - keyID: The id of the key.
    ///   - clientDataHash: The SHA-256 of the challenge.
    /// - Returns: A CBOR map for the server.
    func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8]

    /// Signs a request. Takes no connection.
    ///
    /// - Parameters:
    ///   - keyID: The id of the key.
    ///   - clientDataHash: The SHA-256 of the request.
    /// - Returns: A CBOR map for the server.
    func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8]
}

/// The reason why nothing was attested.
public struct AppAttestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. Bounded: it is in reports as `tumbler.attestation`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The device or the process has no App Attest.
        public static let unsupported = Code(description: "unsupported")
        /// The key is gone, as after a reinstallation, or was never attested.
        public static let invalidKey = Code(description: "invalid-key")
        /// Apple's server does not answer: the same key may be attested later.
        public static let appleUnavailable = Code(description: "apple-unavailable")
        /// The service gives no challenge, or accepts no key now.
        public static let serviceUnavailable = Code(description: "service-unavailable")
        /// The service refused the attestation.
        public static let refused = Code(description: "refused")
        /// An attempt failed within the last day or so: the next one waits.
        public static let waiting = Code(description: "waiting")
        /// The request took too long.
        public static let timeout = Code(description: "timeout")
        /// The stored state of the key cannot be read or written now: the device may be locked.
        public static let storage = Code(description: "storage")
        /// Any other failure.
        public static let failed = Code(description: "failed")
    }

    /// The kind of failure.
    public let code: Code

    /// Creates a failure.
    public init(_ code: Code) { self.code = code }

    /// The code.
    public var description: String { self.code.description }
}

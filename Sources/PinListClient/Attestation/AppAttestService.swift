// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What a device does for App Attest: the three functions of Apple's `DCAppAttestService`. A protocol, so that tests have a
/// device of their own.
///
/// Each throws ``AppAttestError``; anything else counts as ``AppAttestError/Code/failed``.
public protocol AppAttestService: Sendable {
    /// Whether there is App Attest here: not on simulators, not in most app extensions, not on every Mac.
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

/// Why nothing was attested.
public struct AppAttestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong. Bounded: it stands in reports, as `tumbler.attestation`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String

        /// The device, or where the code runs, has no App Attest.
        public static let unsupported = Code(description: "unsupported")
        /// The key is not there any more, as after a reinstallation, or was never attested.
        public static let invalidKey = Code(description: "invalid-key")
        /// Apple's server does not answer: the same key may be attested later.
        public static let appleUnavailable = Code(description: "apple-unavailable")
        /// The service gives no challenge, or takes no key now.
        public static let serviceUnavailable = Code(description: "service-unavailable")
        /// The service refused the attestation.
        public static let refused = Code(description: "refused")
        /// An attempt failed within the last day or so: the next one waits.
        public static let waiting = Code(description: "waiting")
        /// It took too long.
        public static let timeout = Code(description: "timeout")
        /// What is known of the key cannot be read or written now: the device may be locked.
        public static let storage = Code(description: "storage")
        /// Anything else.
        public static let failed = Code(description: "failed")
    }

    /// What went wrong.
    public let code: Code

    /// States a failure.
    public init(_ code: Code) { self.code = code }

    /// The code.
    public var description: String { self.code.description }
}

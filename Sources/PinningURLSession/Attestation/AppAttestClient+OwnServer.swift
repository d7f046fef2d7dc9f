// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) public import PinListClient

/// For a server of the app's own, which verifies with `AppAttestation`. Nothing is sent from here: the app asks its server
/// for a challenge, and sends it what it gets. A client with an origin is for reports: it stops the program that asks it
/// for these.
///
///     let client = AppAttestClient(name: "api.example.com")
extension AppAttestClient {
    /// An attestation, to be registered at the server.
    public struct Attestation: Hashable, Sendable {
        /// The id of the key, base64 of 32 bytes.
        public let keyID: String
        /// The attestation, a CBOR map.
        public let attestation: [UInt8]
    }

    /// A signature by a key that was attested.
    public struct Assertion: Hashable, Sendable {
        /// The id of the key, base64 of 32 bytes.
        public let keyID: String
        /// The assertion, a CBOR map.
        public let assertion: [UInt8]
    }

    /// Makes a key and has Apple attest it. It replaces the one before, which signs until then, also where an attempt fails.
    ///
    /// A key is attested once. Where the server did not answer, send the same attestation again while its challenge is
    /// good. The next key is made a day after the last one at the earliest, and a day and up to six hours more after a
    /// failure: until then this throws `waiting`, and the app goes on without.
    ///
    /// - Parameter challenge: The server's challenge, as it came. Its SHA-256 is bound into the attestation.
    /// - Returns: The id of the key, and the attestation.
    /// - Throws: `AppAttestError`.
    public func attest(challenge: [UInt8]) async throws(AppAttestError) -> Attestation {
        self.requireNoOrigin()
        guard self.service.isSupported else { throw AppAttestError(.unsupported) }
        var kept = try self.kept()
        // Nothing of this is stored before the successor's time has come: another request may have made this key just now.
        if kept.isRegistered {
            let before = kept.keyID
            kept = Self.successor(of: kept)
            kept.before = before
        }
        try self.begin(&kept)
        let keyID = try await self.keyID(&kept)
        let attestation = try await self.attest(keyID, challenge: challenge, &kept)
        try self.finish(&kept)
        return Attestation(keyID: keyID, attestation: attestation)
    }

    /// Signs a request with the key that was attested. Takes no connection.
    ///
    /// A server takes counters that grow, so that requests that overtake each other on their way are refused: sign the
    /// next one when the answer to the last one is there.
    ///
    /// - Parameter body: The bytes that the server verifies, with its challenge in them: the client data. Their SHA-256 is
    ///   signed.
    /// - Returns: The id of the key, and the assertion.
    /// - Throws: `AppAttestError`; `invalidKey` where there is no key, or it is gone, as after a reinstallation: then
    ///   ``attest(challenge:)`` makes the next one.
    public func assertion(for body: [UInt8]) async throws(AppAttestError) -> Assertion {
        self.requireNoOrigin()
        guard self.service.isSupported else { throw AppAttestError(.unsupported) }
        let kept = try self.kept()
        guard let keyID = kept.isRegistered ? kept.keyID : kept.before else { throw AppAttestError(.invalidKey) }
        let hash = ReportSignature.clientDataHash(challenge: body)
        return Assertion(keyID: keyID, assertion: try await self.signature(by: keyID, over: hash))
    }

    /// The key of a client with an origin is registered there: no other server can verify it.
    private func requireNoOrigin() {
        precondition(
            self.origin == nil,
            "this client signs reports; a server of the app's own needs one that is made without an origin")
    }
}

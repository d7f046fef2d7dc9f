// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListClient
public import PinningURLSession

/// What your server gives the app: two requests of your own making, without an assertion.
public protocol AttestingServer: Sendable {
    /// A challenge, which the server takes once.
    func challenge() async throws -> [UInt8]
    /// Sends a key with its attestation, which the server verifies and keeps.
    func register(_ key: AppAttestClient.Attestation, challenge: [UInt8]) async throws
}

/// The app's half: signs requests for `AttestedRequests`, one after the other, because counters have to grow.
public actor AttestedSession {
    private let client: AppAttestClient
    private let server: any AttestingServer

    /// A session with a server; in an app `AttestedSession(AppAttestClient(name: "api.example.com"), server)`.
    public init(_ client: AppAttestClient, _ server: any AttestingServer) {
        (self.client, self.server) = (client, server)
    }

    /// The fields of a request; none where this device cannot attest now. The request goes out all the same: the server
    /// decides what it does for one without.
    public func fields(_ method: String, _ path: String, body: [UInt8]) async -> [String: String] {
        do {
            let challenge = try await self.server.challenge()
            // As `AttestedRequests.clientData` puts it together.
            let signed = try await self.assertion(for: Array("\(method) \(path)\n".utf8) + challenge + body)
            return [
                "Attest-Key": signed.keyID, "Attest-Challenge": Base64.encode(challenge),
                "Attest-Assertion": Base64.encode(signed.assertion),
            ]
        } catch { return [:] }
    }

    /// Attests a key where there is none, or the device has it no more.
    private func assertion(for clientData: [UInt8]) async throws -> AppAttestClient.Assertion {
        do throws(AppAttestError) { return try await self.client.assertion(for: clientData) } catch {
            guard error.code == .invalidKey else { throw error }
            let challenge = try await self.server.challenge()
            try await self.server.register(try await self.client.attest(challenge: challenge), challenge: challenge)
            return try await self.client.assertion(for: clientData)
        }
    }
}

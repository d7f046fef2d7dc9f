// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
public import PinListClient

/// A device with App Attest, for tests: each key is a ``SimulatedAttestedKey``, whose attestations and assertions
/// verify under its authority.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class SimulatedAppAttestDevice: AppAttestService, @unchecked Sendable {
    private let authority: SimulatedAttestationAuthority
    private let appID: String
    private let form: SimulatedAttestedKey.Form
    private let lock = NSLock()
    private var keys: [String: SimulatedAttestedKey] = [:]
    private var failing: AppAttestError.Code?
    private var supported = true
    private var calls = 0

    /// A device with an app.
    public init(
        under authority: SimulatedAttestationAuthority, appID: String, form: SimulatedAttestedKey.Form = .plain
    ) {
        self.authority = authority
        self.appID = appID
        self.form = form
    }

    /// The failure of Apple's functions; `nil` for none.
    public var failure: AppAttestError.Code? {
        get { self.lock.withLock { self.failing } }
        set { self.lock.withLock { self.failing = newValue } }
    }

    /// The number of attestations that were requested from Apple.
    public var attestations: Int { self.lock.withLock { self.calls } }

    /// Whether the device has App Attest.
    public var isSupported: Bool {
        get { self.lock.withLock { self.supported } }
        set { self.lock.withLock { self.supported = newValue } }
    }

    /// Removes all keys, as a reinstallation does.
    public func reinstall() { self.lock.withLock { self.keys = [:] } }

    /// Makes a key.
    public func generateKey() async throws -> String {
        try self.lock.withLock {
            if let failing { throw AppAttestError(failing) }
            let key = SimulatedAttestedKey(under: self.authority, appID: self.appID, form: self.form)
            let id = Base64.encode(key.keyID)
            self.keys[id] = key
            return id
        }
    }

    /// Attests a key.
    public func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
        try self.lock.withLock {
            self.calls += 1
            if let failing { throw AppAttestError(failing) }
            guard let key = self.keys[keyID] else { throw AppAttestError(.invalidKey) }
            return try key.attestation(clientDataHash: clientDataHash)
        }
    }

    /// Signs a request.
    public func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
        try self.lock.withLock {
            if let failing { throw AppAttestError(failing) }
            guard let assertion = try self.keys[keyID]?.assertion(clientDataHash: clientDataHash) else {
                throw AppAttestError(.invalidKey)
            }
            return assertion
        }
    }
}

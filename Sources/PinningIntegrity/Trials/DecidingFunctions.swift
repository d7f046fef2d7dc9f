// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The functions that decide, as a canary calls them: those that the client itself calls, or a test's stand-ins.
struct DecidingFunctions: Sendable {
    /// Whether a validated path is allowed for a host: `PinningPolicy.validate`.
    var verdict: @Sendable (PinningPolicy, ValidatedPath, String, Timestamp) -> Bool

    /// Whether a list from outside is trusted under a root, both as envelopes: `TrustState.accept`.
    var acceptsList: @Sendable (_ root: [UInt8], _ list: [UInt8], Timestamp) -> Bool

    /// The pin of a certificate's public key: `Pin(publicKeyOf:)`.
    var pin: @Sendable ([UInt8]) -> Pin?

    /// The SHA-256 that pins are made with.
    var digest: @Sendable ([UInt8]) -> [UInt8]

    /// Those that decide.
    init() {
        self.verdict = { policy, path, host, time in policy.validate(path, for: host, at: time).verdict == .allow }
        self.acceptsList = { root, list, time in
            guard var trust = try? TrustState(bundledRoot: root, bundledList: nil) else { return false }
            return (try? trust.accept(list: list, at: time)) == .newer
        }
        self.pin = { try? Pin(publicKeyOf: $0) }
        self.digest = { Pin(kind: .publicKey, hashing: $0).digest }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import Crypto
import Dispatch
import X509

/// The cost of verifying an attestation and an assertion, beside the checks of signatures that each has to make: two of
/// P-384, and one of P-256.
struct AttestationBenchmark {
    /// The most that all the rest may cost, as a part of the whole.
    private static let limit = 1.2

    func run(_ report: inout Report) async throws {
        print("App Attest:")
        let kit = try AttestationKit()
        try await self.attestation(kit, &report)
        try await self.assertion(kit, &report)
    }

    private func attestation(_ kit: AttestationKit, _ report: inout Report) async throws {
        let attestation = try kit.attestation { $0.extensions = AttestationKit.extensions(category: [4, 0, 0, 0]) }
        let verifier = AttestationVerifier(appID: AttestationKit.appID, environment: .production, root: kit.root.der)
        let time = Timestamp(secondsSince1970: KitCertificate.time)
        let keyID = kit.keyID
        let (root, intermediate) = (kit.root.certificate, kit.intermediate.certificate)
        let leaf = try KitCertificate(
            "key", key: Certificate.PrivateKey(kit.deviceKey), by: kit.intermediate, extensions: []
        ).certificate
        try await self.measure("an attestation", iterations: 10, &report) {
            _ = try await verifier.verify(
                attestation, keyID: keyID, challenge: .bytes(AttestationKit.challenge), at: time)
        } beside: {
            keep(root.publicKey.isValidSignature(intermediate.signature, for: intermediate))
            keep(intermediate.publicKey.isValidSignature(leaf.signature, for: leaf))
        }
    }

    private func assertion(_ kit: AttestationKit, _ report: inout Report) async throws {
        let request = [UInt8](repeating: 0x61, count: 1_000)
        let assertion = try kit.assertion(request)
        let verifier = AssertionVerifier(appID: AttestationKit.appID)
        guard let key = AttestedKey(x963: kit.point) else { return }
        let known = KnownKey(key, counter: 0, namesCategory: false, namesBundleVersion: false)
        let publicKey = kit.deviceKey.publicKey
        let message = [UInt8](repeating: 0x62, count: 32)
        let signature = try kit.deviceKey.signature(for: message)
        try await self.measure("an assertion", iterations: 100, &report) {
            _ = try await verifier.verify(assertion, by: known, clientData: .bytes(request)) { true }
        } beside: {
            keep(publicKey.isValidSignature(signature, for: message))
        }
    }

    /// Measures two things in turn, round by round, and holds the ratio of their lower quartiles against the limit.
    private func measure(
        _ name: String, iterations: Int, _ report: inout Report, _ whole: () async throws -> Void, beside: () -> Void
    ) async throws {
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0..<52 {
            var start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<iterations { try await whole() }
            // Two rounds to warm up.
            if round >= 2 { ours.append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(iterations)) }
            start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<iterations { beside() }
            if round >= 2 { theirs.append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(iterations)) }
        }
        let (own, checks) = (ours.sorted()[ours.count / 4], theirs.sorted()[theirs.count / 4])
        report.time(name, own)
        report.time("its checks of signatures alone", checks)
        report.limit("\(name) : its checks", own / checks, atMost: Self.limit)
    }
}

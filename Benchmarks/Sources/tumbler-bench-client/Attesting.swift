// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import Crypto
import X509

/// A number of verifications of App Attest, or of the checks of signatures alone that each has to make: two of P-384 for
/// an attestation, and one of P-256 for an assertion.
struct Attesting {
    /// What is done.
    enum Kind: String {
        /// The checks of signatures, with keys and signatures that were read before.
        case checks
        /// The whole verification, from bytes.
        case verified
    }

    /// Of what.
    enum Subject: String {
        case attestation
        case assertion
    }

    private let kind: Kind
    private let subject: Subject
    private let count: Int

    init(_ arguments: inout ArraySlice<String>) throws {
        guard let kind = arguments.popFirst().flatMap(Kind.init(rawValue:)),
            let subject = arguments.popFirst().flatMap(Subject.init(rawValue:)),
            let count = arguments.popFirst().flatMap({ Int($0) })
        else { throw Main.Usage() }
        self.kind = kind
        self.subject = subject
        self.count = count
    }

    func run() async throws {
        let kit = try AttestationKit()
        switch self.subject {
        case .attestation: try await self.attestation(kit)
        case .assertion: try await self.assertion(kit)
        }
    }

    private func attestation(_ kit: AttestationKit) async throws {
        let attestation = try kit.attestation { $0.extensions = AttestationKit.extensions(category: [4, 0, 0, 0]) }
        let verifier = AttestationVerifier(appID: AttestationKit.appID, environment: .production, root: kit.root.der)
        let time = Timestamp(secondsSince1970: KitCertificate.time)
        let keyID = kit.keyID
        let (root, intermediate) = (kit.root.certificate, kit.intermediate.certificate)
        let leaf = try KitCertificate(
            "key", key: Certificate.PrivateKey(kit.deviceKey), by: kit.intermediate, extensions: []
        ).certificate
        for _ in 0..<self.count {
            switch self.kind {
            case .checks:
                try self.check(root.publicKey.isValidSignature(intermediate.signature, for: intermediate))
                try self.check(intermediate.publicKey.isValidSignature(leaf.signature, for: leaf))
            case .verified:
                _ = try await verifier.verify(
                    attestation, keyID: keyID, challenge: .bytes(AttestationKit.challenge), at: time)
            }
        }
    }

    private func assertion(_ kit: AttestationKit) async throws {
        let request = [UInt8](repeating: 0x61, count: 1_000)
        let assertion = try kit.assertion(request)
        let verifier = AssertionVerifier(appID: AttestationKit.appID)
        guard let key = AttestedKey(x963: kit.point) else { throw Failure() }
        let known = KnownKey(key, counter: 0, namesCategory: false, namesBundleVersion: false)
        let publicKey = kit.deviceKey.publicKey
        let message = [UInt8](repeating: 0x62, count: 32)
        let signature = try kit.deviceKey.signature(for: message)
        for _ in 0..<self.count {
            switch self.kind {
            case .checks: try self.check(publicKey.isValidSignature(signature, for: message))
            case .verified:
                _ = try await verifier.verify(assertion, by: known, clientData: .bytes(request)) { true }
            }
        }
    }

    /// Throws when a signature that has to be valid is not.
    private func check(_ isValid: Bool) throws {
        guard isValid else { throw Failure() }
    }

    /// The error of a figure that would be of something else.
    private struct Failure: Error {}
}

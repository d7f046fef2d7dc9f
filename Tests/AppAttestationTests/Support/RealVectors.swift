// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Parsers) @testable import AppAttestation
import CertificatePinning
import Foundation
import TestData
import Testing

/// What real devices sent in 2020 and 2021: `attestation/vectors.json` of the shared data.
struct RealVectors: Decodable {
    struct Attestation: Decodable {
        let attestation: Data
        let keyId: Data
        let challenge: Data
        let appId: String
        let at: String

        var time: Timestamp { get throws { try Timestamp(roundingDownText: self.at) } }

        /// Verifies it, or what a test made of it.
        func verify(
            _ bytes: [UInt8]? = nil, keyID: [UInt8]? = nil, challenge: ClientData? = nil, appID: String? = nil,
            environment: AttestationEnvironment = .development, time: Timestamp? = nil,
            root: [UInt8] = AppleRoot.appAttestation
        ) async throws -> VerifiedAttestation {
            try await AttestationVerifier(appID: appID ?? self.appId, environment: environment, root: root).verify(
                bytes ?? Array(self.attestation), keyID: keyID ?? Array(self.keyId),
                challenge: challenge ?? .bytes(Array(self.challenge)), at: time ?? self.time)
        }
    }

    struct Assertion: Decodable {
        let assertion: Data
        let clientData: Data
        let publicKeyPem: String
        let appId: String
        let counter: UInt32

        var key: AttestedKey {
            get throws { try #require(AttestedKey(subjectPublicKeyInfo: try keyBytes(inPEM: self.publicKeyPem))) }
        }
    }

    struct SignedReceipt: Decodable {
        struct Properties: Decodable {
            let clientHashBase64: String
            let creationTime: String
            let expirationTime: String
            let notBefore: String?
            let riskMetric: String?
            let environment: String
            let token: String
            let type: String
        }

        let receipt: Data
        let publicKeyPem: String
        let appId: String
        let properties: Properties
    }

    let attestations: [Attestation]
    let assertions: [Assertion]
    let receipts: [SignedReceipt]

    /// Whether they are there.
    static let areThere = SharedData.holds(SharedData.attestation)

    /// Why a test that needs them is skipped.
    static let missing: Comment = "there is no ../shared/data/attestation beside the checkout"

    /// All of them.
    static func load() throws -> RealVectors {
        try JSONDecoder().decode(
            RealVectors.self, from: Data(contentsOf: SharedData.attestation.appendingPathComponent("vectors.json")))
    }
}

/// The one block of a PEM text.
func keyBytes(inPEM text: String) throws -> [UInt8] { try #require(try PEMBlock.blocks(in: text.utf8).first).bytes }

/// The step that refuses; an error of the test when nothing does.
func refusedStep(_ body: () async throws -> some Sendable) async throws -> Int? {
    do {
        _ = try await body()
    } catch let refusal as AttestationError {
        return refusal.step
    }
    Issue.record("nothing refused")
    return -1
}

/// A time of the vectors, some of which are written as Python writes them.
func vectorTime(_ text: String) throws -> Timestamp {
    try Timestamp(String(text.prefix(19)).replacingOccurrences(of: " ", with: "T") + "Z")
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import TestData
import Testing

/// The sequences that every TUF client is held against (tuf-conformance), for our two roles.
@Suite(
    "Key rotation, case by case",
    .enabled(
        if: SharedData.holds(SharedData.keyRotation), "there is no ../shared/data/key-rotation beside the checkout"))
struct KeyRotationTests {
    /// A version of the root's role, or the delegated role.
    private struct Signing: Decodable {
        var keys: [Int]
        var threshold: Int
        var signatures: [Int]
        var accepted: Bool
    }

    private struct Sequence: Decodable {
        var name: String
        var versions: [Signing]
    }

    private struct Cases: Decodable {
        var root: [Sequence]
        var delegated: [Named]
    }

    private struct Named: Decodable {
        var name: String
        var signing: Signing

        init(from decoder: any Decoder) throws {
            self.name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
            self.signing = try Signing(from: decoder)
        }

        private enum CodingKeys: CodingKey { case name }
    }

    private static func cases() throws -> Cases {
        try JSONDecoder().decode(Cases.self, from: Data(contentsOf: SharedData.keyRotation))
    }

    /// The ten keys that the cases number, of both algorithms.
    private static let keys: [SigningKey] = {
        var random = SeededGenerator(seed: 25)
        return (0..<10).map { SigningKey($0 % 2 == 0 ? .ecdsaP256SHA256 : .ed25519, using: &random) }
    }()

    private func root(_ version: Int64, root signing: Signing, pins: Signing) -> Root {
        func role(_ signing: Signing) -> Role {
            Role(keyIDs: signing.keys.map { Self.keys[$0].keyID }, threshold: signing.threshold)
        }
        return Root(
            name: "com.example.app", version: version, issuedAt: Story.start, expiresAt: Story.after(days: 1),
            keys: Set(signing.keys + pins.keys).map { Self.keys[$0].publicKey }, root: role(signing), pins: role(pins))
    }

    private func keys(of signing: Signing) -> [SigningKey] { signing.signatures.map { Self.keys[$0] } }

    @Test("15 sequences of roots: each version is trusted, or not, as the case says")
    func of15SequencesOfRootsEachVersionIsTrustedOrNotAsTheCaseSays() throws {
        let cases = try Self.cases().root
        try #require(cases.count == 15)
        var outcomes: Set<Bool> = []
        for sequence in cases {
            let envelopes = try sequence.versions.enumerated().map { index, signing in
                let root = self.root(Int64(index) + 1, root: signing, pins: signing)
                return try Envelope(of: .root, payload: root.payload, signedBy: self.keys(of: signing)).bytes
            }
            var chain = try RootChain(shipped: envelopes[0])
            for (index, signing) in sequence.versions.enumerated().dropFirst() {
                let refused = try code { try chain.append(envelopes[index], at: Story.start) }
                #expect((refused == nil) == signing.accepted, "\(sequence.name), version \(index + 1)")
                #expect(refused == nil || [.unsigned, .thresholdNotMet].contains(refused), "\(sequence.name)")
                outcomes.insert(signing.accepted)
            }
        }
        #expect(outcomes == [true, false])
    }

    @Test("10 delegated roles: as the role `pins`")
    func of10DelegatedRolesAsTheRolePins() throws {
        let cases = try Self.cases().delegated
        try #require(cases.count == 10)
        var outcomes: Set<Bool> = []
        for named in cases {
            let signer = Signing(keys: [9], threshold: 1, signatures: [9], accepted: true)
            let root = self.root(1, root: signer, pins: named.signing)
            let shipped = try Envelope(of: .root, payload: root.payload, signedBy: self.keys(of: signer)).bytes
            var client = try TrustState(bundledRoot: shipped, bundledList: nil)
            let list = PinList(
                name: root.name, version: 1, issuedAt: Story.start, expiresAt: Story.after(days: 1), domains: [])
            let envelope = try Envelope(of: .pins, payload: list.payload, signedBy: self.keys(of: named.signing))
            let refused = try code { try client.accept(list: envelope.bytes, at: Story.start) }
            #expect((refused == nil) == named.signing.accepted, "\(named.name)")
            #expect(refused == nil || [.unsigned, .thresholdNotMet].contains(refused), "\(named.name)")
            outcomes.insert(named.signing.accepted)
        }
        #expect(outcomes == [true, false])
    }
}

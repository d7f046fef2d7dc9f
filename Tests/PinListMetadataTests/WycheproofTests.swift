// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import PinningTesting
import TestData
import Testing

/// https://github.com/C2SP/wycheproof: signatures that broke other verifiers.
@Suite(
    "Wycheproof",
    .enabled(if: SharedData.holds(SharedData.wycheproof), "there is no ../shared/data/wycheproof beside the checkout"))
struct WycheproofTests {
    private struct File: Decodable {
        var numberOfTests: Int
        var testGroups: [Group]
    }

    private struct Group: Decodable {
        var publicKeyDer: String
        var tests: [Vector]
    }

    private struct Vector: Decodable {
        var tcId: Int
        var comment: String
        var msg: String
        var sig: String
        var result: String
        /// ML-DSA's context; ours is empty.
        var ctx: String?
    }

    /// Every vector of a file with its key, and how many verified.
    private func check(_ name: String, _ expected: (Vector) -> Bool) throws {
        let data = try Data(contentsOf: SharedData.wycheproof.appendingPathComponent(name))
        let file = try JSONDecoder().decode(File.self, from: data)
        var count = 0
        for group in file.testGroups {
            let der = try #require(self.bytes(group.publicKeyDer))
            // A key of another form is refused, and with it all that it signed.
            let key = MetadataKey(subjectPublicKeyInfo: der)
            for vector in group.tests {
                let message = try #require(self.bytes(vector.msg))
                let signature = try #require(self.bytes(vector.sig))
                let isValid = key?.isValidSignature(signature, for: message) ?? false
                #expect(isValid == expected(vector), "\(name) \(vector.tcId): \(vector.comment)")
                count += 1
            }
        }
        #expect(count == file.numberOfTests)
        #expect(count > 100)
    }

    private func bytes(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 2 == 0 else { return nil }
        let bytes = stride(from: 0, to: characters.count, by: 2).compactMap {
            UInt8(String(decoding: characters[$0...($0 + 1)], as: UTF8.self), radix: 16)
        }
        return bytes.count * 2 == characters.count ? bytes : nil
    }

    /// The other keys of Wycheproof are ones that are read.
    private func expectKeys(_ name: String) throws {
        let data = try Data(contentsOf: SharedData.wycheproof.appendingPathComponent(name))
        for group in try JSONDecoder().decode(File.self, from: data).testGroups {
            #expect(self.bytes(group.publicKeyDer).flatMap { MetadataKey(subjectPublicKeyInfo: $0) } != nil)
        }
    }

    @Test("P-256, r and s raw: each as it says")
    func p256RAndSRawEachAsItSays() throws {
        try self.expectKeys("ecdsa_secp256r1_sha256_p1363_test.json")
        try self.check("ecdsa_secp256r1_sha256_p1363_test.json") { $0.result == "valid" }
    }

    @Test("Ed25519: each as it says")
    func ed25519EachAsItSays() throws {
        try self.expectKeys("ed25519_test.json")
        try self.check("ed25519_test.json") { $0.result == "valid" }
    }

    @Test("ML-DSA-65, with an empty context: each as it says")
    func mlDSA65WithAnEmptyContextEachAsItSays() throws {
        try self.check("mldsa_65_verify_test.json") { $0.result == "valid" && ($0.ctx ?? "").isEmpty }
    }

    @Test("P-256, r and s in DER: not one of them is a signature here, valid or not")
    func p256RAndSInDERNotOneOfThemIsASignatureHereValidOrNot() throws {
        try self.expectKeys("ecdsa_secp256r1_sha256_test.json")
        try self.check("ecdsa_secp256r1_sha256_test.json") { _ in false }
    }

    @Test("a valid signature in DER in an envelope is as good as none")
    func validSignatureInDERInAnEnvelopeIsAsGoodAsNone() throws {
        var repository = try Story.repository()
        var client = try repository.client()
        var envelope = try Envelope(try repository.publishList(), of: .pins, limits: MetadataLimits())
        let raw = envelope.signatures[0].bytes
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let trimmed = Array(bytes.drop { $0 == 0 })
            let number = (trimmed.first ?? 0) >= 0x80 ? [0] + trimmed : trimmed
            return [0x02, UInt8(number.count)] + number
        }
        let body = integer(raw[0..<32]) + integer(raw[32...])
        let der = [0x30, UInt8(body.count)] + body
        envelope.signatures = [Envelope.Signature(keyID: envelope.signatures[0].keyID, bytes: der)]
        #expect(try code { try client.accept(list: envelope.bytes, at: Story.start) } == .unsigned)
        for wrong in [Array(raw.dropLast()), raw + [0], raw.reversed(), [UInt8](repeating: 0, count: 64), []] {
            envelope.signatures = [Envelope.Signature(keyID: "", bytes: wrong)]
            #expect(try code { try client.accept(list: envelope.bytes, at: Story.start) } == .unsigned)
        }
    }
}

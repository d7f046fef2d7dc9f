// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import Testing

@testable import PinListRepository

@Suite("Project Wycheproof: ECDSA over P-256 in DER")
struct WycheproofDERTests {
    private struct Vectors: Decodable {
        struct Group: Decodable {
            struct Case: Decodable {
                let tcId: Int
                let msg: String
                let sig: String
                let result: String
            }

            let publicKeyDer: String
            let tests: [Case]
        }

        let numberOfTests: Int
        let testGroups: [Group]
    }

    private static let file = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("shared/data/wycheproof/ecdsa_secp256r1_sha256_test.json")

    private static var isThere: Bool { FileManager.default.fileExists(atPath: Self.file.path) }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
    }

    @Test(
        "what a signer answers in DER is taken when it is valid, and never otherwise",
        .enabled(if: Self.isThere, "there is no ../shared/data/wycheproof beside the checkout"))
    func whatASignerAnswersInDERIsTakenWhenItIsValidAndNeverOtherwise() throws {
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: Self.file))
        var seen = ["valid": 0, "invalid": 0]
        for group in vectors.testGroups {
            let key = try #require(MetadataKey(subjectPublicKeyInfo: Self.bytes(group.publicKeyDer)))
            for test in group.tests {
                let signature = Self.bytes(test.sig)
                let message = Self.bytes(test.msg)
                let isTaken = ECDSASignature.raw(ofDER: signature).map { key.isValidSignature($0, for: message) }
                #expect((isTaken ?? false) == (test.result == "valid"), "case \(test.tcId)")
                // Only 64 raw bytes stand in an envelope.
                #expect(!key.isValidSignature(signature, for: message), "case \(test.tcId)")
                seen[test.result, default: 0] += 1
            }
        }
        #expect(seen.values.reduce(0, +) == vectors.numberOfTests)
        #expect(seen.keys.count == 2 && seen.values.allSatisfy { $0 > 0 })
    }
}

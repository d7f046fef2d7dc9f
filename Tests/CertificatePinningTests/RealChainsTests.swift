// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import TestData
import Testing

/// Chains that servers of the public web have served, with the pins that were computed for them elsewhere.
@Suite(
    "Chains of the public web",
    .enabled(if: SharedData.holds(SharedData.realChains), "there is no ../shared/data/real-chains beside the checkout"))
struct RealChainsTests {
    /// A line of `EXPECTED-PINS.json`.
    private struct ExpectedPin: Decodable {
        var file: String
        /// 0 is the server's own certificate.
        var index: Int
        var pinSHA256: String

        enum CodingKeys: String, CodingKey {
            case file, index
            case pinSHA256 = "pin_sha256"
        }
    }

    /// The certificates of a case in x509-limbo's format, as PEM.
    private struct Chain: Decodable {
        var peerCertificate: String
        var untrustedIntermediates: [String]
        var trustedCertificates: [String]

        enum CodingKeys: String, CodingKey {
            case peerCertificate = "peer_certificate"
            case untrustedIntermediates = "untrusted_intermediates"
            case trustedCertificates = "trusted_certs"
        }

        /// Leaf first, anchor last.
        func certificates() throws -> [[UInt8]] {
            try ([self.peerCertificate] + self.untrustedIntermediates + self.trustedCertificates).map { text in
                let blocks = try PEMBlock.blocks(in: text.utf8)
                #expect(blocks.map(\.label) == ["CERTIFICATE"])
                return try #require(blocks.first).bytes
            }
        }
    }

    private func decoded<Value: Decodable>(_ file: String, as type: Value.Type = Value.self) throws -> Value {
        let data = try Data(contentsOf: SharedData.realChains.appendingPathComponent(file))
        return try JSONDecoder().decode(type, from: data)
    }

    @Test("459 of 459 certificates of 153 chains have the expected pin")
    func of459Of459CertificatesOf153ChainsHaveTheExpectedPin() throws {
        let expected = try self.decoded("EXPECTED-PINS.json", as: [ExpectedPin].self)
        #expect(expected.count == 459)
        let chains = Dictionary(grouping: expected, by: \.file)
        #expect(chains.count == 153)
        for (file, pins) in chains {
            let certificates = try self.decoded(file, as: Chain.self).certificates()
            #expect(certificates.count == pins.count, "\(file)")
            for expected in pins {
                let pin = try Pin(publicKeyOf: certificates[expected.index])
                #expect(pin.description == "sha256/" + expected.pinSHA256, "\(file), certificate \(expected.index)")
            }
        }
    }

    @Test("no certificate of the public web survives the loss of its last byte, or another one behind it")
    func noCertificateOfThePublicWebSurvivesTheLossOfItsLastByteOrAnotherOneBehindIt() throws {
        for file in Set(try self.decoded("EXPECTED-PINS.json", as: [ExpectedPin].self).map(\.file)) {
            for certificate in try self.decoded(file, as: Chain.self).certificates() {
                #expect(throws: InvalidCertificateError.truncated) { try Pin(publicKeyOf: certificate.dropLast()) }
                #expect(throws: InvalidCertificateError.trailingBytes) { try Pin(publicKeyOf: certificate + [0]) }
            }
        }
    }

    @Test("each chain is pinned by any of its own keys, and by no key of another site's leaf")
    func eachChainIsPinnedByAnyOfItsOwnKeysAndByNoKeyOfAnotherSitesLeaf() throws {
        let expected = try self.decoded("EXPECTED-PINS.json", as: [ExpectedPin].self)
        let leaves = Dictionary(grouping: expected.filter { $0.index == 0 }, by: \.pinSHA256).keys.sorted()
        for (file, pins) in Dictionary(grouping: expected, by: \.file) {
            let path = ValidatedPath(uncheckedValidatedPath: try self.decoded(file, as: Chain.self).certificates())
            for known in pins {
                let decision = try self.decision(on: path, pins: [known.pinSHA256])
                #expect(decision.matched?.index == known.index, "\(file)")
            }
            let own = Set(pins.map(\.pinSHA256))
            let others = leaves.filter { !own.contains($0) }
            #expect(try self.decision(on: path, pins: others).verdict == .block, "\(file)")
        }
    }

    private func decision(on path: ValidatedPath, pins: [String]) throws -> PinningDecision {
        let entry = PinnedDomain(
            try HostName("site.example"), pins: try pins.map { KnownPin(try Pin("pin-sha256=\"\($0)\"")) })
        return try PinningPolicy(domains: [entry]).validate(path, for: "site.example", at: Cast.now)
    }
}

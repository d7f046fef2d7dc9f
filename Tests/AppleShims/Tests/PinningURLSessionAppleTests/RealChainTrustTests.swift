// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinningURLSession
import Security
import Testing

/// 153 chains that well-known servers presented in 2023 and 2024.
@Suite(
    "Chains of the public web, as trust objects",
    .enabled(if: SharedData.holds(SharedData.realChains), "../shared/data/real-chains is not beside the checkout"))
struct RealChainTrustTests {
    @Test("each is allowed with a pin of its leaf, of its issuer or of its root, and refused with a strange one")
    func eachIsAllowedWithAPinOfItsLeafOfItsIssuerOrOfItsRoot() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: SharedData.realChains, includingPropertiesForKeys: nil
        ).filter { $0.lastPathComponent.hasSuffix(".limbo.json") }
        let cases = try files.flatMap { try LimboCase.cases(in: $0) }
        #expect(cases.count == 153)
        var refused: [String] = []
        for testcase in cases {
            let host = try #require(testcase.expectedPeerName?.value)
            let presented = try testcase.presented()
            for root in try testcase.anchors() { SimulatedSystem.addAnchor(root) }
            let time = try Timestamp((testcase.validationTime ?? "").prefix(19) + "Z")
            SimulatedSystem.setTime(
                Date(timeIntervalSince1970: Double(time.secondsSince1970)), forLeaf: presented[0])

            func decision(_ pins: [Pin]) throws -> PinningDecision {
                let pinning = Pinning(policy: try PinningPolicy(domains: [Phone.entry(host, pins)]))
                let policy = SecPolicyCreateSSL(true, host as CFString)
                let trust = try #require(HandMade.trust(presented, policy), "\(testcase.id)")
                return pinning.evaluate(trust: trust, host: host)
            }
            let strange = try decision([Phone.strangePin])
            guard strange.reason == .noMatchingPin else {
                refused.append("\(testcase.id): \(strange.reason) \(strange.detail ?? "")")
                continue
            }
            for pin in strange.path.publicKeyPins { #expect(try decision([try #require(pin)]).reason == .pinMatch) }
        }
        #expect(refused.isEmpty, "\(refused.joined(separator: "\n"))")
    }
}

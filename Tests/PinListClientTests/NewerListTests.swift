// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@_spi(Adapters) @testable import PinListClient

@Suite("A newer list, after a refusal")
struct NewerListTests {
    @Test(
        "is the one that recovers from a stolen key's, though its version is lower, or the same",
        arguments: [2, 1_000_000] as [Int64])
    func isTheOneThatRecoversFromAStolenKeys(version: Int64) async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let shipped = pinning.policyInForce
        try client.publish { $0.version = 1_000_000 }
        #expect(await pinning.refresh().isSuccess)
        let rules = pinning.policyInForce
        #expect(rules.hasNewerList(than: shipped) && !shipped.hasNewerList(than: rules))
        try client.server.publish { repository in
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        // The root alone, and the attacker's list under it.
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.policyInForce.epoch > rules.epoch && !pinning.policyInForce.hasNewerList(than: rules))
        try client.publish { $0.version = version }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == version)
        try #require(pinning.policyInForce.hasNewerList(than: rules))
        #expect(await pinning.isList(newerThan: rules, within: 5))
        // After that, versions go on.
        let recovered = pinning.policyInForce
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.policyInForce.hasNewerList(than: recovered))
    }

    @Test("is not the same one with another signature")
    func isNotTheSameOneWithAnotherSignature() async throws {
        let client = try TestClient(pinsKeys: (2, 1))
        let keys = client.server.repository.pinsKeys
        try client.publish(signedBy: [keys[0]])
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        let rules = pinning.policyInForce
        _ = try client.server.publish { try $0.republishList(signedBy: keys) }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.policyInForce.listDigest != rules.listDigest)
        #expect(!pinning.policyInForce.hasNewerList(than: rules))
    }
}

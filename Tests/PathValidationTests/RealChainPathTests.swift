// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
import PathValidation
import TestData
import Testing

/// 153 chains that well-known servers presented in 2023 and 2024.
@Suite(
    "Chains of the public web",
    .enabled(if: SharedData.holds(SharedData.realChains), "../shared/data/real-chains is not beside the checkout"))
struct RealChainPathTests {
    private func cases() throws -> [LimboCase] {
        let files = try FileManager.default.contentsOfDirectory(
            at: SharedData.realChains, includingPropertiesForKeys: nil)
        return try files.filter { $0.lastPathComponent.hasSuffix(".limbo.json") }.flatMap {
            try LimboCase.cases(in: $0)
        }
    }

    @Test("each validates at its time for its host, with little work, and for no other host")
    func eachValidatesAtItsTimeForItsHostWithLittleWorkAndForNoOtherHost() async throws {
        let cases = try self.cases()
        #expect(cases.count == 153)
        for testcase in cases {
            let outcome = try await testcase.outcome(now: Timestamp(secondsSince1970: 0))
            let path = try #require(outcome.path, "\(testcase.id): \(outcome.result)")
            #expect(path.first == (try testcase.presented()).first)
            #expect(try testcase.anchors().contains(path.last ?? []))
            #expect(outcome.work.signatureChecks <= 8, "\(testcase.id)")
            let elsewhere = try await validate(
                try testcase.presented(), roots: try testcase.anchors(), host: "elsewhere.example",
                at: try Timestamp((testcase.validationTime ?? "").prefix(19) + "Z").secondsSince1970)
            #expect(elsewhere.refusal?.reason == .chainInvalid)
        }
    }

    @Test("each validates with its chain backwards, the root presented, and junk among it")
    func eachValidatesWithItsChainBackwardsTheRootPresentedAndJunkAmongIt() async throws {
        for testcase in try self.cases() {
            let presented = try testcase.presented()
            let disordered =
                presented.prefix(1) + [[0x30, 0x00]] + (try testcase.anchors()) + presented.dropFirst().reversed()
            let outcome = try await validate(
                Array(disordered), roots: try testcase.anchors(), host: testcase.expectedPeerName?.value,
                at: try Timestamp((testcase.validationTime ?? "").prefix(19) + "Z").secondsSince1970)
            #expect(outcome.path != nil, "\(testcase.id)")
        }
    }

    @Test(
        "Mozilla's roots can all be used as anchors but those named here",
        .enabled(if: SharedData.holds(SharedData.mozillaRoots), "../shared/data/roots is not beside the checkout"))
    func mozillasRootsCanAllBeUsedAsAnchorsButThoseNamedHere() throws {
        let store = try RootStore(pem: try Data(contentsOf: SharedData.mozillaRoots))
        #expect(store.count == 117)
        #expect(store.unusableCount == 0)
    }
}
#endif

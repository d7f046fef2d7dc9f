// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import PinListClient
import PinningNIO
import Testing

@Suite("A pinned HTTP client")
struct PinnedHTTPClientTests {
    static let host = "api.example.com"

    /// Which certificate of the path is pinned.
    enum Pinned: CaseIterable { case leaf, intermediate, root }

    @Test(
        "gets a page when the leaf, the intermediate or the root is pinned", arguments: Pinned.allCases, [false, true])
    func getsAPageWhenTheLeafTheIntermediateOrTheRootIsPinned(_ pinned: Pinned, http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let pin = try (pinned == .leaf ? pki.leaf : pinned == .intermediate ? pki.intermediate : pki.root).pin
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            for _ in 1...3 {
                let text = try await client.text("https://\(Self.host):\(server.port)/")
                #expect(text == "hello")
            }
            #expect(server.counts.requests == 3)
        }
        // On a busy machine a request may begin before the pool has the connection of the one before.
        #expect(Set(scene.pinning.decisionCounts.keys) == [.pinMatch])
        try await client.shutdown()
    }

    @Test("sends not one byte to a server whose keys are not pinned", arguments: [false, true])
    func sendsNotOneByteToAServerWhoseKeysAreNotPinned(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let pins = try pki.path.map { try $0.pin }
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            for _ in 1...3 {
                let refusal = await #expect(throws: PinningError.self) {
                    try await client.text("https://\(Self.host):\(server.port)/")
                }
                #expect(refusal?.decision.reason == .noMatchingPin)
                #expect(refusal?.host == Self.host)
                #expect(refusal?.decision.list?.version == scene.pinning.policyInForce.listVersion)
                #expect(refusal?.decision.path.publicKeyPins == pins)
            }
            #expect(server.counts.requests == 0)
            #expect(server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

@Suite("A list server that is broken or hostile")
struct ListServerTests {
    static let host = "localhost"
    static let path = "/v1/lists/com.example.app"

    /// What the server sends instead of the newest list.
    enum Answer: CaseIterable {
        case nothing, rubbish, oldList, otherApp, emptyList, tamperedList
    }

    @Test("leaves the list in force, and pinned requests as they were", arguments: Answer.allCases)
    func leavesTheListInForceAndPinnedRequestsAsTheyWere(_ answer: Answer) async throws {
        let pki = try TestPKI([Self.host])
        let now = Timestamp(secondsSince1970: TestPKI.now)
        let right = PinList.Domain(try PinnedScene.entry(Self.host, [pki.leaf.pin]))
        var repository = try RepositorySimulator(at: now, domains: [right])
        // The older list has another pin: an attacker who replays it wants it in force.
        let strange = PinnedScene.strangePin
        _ = try repository.publishList { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        let old = repository.lists[1]
        let newest = try repository.publishList { list in list.domains = [right] }
        var other = try RepositorySimulator(name: "com.example.other", at: now, domains: [])
        let served: [UInt8]? =
            switch answer {
            case .nothing: nil
            case .rubbish: Array("<html>502 Bad Gateway</html>".utf8)
            case .oldList: old
            case .otherApp: try other.publishList { _ in }
            case .emptyList: []
            case .tamperedList:
                Array(String(decoding: newest, as: UTF8.self).replacing("\"sig\":\"", with: "\"sig\":\"AAAA").utf8)
            }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try pki.root.nio])
        let fetcher = HTTPClientFetcher.patient(tls)
        let settings = tls
        let root = repository.roots[0]
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            if let served { server.files = ["\(Self.path)/pins.json": served] }
            let pinning = try Pinning(
                root: .bytes(root), list: .bytes(newest),
                refreshFrom: URL(string: "https://\(Self.host):\(server.port)\(Self.path)"), state: .memory,
                configuration: PinningConfiguration(
                    fetcher: fetcher, reportSender: NoNetwork(), clock: ManualClock(now),
                    randomness: FixedRandomness(fraction: 0)))
            let client = try PinnedHTTPClient(by: pinning, configuration: .patient(settings))
            let outcome = await pinning.refresh()
            let code: MetadataError.Code? =
                switch answer {
                case .nothing: nil
                case .rubbish, .emptyList: .malformed
                case .oldList: .rollback
                // By the same signers: the name alone tells them apart.
                case .otherApp: .wrongName
                case .tamperedList: .unsigned
                }
            #expect(outcome.refused.map(\.code) == (code.map { [$0] } ?? []))
            #expect((outcome.fetchFailure != nil) == (answer == .nothing))
            #expect(!outcome.hasChanged)
            let text = try await client.text("https://\(Self.host):\(server.port)/")
            #expect(text == "hello")
            try await client.shutdown()
        }
    }

    @Test("and a name server that lies lead nowhere: the certificate is another server's")
    func andANameServerThatLiesLeadNowhereTheCertificateIsAnotherServers() async throws {
        let pki = try TestPKI(["api.example.com"])
        let elsewhere = try TestPKI(["other.example.com"], name: "elsewhere")
        let scene = try PinnedScene(
            [PinnedScene.entry("api.example.com", [pki.leaf.pin])], roots: [pki.root, elsewhere.root])
        let client = try scene.client(["api.example.com"])
        try await LoopbackServer.with(LoopbackServer.Identity(elsewhere.chain)) { server in
            let refusal = await #expect(throws: PinningError.self) {
                try await client.text("https://api.example.com:\(server.port)/")
            }
            #expect(refusal?.decision.reason == .chainInvalid)
            #expect(server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }
}
#endif

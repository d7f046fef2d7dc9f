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
import TestData
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

    /// What the server has in the place of the log list.
    enum LogFile: CaseIterable {
        case missing, another, unreadable
    }

    @Test(
        "with another file in place of the log list refuses nothing; with the right one, over TLS, enforcement begins",
        arguments: LogFile.allCases)
    func withAnotherFileInPlaceOfTheLogListRefusesNothing(_ before: LogFile) async throws {
        let made = try LoggedPKI(Self.host)
        let now = Timestamp(secondsSince1970: TestPKI.now)
        let file = SigningLog.list(of: made.logs, at: Timestamp(secondsSince1970: TestPKI.now - 86_400).description)
        // Its digest is right, and its content no log list.
        let unreadable = Array("<html>It works!</html>".utf8)
        var entry = try PinnedScene.entry(Self.host, [try made.unlogged.pin])
        entry.transparency = TransparencyRule(.enforce, .chrome)
        var repository = try RepositorySimulator(at: now, domains: [PinList.Domain(entry)])
        let first = try repository.publishList { list in
            list.logs = ListedLogs(of: before == .unreadable ? unreadable : file)
        }
        let second = try repository.publishList { list in list.logs = ListedLogs(of: file) }
        let root = repository.roots[0]
        let paths = try (
            first: Self.path + #require(ListedLogs(of: before == .unreadable ? unreadable : file)).path,
            second: Self.path + #require(ListedLogs(of: file)).path
        )
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try made.pki.root.nio])
        let (fetcher, settings) = (HTTPClientFetcher.patient(tls), tls)
        try await LoopbackServer.with(LoopbackServer.Identity([made.unlogged, made.pki.intermediate])) { server in
            server.files = ["\(Self.path)/pins.json": first]
            switch before {
            case .missing: break
            case .another: server.files[paths.first] = file.reversed()
            case .unreadable: server.files[paths.first] = unreadable
            }
            let pinning = try Pinning(
                root: .bytes(root), list: .bytes(first),
                refreshFrom: URL(string: "https://\(Self.host):\(server.port)\(Self.path)"), state: .memory,
                configuration: PinningConfiguration(
                    fetcher: fetcher, reportSender: NoNetwork(), clock: ManualClock(now),
                    randomness: FixedRandomness(fraction: 0)))
            let client = try PinnedHTTPClient(by: pinning, configuration: .patient(settings))
            let outcome = await pinning.refresh()
            let code: FetchError.Code? =
                switch before {
                case .missing: .status
                case .another: .wrongFile
                case .unreadable: nil
                }
            #expect(outcome.logsFailure?.code == code)
            #expect(outcome.refused.isEmpty)
            let url = "https://\(Self.host):\(server.port)/"
            try await client.expectHello(url)
            server.files["\(Self.path)/pins.json"] = second
            server.files[paths.second] = file
            #expect(await pinning.refresh().logsFailure == nil)
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(refusal?.decision.reason == .transparency)
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

@Suite("What is told of a refusal")
struct RefusalExplanationTests {
    @Test("the error of an app's own HTTPClient is explained, in every form", arguments: [false, true])
    func errorOfAnAppsOwnHTTPClientIsExplainedInEveryForm(http2: Bool) async throws {
        let pki = try TestPKI([Way.host])
        let pins = try pki.path.map { try $0.pin }
        let scene = try PinnedScene([PinnedScene.entry(Way.host, [PinnedScene.strangePin])], roots: [])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let way = Way(port: server.port, roots: [try pki.root.nio], http2: http2)
            let client = HTTPClient(
                eventLoopGroup: way.group,
                configuration: try way.configuration.pinned(by: scene.pinning, for: Way.host, port: way.port))
            let request = HTTPClientRequest(url: "https://\(Way.host):\(way.port)/")
            let error = await #expect(throws: (any Error).self) {
                try await client.execute(request, timeout: .ample)
            }
            try await client.shutdown()
            let refusal = scene.pinning.refusal(for: try #require(error), host: Way.host)
            #expect(refusal?.decision.reason == .noMatchingPin)
            #expect(refusal?.host == Way.host)
            #expect(refusal?.decision.path.publicKeyPins == pins)
            #expect(server.counts.requests == 0)
            #expect(server.counts.requestBytes == 0)
        }
    }

    @Test(
        "an untrusted server that is asked why, and lets that handshake hang, is refused by the deadline of the request"
    )
    func untrustedServerThatIsAskedWhyAndLetsThatHandshakeHangIsRefusedByTheDeadline() async throws {
        let (pki, untrusted) = (try TestPKI([Way.host]), try TestPKI([Way.host], name: "untrusted"))
        let scene = try PinnedScene([PinnedScene.entry(Way.host, [pki.leaf.pin])], roots: [pki.root])
        var configuration = try scene.configuration([Way.host])
        // It must not wait for this, so that is longer than any test.
        configuration.timeout.connect = .hours(1)
        let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
        try await LoopbackServer.with(LoopbackServer.Identity(untrusted.chain)) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                let request = HTTPClientRequest(url: "https://\(Way.host):\(relay.port)/")
                // Its chain was asked for before it was connected to.
                let first = await #expect(throws: PinningError.self) {
                    try await client.execute(request, timeout: .ample)
                }
                #expect(first?.decision.reason == .chainInvalid)
                try await withTimeouts(from: .milliseconds(100)) { timeout in
                    relay.answerHeld(.failure(ChannelError.eof))
                    // AsyncHTTPClient's connection is refused at once, and the one that asks why hangs.
                    relay.set(CuttingRelay.Plan(relayed: relay.accepted + 1))
                    let result = await Task { try await client.execute(request, timeout: timeout) }.result
                    guard case .failure(let error) = result, let refusal = error as? PinningError, relay.isHolding
                    else {
                        return false
                    }
                    #expect(refusal.decision.reason == .chainInvalid)
                    return true
                }
                #expect(server.counts.requestBytes == 0)
            }
        }
        try await client.shutdown()
    }

    @Test("a report carries what the attacker presented, and nothing that the server presented before him")
    func reportCarriesWhatTheAttackerPresented() async throws {
        let pki = try TestPKI([Way.host])
        let other = try TestCertificate.authority("other root") { $0.around(TestPKI.now) }
        let forged = try TestPKI.leaf([Way.host], by: other)
        let collector = SimulatedCollector()
        let scene = try PinnedScene(
            [PinnedScene.entry(Way.host, [pki.leaf.pin])], roots: [pki.root, other], reportSender: collector
        ) { $0.reportTo = ["https://reports.example.com/v1/reports"] }
        let pinning = scene.pinning
        let run = Task { await pinning.run() }
        defer { run.cancel() }
        let client = try scene.client([Way.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            var request = HTTPClientRequest(url: "https://\(Way.host):\(server.port)/")
            request.headers.add(name: "Connection", value: "close")
            let response = try await client.execute(request, timeout: .ample)
            #expect(String(buffer: try await response.body.collect(upTo: 1_024)) == "hello")

            server.identity = try LoopbackServer.Identity([forged])
            await #expect(throws: PinningError.self) { try await client.execute(request, timeout: .ample) }
            #expect(server.counts.requests == 1)
        }
        await collector.untilArrived(count: 1)
        let report = try SentReport(try #require(collector.arrivals.first))
        #expect(try report.chain("served-certificate-chain") == [forged.der])
        #expect(try report.chain("validated-certificate-chain") == [forged.der, other.der])
        try await client.shutdown()
    }
}
#endif

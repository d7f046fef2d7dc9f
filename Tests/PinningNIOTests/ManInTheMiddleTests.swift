// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import SwiftASN1
import Testing
import X509

@Suite(
    "A man in the middle",
    .wants(.mitmproxy),
    .enabled(
        if: ManInTheMiddle.program != nil,
        "there is no mitmdump on PATH; scripts/python-tools mitmproxy puts it into .tools/bin"),
    // Each case has a mitmdump, a folder and a port of its own. One at a time, because each is a Python program that
    // keeps a core busy while it starts, and there are more than a dozen cases: a load for all tests beside them.
    .serialized)
struct ManInTheMiddleTests {
    @Test(
        "who imitates the server is told not one byte of a request, though his certificate is trusted",
        arguments: Interception.Attack.all(at: [.reverseProxy]))
    func whoImitatesTheServerIsToldNotOneByteOfARequestThoughHisCertificateIsTrusted(_ attack: Interception.Attack)
        async throws
    {
        try await Interception.with(attack, before: self.expectAnswers) {
            try await $0.expectNothingTold(by: Transport.pinned)
        }
    }

    @Test(
        "who was asked for a tunnel, and opens it, is told not one byte of a request",
        arguments: Interception.Attack.all(at: [.connectProxy]))
    func whoWasAskedForATunnelAndOpensItIsToldNotOneByteOfARequest(_ attack: Interception.Attack) async throws {
        try await Interception.with(attack, before: self.expectAnswers) {
            try await $0.expectNothingTold(by: [.pinnedHTTPClient, .ownHTTPClient])
        }
    }

    @Test(
        "who takes over the router is told not one byte of a request from then on",
        .enabled(if: NetworkNamespace.isPossible, "networks cannot be made here: for CAP_NET_ADMIN and CAP_SYS_ADMIN"),
        .enabled(if: NetworkNamespace.isEquipped, "there is no nsenter, ip or iptables"),
        arguments: Interception.Attack.all(at: [.router]))
    func whoTakesOverTheRouterIsToldNotOneByteOfARequestFromThenOn(_ attack: Interception.Attack) async throws {
        try await Interception.with(attack, before: self.expectAnswers) {
            try await $0.expectNothingTold(by: Transport.pinned)
        }
    }

    @Test("who opens a tunnel and passes on what is in it does not disturb", arguments: [false, true])
    func whoOpensATunnelAndPassesOnWhatIsInItDoesNotDisturb(http2: Bool) async throws {
        let pki = try TestPKI([Way.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            try await ManInTheMiddle.with(at: .honestProxy, presenting: nil) { proxy in
                let way = Way(port: server.port, proxy: proxy.port, roots: [try pki.root.nio], http2: http2)
                for transport in [Transport.pinnedHTTPClient, .ownHTTPClient] {
                    let scene = try PinnedScene([PinnedScene.entry(Way.host, [pki.leaf.pin])], roots: [])
                    let answer = try await transport.post(by: scene.pinning, on: way)
                    #expect(answer == "\(Transport.bodyBytes)", "\(transport)")
                }
                let counts = try await proxy.counts()
                // For each client its connection, and for the first one a handshake of our own that shows the chain.
                #expect(counts.connections == 3)
                #expect(counts.handshakes == 0)
                #expect(server.counts.requests == 2)
            }
        }
    }

    @Test(
        "a redirect in a tunnel to a host that is pinned otherwise is refused, and nothing reaches it",
        arguments: [false, true])
    func redirectInATunnelToAHostThatIsPinnedOtherwiseIsRefusedAndNothingReachesIt(http2: Bool) async throws {
        let (first, second) = (try TestPKI(["a.example.com"], name: "a"), try TestPKI(["b.example.com"], name: "b"))
        let pin = try first.leaf.pin
        let entries = try ["a.example.com", "b.example.com"].map { try PinnedScene.entry($0, [pin]) }
        let scene = try PinnedScene(entries, roots: [first.root, second.root])
        try await LoopbackServer.with(LoopbackServer.Identity(first.chain), http2: http2) { one in
            try await LoopbackServer.with(LoopbackServer.Identity(second.chain), http2: http2) { two in
                try await ManInTheMiddle.with(at: .honestProxy, presenting: nil) { proxy in
                    var configuration = try scene.configuration(["a.example.com", "b.example.com"])
                    configuration.proxy = .server(host: "127.0.0.1", port: proxy.port)
                    let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
                    let refusal = await #expect(throws: PinningError.self) {
                        try await client.text(
                            "https://a.example.com:\(one.port)/redirect?https://b.example.com:\(two.port)/")
                    }
                    #expect(refusal?.host == "b.example.com")
                    #expect(refusal?.decision.reason == .noMatchingPin)
                    #expect(one.counts.requests == 1)
                    #expect(two.counts.handshakes > 0)
                    #expect(two.counts.requestBytes == 0)
                    try await client.shutdown()
                }
            }
        }
    }

    /// On the same way, before the man in the middle has taken his place, the server's key is the pinned one.
    private func expectAnswers(_ pki: TestPKI, _ way: Way) async throws {
        for transport in Transport.pinned {
            let scene = try PinnedScene([PinnedScene.entry(Way.host, [pki.leaf.pin])], roots: [])
            let answer = try await transport.post(by: scene.pinning, on: way)
            #expect(answer == "\(Transport.bodyBytes)", "\(transport)")
        }
    }

    @Test(
        "curl sees the same: its page without a pin, exit code 90 with the server's",
        .enabled(if: InstalledProgram("curl") != nil, "there is no curl on PATH"),
        arguments: Interception.Attack.all(at: [.reverseProxy, .connectProxy]))
    func curlSeesTheSameItsPageWithoutAPinExitCode90WithTheServers(_ attack: Interception.Attack) async throws {
        try await Interception.with(attack) { try await $0.expectRefusedByCurl() }
    }

    @Test(
        "curl sees the same through a router",
        .enabled(if: InstalledProgram("curl") != nil, "there is no curl on PATH"),
        .enabled(if: NetworkNamespace.isPossible, "networks cannot be made here: for CAP_NET_ADMIN and CAP_SYS_ADMIN"),
        .enabled(if: NetworkNamespace.isEquipped, "there is no nsenter, ip or iptables"),
        arguments: Interception.Attack.all(at: [.router]))
    func curlSeesTheSameThroughARouter(_ attack: Interception.Attack) async throws {
        try await Interception.with(attack) { try await $0.expectRefusedByCurl() }
    }

    @Test(
        "an unknown CA is refused by its name after one connection, and one more to see the chain",
        arguments: Interception.Attack.all(at: [.reverseProxy, .connectProxy], [.unknownAuthority]))
    func unknownCAIsRefusedByItsNameAfterOneConnectionAndOneMoreToSeeTheChain(_ attack: Interception.Attack)
        async throws
    {
        // The connect timeout is an hour: who waits for it runs into the request's deadline, which has another error.
        try await Interception.with(attack) { interception in
            let way = interception.way
            let scene = try interception.scene()
            let refusal = await #expect(throws: PinningError.self) {
                try await Transport.pinnedHTTPClient.post(by: scene.pinning, on: way)
            }
            #expect(refusal?.decision.reason == .chainInvalid)
            var counts = try await interception.attacker.counts()
            #expect((1...2).contains(counts.connections))
            #expect(counts.requests == 0)
            #expect(counts.requestBytes == 0)

            let ofOwn = try interception.scene()
            await #expect(throws: (any Error).self) {
                try await Transport.ownHTTPClient.post(by: ofOwn.pinning, on: way)
            }
            let connections = counts.connections
            counts = try await interception.attacker.counts()
            #expect(counts.connections == connections + 1)
            #expect(counts.requestBytes == 0)
            #expect(interception.server.counts.requests == 0)
        }
    }

    @Test("an unknown CA is refused by its name on a channel of the app's own, after one connection")
    func unknownCAIsRefusedByItsNameOnAChannelOfTheAppsOwnAfterOneConnection() async throws {
        let attack = Interception.Attack(place: .reverseProxy, forgery: .unknownAuthority, http2: false)
        try await Interception.with(attack) { interception in
            let way = interception.way
            let scene = try interception.scene()
            let refusal = await #expect(throws: PinningError.self) {
                try await Transport.channel.post(by: scene.pinning, on: way)
            }
            #expect(refusal?.decision.reason == .chainInvalid)
            let counts = try await interception.attacker.counts()
            #expect(counts.connections == 1)
            #expect(counts.requestBytes == 0)
            #expect(interception.server.counts.requests == 0)
        }
    }

    @Test(
        "he is reported, with the chain that he presented",
        arguments: Interception.Attack.all(
            at: [.reverseProxy, .connectProxy], [.ownAuthority, .sameAuthority, .unknownAuthority]))
    func heIsReportedWithTheChainThatHePresented(_ attack: Interception.Attack) async throws {
        try await Interception.with(attack) { interception in
            let way = interception.way
            let collector = SimulatedCollector()
            let address = "https://reports.example.com/v1/reports"
            let scene = try interception.scene(reportSender: collector, reportTo: [address])
            let pinning = scene.pinning
            let run = Task { await pinning.run() }
            defer { run.cancel() }
            await #expect(throws: PinningError.self) {
                try await Transport.pinnedHTTPClient.post(by: scene.pinning, on: way)
            }
            await collector.untilArrived(count: 1)
            let arrival = try #require(collector.arrivals.first)
            #expect(arrival.address == address)
            let report = try SentReport(arrival)
            #expect(report["hostname"] == .string(Way.host))
            #expect(report["noted-hostname"] == .string(Way.host))
            #expect(report["port"] == .integer(Int64(way.port)))
            let served = try report.chain("served-certificate-chain")
            if attack.forgery == .sameAuthority {
                #expect(served == interception.forged.map(\.der))
            } else {
                let text = try Data(contentsOf: interception.attacker.authorityFile)
                let block = try #require(try PEMBlock.blocks(in: [UInt8](text)).first)
                let authority = try Certificate(derEncoded: block.bytes)
                let leaf = try Certificate(derEncoded: try #require(served.first))
                #expect(leaf.issuer == authority.subject)
                #expect(served.count == 1)
            }
            let validated = try report.chain("validated-certificate-chain")
            #expect(validated.isEmpty == (attack.forgery == .unknownAuthority))
            #expect(validated.isEmpty || validated.first == served.first)
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

@testable import InterceptionBench

@Suite("The interception bench against clients of this process")
struct InterceptionBenchTests {
    /// The time for what must come: met by a hang alone. The bench ends what it holds long before
    /// (``InterceptionBench/maximumSeconds``).
    private static let ample = TimeAmount.minutes(10)

    /// A client that asks once.
    private typealias Ask = @Sendable (_ port: Int, _ tls: TLSConfiguration) async throws -> Void

    /// Plays cases against a client that trusts the server's root and the bench's CA.
    private static func play(
        _ cases: [InterceptionCase], _ scene: FetchScene, listening: Bool = false, _ ask: Ask
    ) async throws -> [InterceptionResult] {
        var server = InterceptedServer(
            host: try HostName(FetchScene.host), address: "127.0.0.1", port: scene.server.port,
            presented: scene.pki.chain.map(\.der))
        try server.add(intermediate: [scene.pki.intermediate.der], keyPEM: try scene.pki.intermediate.keyPEM)
        let bench = try InterceptionBench(
            before: server, cases: cases, at: Timestamp(secondsSince1970: TestPKI.now))
        let ports = try await bench.start(InterceptionBench.Listening(address: "127.0.0.1", port: 0))
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(
            [try scene.pki.root.nio] + (try NIOSSLCertificate.fromPEMBytes(Array(bench.authorityPEM.utf8))))
        for (played, port) in zip(cases, ports) {
            for _ in 0..<(played.name == "resumption" ? 2 : 1) { try? await ask(port, tls) }
        }
        await bench.settle(looks: 30_000)
        await bench.stop()
        return bench.results
    }

    private static func configuration(_ tls: TLSConfiguration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.dnsOverride = [FetchScene.host: "127.0.0.1"]
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = Self.ample
        return configuration
    }

    @Test("AsyncHTTPClient without pins is taken in wherever the CA is trusted")
    func asyncHTTPClientWithoutPinsIsTakenInWhereverTheCAIsTrusted() async throws {
        try await FetchScene.with { scene in
            let cases = InterceptionCase.all.filter { $0.unpinned != .depends }
            let results = try await Self.play(cases, scene) { port, tls in
                let client = HTTPClient(configuration: Self.configuration(tls))
                let answer = try? await client.execute(
                    HTTPClientRequest(url: "https://\(FetchScene.host):\(port)/"), timeout: Self.ample)
                _ = try? await answer?.body.collect(upTo: 1 << 20)
                try await client.shutdown()
            }
            for result in results {
                let isExpected = result.played.unpinned == .takenIn
                #expect((result.outcome == .accepted) == isExpected, "\(result.played.name): \(result.line)")
                #expect(result.connections > 0, "\(result.played.name)")
            }
        }
    }

    @Test("AsyncHTTPClient through PinningNIO sends its request in the control, and not a byte in any other case")
    func asyncHTTPClientThroughPinningNIOSendsItsRequestInTheControlAndNotAByteInAnyOtherCase() async throws {
        try await FetchScene.with { scene in
            let now = Timestamp(secondsSince1970: TestPKI.now)
            let entry = try FetchScene.entry(FetchScene.host, scene.pin)
            let repository = try RepositorySimulator(at: now, domains: [PinList.Domain(entry)])
            let results = try await Self.play(InterceptionCase.all, scene) { port, tls in
                let pinning = try Pinning(
                    root: .bytes(repository.roots[0]), list: .bytes(repository.lists[0]),
                    refreshFrom: URL(string: SimulatedServer.address), state: .memory,
                    configuration: PinningConfiguration(
                        fetcher: SimulatedServer(repository), reportSender: NoNetwork(), clock: ManualClock(now),
                        randomness: FixedRandomness(fraction: 0)))
                let client = try PinnedHTTPClient(by: pinning, configuration: Self.configuration(tls))
                _ = try? await client.execute(
                    HTTPClientRequest(url: "https://\(FetchScene.host):\(port)/"), timeout: Self.ample)
                try await client.shutdown()
            }
            for result in results {
                #expect(
                    result.outcome == (result.played.isControl ? .accepted : .refused),
                    "\(result.played.name): \(result.line)")
            }
        }
    }

    @Test("leaving timestamps out gets around no client that pins the issuing CA and asks for Certificate Transparency")
    func leavingTimestampsOutGetsAroundNoClientThatPinsTheIssuingCAAndAsksForThem() async throws {
        let made = try LoggedPKI(FetchScene.host)
        let now = Timestamp(secondsSince1970: TestPKI.now)
        let file = SigningLog.list(of: made.logs, at: now.description)
        let cases = InterceptionCase.all.filter { $0.isControl || $0.name == "same-intermediate" }
        #expect(cases.count == 2)
        try await withTemporaryFolder { folder in
            let identity = try LoopbackServer.Identity([made.logged, made.pki.intermediate])
            try await LoopbackServer.with(identity) { server in
                let scene = FetchScene(folder: folder, pki: made.pki, server: server)
                for (mode, outcome) in [
                    (TransparencyRule.Mode.enforce, InterceptionResult.Outcome.refused), (.report, .accepted),
                ] {
                    var entry = try FetchScene.entry(FetchScene.host, try made.pki.intermediate.pin)
                    entry.transparency = TransparencyRule(mode, .chrome)
                    var repository = try RepositorySimulator(at: now, domains: [PinList.Domain(entry)])
                    repository.logFiles = [file]
                    let list = try repository.publishList { $0.logs = ListedLogs(of: file) }
                    let lists = SimulatedServer(repository)
                    let root = repository.roots[0]
                    let results = try await Self.play(cases, scene) { port, tls in
                        let pinning = try Pinning(
                            root: .bytes(root), list: .bytes(list), refreshFrom: URL(string: SimulatedServer.address),
                            state: .memory,
                            configuration: PinningConfiguration(
                                fetcher: lists, reportSender: NoNetwork(), clock: ManualClock(now),
                                randomness: FixedRandomness(fraction: 0)))
                        // The log list is fetched before the first connection.
                        _ = await pinning.refresh()
                        let client = try PinnedHTTPClient(by: pinning, configuration: Self.configuration(tls))
                        _ = try? await client.execute(
                            HTTPClientRequest(url: "https://\(FetchScene.host):\(port)/"), timeout: Self.ample)
                        try await client.shutdown()
                    }
                    #expect(results.map(\.outcome) == [.accepted, outcome], "\(results.map(\.line))")
                }
            }
        }
    }

    @Test("a client that sends its request with its last flight is caught by the half handshake")
    func clientThatSendsItsRequestWithItsLastFlightIsCaughtByTheHalfHandshake() async throws {
        try await FetchScene.with { scene in
            let cases = InterceptionCase.all.filter { $0.name == "half-handshake" }
            let request = "GET / HTTP/1.1\r\nHost: \(FetchScene.host)\r\n\r\n"
            let results = try await Self.play(cases, scene) { port, _ in
                try await FalseStartClient.send(request, to: FetchScene.host, port: port)
            }
            let result = try #require(results.first)
            #expect(result.outcome == .accepted && result.handshakes == 1, "\(result.line)")
            #expect(result.requestBytes == request.utf8.count)
        }
    }

    @Test("cleartext to a port of the bench counts as a request, and a connection on which nothing is said does not")
    func cleartextToAPortOfTheBenchCountsAsARequestAndAConnectionOnWhichNothingIsSaidDoesNot() async throws {
        try await FetchScene.with { scene in
            let cases = InterceptionCase.all.filter { ["trusted-ca", "expired"].contains($0.name) }
            let results = try await Self.play(cases, scene) { port, tls in
                let client = HTTPClient(configuration: Self.configuration(tls))
                _ = try? await client.execute(
                    HTTPClientRequest(url: "http://\(FetchScene.host):\(port)/"), timeout: Self.ample)
                try await client.shutdown()
            }
            #expect(results.allSatisfy { $0.outcome == .accepted && $0.handshakes == 0 }, "\(results)")
            let looked = try await Self.play(cases, scene) { port, _ in
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get()
                try await channel.close()
            }
            #expect(looked.allSatisfy { $0.outcome == .noClientCame }, "\(looked)")
        }
    }

    @Test("a client whose time ran out before the late certificates came has refused nothing: it did not come")
    func clientWhoseTimeRanOutBeforeTheLateCertificatesCameHasRefusedNothing() throws {
        let server = InterceptedServer(host: try HostName(FetchScene.host), address: "127.0.0.1", port: 1)
        let identity = try InterceptorAuthority(for: server, at: Timestamp(secondsSince1970: TestPKI.now))
            .identity(for: .trustedAuthority)
        let slow = try #require(InterceptionCase.named("slow"))
        for (secondsBefore, outcome) in [(Int64(1), InterceptionResult.Outcome.noClientCame), (0, .refused)] {
            let play = InterceptionPlay(slow, identity, server, mayAccept: false)
            let channel = EmbeddedChannel(handler: FirstBytesHandler(play))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try channel.writeInbound(ByteBuffer(bytes: [22, 3, 1]))
            let late = Int64(InterceptionBench.secondsLate)
            channel.embeddedEventLoop.advanceTime(by: .seconds(late - secondsBefore))
            try channel.close().wait()
            channel.embeddedEventLoop.advanceTime(by: .seconds(secondsBefore))
            #expect(play.tally.result.outcome == outcome)
        }
    }

    @Test("bytes that are neither TLS nor HTTP end a connection, and not the bench")
    func bytesThatAreNeitherTLSNorHTTPEndAConnectionAndNotTheBench() async throws {
        let rubbish: [[UInt8]] = [
            [0], [22], [22, 3, 1, 0xFF, 0xFF], [22, 3, 1, 0, 0], Array(repeating: 22, count: 70_000),
            Array("GET / HTTP/1.1\r\nX: ".utf8) + Array(repeating: UInt8(ascii: "x"), count: 200_000),
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), Array(repeating: 0xFF, count: 2_000_000),
        ]
        try await FetchScene.with { scene in
            let cases = InterceptionCase.all.filter { $0.name != "slow" }
            for bytes in rubbish {
                let results = try await Self.play(cases, scene) { port, _ in
                    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: "127.0.0.1", port: port).get()
                    try? await channel.writeAndFlush(ByteBuffer(bytes: bytes))
                    try? await channel.close()
                }
                #expect(results.count == cases.count)
            }
        }
    }
}

@Suite("The first bytes that the bench reads")
struct InterceptedBytesTests {
    @Test("a proxy is asked with CONNECT, or with an address of HTTP; all else is no request")
    func proxyIsAskedWithCONNECTOrWithAnAddressOfHTTPAllElseIsNoRequest() throws {
        func read(_ text: String) -> ProxyRequest? { ProxyRequest(Array((text + "\r\n\r\n").utf8)) }
        let tunnel = try #require(read("CONNECT API.example.com:443 HTTP/1.1\r\nHost: x"))
        #expect(tunnel.host.description == "api.example.com" && tunnel.port == 443 && tunnel.isTunnel)
        let page = try #require(read("GET http://api.example.com/a:1 HTTP/1.1"))
        #expect(page.host.description == "api.example.com" && page.port == 80 && !page.isTunnel)
        #expect(read("CONNECT [2001:db8::1]:8443 HTTP/1.1")?.port == 8_443)
        for wrong in [
            "CONNECT api.example.com HTTP/1.1", "CONNECT api.example.com:0 HTTP/1.1", "CONNECT a:65536 HTTP/1.1",
            "GET / HTTP/1.1", "CONNECT a:1 HTTP/2.0", "CONNECT a:1", "", "CONNECT a b:1 HTTP/1.1",
        ] {
            #expect(read(wrong) == nil, "\(wrong)")
        }
        #expect(ProxyRequest(Array("CONNECT a:1 HTTP/1.1\r\n\r".utf8)) == nil)
    }
}

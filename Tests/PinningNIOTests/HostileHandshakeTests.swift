// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOPosix
import NIOSSL
import PinListClient
import PinningNIO
import Testing

@Suite("Connections that end, dribble or stall at any moment of the handshake")
struct HostileHandshakeTests {
    static let host = "api.example.com"

    /// Whether the pin in the list is the server's.
    enum PinKind: CaseIterable { case right, wrong }

    /// A server's chain, and a scene with a pin of it, or of a stranger.
    static func scene(_ pin: PinKind) throws -> (TestPKI, PinnedScene) {
        let pki = try TestPKI([Self.host])
        let pins = [pin == .right ? try pki.intermediate.pin : PinnedScene.strangePin]
        return (pki, try PinnedScene([PinnedScene.entry(Self.host, pins)], roots: [pki.root]))
    }

    /// A client that makes a connection for each request.
    ///
    /// - Parameter stranger: A root beside the scene's, with which nothing is known of a server from other clients.
    static func client(
        _ scene: PinnedScene, connectTimeout: TimeAmount = .ample, stranger: TestCertificate? = nil
    ) throws -> PinnedHTTPClient {
        var configuration = try scene.configuration([Self.host])
        configuration.maximumUsesPerConnection = 1
        configuration.timeout.connect = connectTimeout
        if let stranger {
            configuration.tlsConfiguration?.additionalTrustRoots = [.certificates([try stranger.nio])]
        }
        return try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
    }

    /// What a request of a client of the app's own comes to, which connects before it asks for the chain.
    static func askOnce(
        _ scene: PinnedScene, port: Int, connectTimeout: TimeAmount = .ample
    ) async throws -> Result<String, any Error> {
        var configuration = try scene.configuration([Self.host])
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = connectTimeout
        let client = HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: try configuration.pinned(by: scene.pinning, for: Self.host, port: port))
        let result: Result<String, any Error>
        do {
            let request = HTTPClientRequest(url: "https://\(Self.host):\(port)/")
            let response = try await client.execute(request, timeout: .ample)
            result = .success(String(buffer: try await response.body.collect(upTo: 1_024)))
        } catch {
            result = .failure(scene.pinning.refusal(for: error, host: Self.host) ?? error)
        }
        try await client.shutdown()
        return result
    }

    /// The error of a connection that was cut is never a timeout, and never blames a right pin.
    static func check(_ error: any Error, _ pin: PinKind, _ moment: String) {
        if let refusal = error as? PinningError {
            let reasons: [PinningDecision.Reason] =
                pin == .right ? [.chainInvalid, .noCertificates] : [.chainInvalid, .noCertificates, .noMatchingPin]
            #expect(reasons.contains(refusal.decision.reason), "\(moment): \(refusal)")
        }
        if let error = error as? HTTPClientError {
            let timeouts: [HTTPClientError] = [
                .deadlineExceeded, .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
            ]
            #expect(!timeouts.contains(error), "\(moment): \(error)")
        }
    }

    @Test(
        "a connection that is cut after any number of bytes, either way, by an end or by a reset: no hang, no crash",
        arguments: PinKind.allCases, [false, true])
    func connectionThatIsCutAfterAnyNumberOfBytesEitherWayByAnEndOrByAResetNoHang(_ pin: PinKind, http2: Bool)
        async throws
    {
        let (pki, scene) = try Self.scene(pin)
        let known = try Self.client(scene)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                let url = "https://\(Self.host):\(relay.port)/"
                func ask(_ client: PinnedHTTPClient) async -> Result<String, any Error> {
                    do { return .success(try await client.text(url)) } catch { return .failure(error) }
                }
                _ = await ask(known)
                var cuts = 0
                for direction in CuttingRelay.Direction.allCases {
                    // To the end of the handshake and of what is said behind it, and a little more.
                    let last = relay.maximumBytes(direction)
                    #expect(last > 300)
                    for bytes in stride(from: 1, through: last + 60, by: 61) {
                        for resets in [false, true] {
                            relay.set(CuttingRelay.Plan(cut: (direction, bytes), resets: resets))
                            // One that knows the server's chain, and one that has yet to learn it.
                            let stranger = try TestCertificate.authority("stranger") { $0.around(TestPKI.now) }
                            let new = try Self.client(scene, stranger: stranger)
                            for client in [known, new] {
                                cuts += 1
                                let moment = "\(direction) \(bytes) \(resets ? "reset" : "end")"
                                switch await ask(client) {
                                case .success(let text): #expect(text == "hello" && pin == .right, "\(moment)")
                                case .failure(let error): Self.check(error, pin, moment)
                                }
                            }
                            try await new.shutdown()
                        }
                    }
                }
                #expect(cuts > 100)
                // The client goes on as if nothing had been.
                relay.set(CuttingRelay.Plan())
                for _ in 0..<10 {
                    switch await ask(known) {
                    case .success(let text): #expect(text == "hello" && pin == .right)
                    case .failure(let error):
                        #expect(
                            (error as? PinningError)?.decision.reason == .noMatchingPin && pin == .wrong, "\(error)")
                    }
                }
            }
            if pin == .wrong { #expect(server.counts.requests == 0 && server.counts.requestBytes == 0) }
        }
        try await known.shutdown()
    }

    @Test("a server that delivers byte after byte gets its verdict", arguments: PinKind.allCases, [false, true])
    func serverThatDeliversByteAfterByteGetsItsVerdict(_ pin: PinKind, http2: Bool) async throws {
        let (pki, scene) = try Self.scene(pin)
        let client = try Self.client(scene)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                relay.set(CuttingRelay.Plan(dribbles: true))
                let url = "https://\(Self.host):\(relay.port)/"
                for _ in 0..<3 {
                    if pin == .right {
                        try await client.expectHello(url)
                    } else {
                        let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
                        #expect(refusal?.decision.reason == .noMatchingPin)
                    }
                }
            }
            #expect(server.counts.requests == (pin == .right ? 3 : 0))
        }
        try await client.shutdown()
    }

    @Test("a server that accepts and then says nothing, for ever: AsyncHTTPClient's timeout for connections ends it")
    func serverThatAcceptsAndThenSaysNothingForEver() async throws {
        let (_, scene) = try Self.scene(.right)
        try await withTimeouts(from: .milliseconds(200)) { timeout in
            let client = try Self.client(scene, connectTimeout: timeout)
            return try await HostileServer.with(nil) { _, _ in
            } _: { server in
                let error = await #expect(throws: HTTPClientError.self) {
                    try await client.text("https://\(Self.host):\(server.port)/")
                }
                #expect(error == .tlsHandshakeTimeout || error == .connectTimeout)
                try await client.shutdown()
                return server.count >= 1
            }
        }
    }

    @Test("a server that stalls in our own handshake alone: the connection is refused when its time is over")
    func serverThatStallsInOurOwnHandshakeAlone() async throws {
        let (pki, scene) = try Self.scene(.right)
        try await withTimeouts(from: .milliseconds(300)) { timeout in
            let error = try await HostileServer.with(LoopbackServer.Identity(pki.chain)) { connection, event in
                if case .accepted = event, connection.number > 1 { connection.stall() }
            } _: { server in
                let result = try await Self.askOnce(scene, port: server.port, connectTimeout: timeout)
                #expect(server.bytes == 0)
                return #expect(throws: (any Error).self) { try result.get() }
            }
            // The client's own connection met its time-out before ours was made.
            if error is HTTPClientError { return false }
            #expect((error as? PinningError)?.decision.reason == .chainInvalid)
            return true
        }
    }

    /// What is done to AsyncHTTPClient's connection, or to our own handshake, around the verdict.
    enum Moment: String, CaseIterable {
        case accepted, handshake, ownHandshakeBegins, ownHandshakeEnds, ownHandshakeIsRefused, firstBytes
    }

    @Test(
        "a server that closes or resets a connection before, while and after it is evaluated",
        arguments: Moment.allCases, [false, true])
    func serverThatClosesOrResetsAConnectionBeforeWhileAndAfterItIsEvaluated(_ moment: Moment, http2: Bool) async throws
    {
        for pin in PinKind.allCases {
            let (pki, scene) = try Self.scene(pin)
            let identity = try LoopbackServer.Identity(pki.chain)
            for resets in [false, true] {
                for _ in 0..<10 {
                    try await HostileServer.with(identity, http2: http2) { connection, event in
                        Self.act(moment, resets, http2, connection, event)
                    } _: { server in
                        let result = try await Self.askOnce(scene, port: server.port)
                        let error = #expect(throws: (any Error).self) { try result.get() }
                        if let error { Self.check(error, pin, "\(moment) \(resets) \(pin)") }
                        if pin == .wrong, !http2 { #expect(server.bytes == 0) }
                    }
                }
            }
        }
    }

    /// Connection 1 is AsyncHTTPClient's, connection 2 our own handshake.
    private static func act(
        _ moment: Moment, _ resets: Bool, _ http2: Bool, _ connection: HostileServer.Connection,
        _ event: HostileServer.Event
    ) {
        func end() { if resets { connection.reset() } else { connection.close() } }
        func endFirst() { connection.server.channel(1)?.close(promise: nil) }
        switch event {
        case .accepted:
            if moment == .accepted { end() }
            if connection.number > 1, moment == .ownHandshakeBegins { endFirst() }
            if connection.number > 1, moment == .ownHandshakeIsRefused { end() }
        case .handshake:
            if connection.number == 1, http2 { connection.write(HTTP2Frames.settings()) }
            if moment == .handshake { end() }
            if connection.number > 1, moment == .ownHandshakeEnds { endFirst() }
            // What is never answered is never to wait for.
            if connection.number > 1, moment == .firstBytes, http2 { endFirst() }
        case .bytes:
            if moment == .firstBytes, connection.number == 1, !http2 { end() }
        }
    }
}
#endif

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

@Suite("An open connection, when a list comes into force")
struct OpenConnectionTests {
    static let host = "api.example.com"

    /// A client with one open connection, and what a test does with it.
    private func withConnection(
        http2: Bool, clockAhead: Int64 = 0, pins: (TestPKI) throws -> [Pin] = { try [$0.leaf.pin] },
        _ edit: (inout PinList) -> Void = { _ in }, whenStale: PinList.WhenStale = .enforce,
        _ body: (PinnedScene, PinnedHTTPClient, LoopbackServer, String, TestPKI) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, pins(pki))], roots: [pki.root], edit) {
            $0.whenStale = whenStale
        }
        scene.clock.advance(by: clockAhead)
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let base = "https://\(Self.host):\(server.port)"
            let text = try await client.text("\(base)/")
            #expect(text == "hello")
            try await body(scene, client, server, base, pki)
        }
        try await client.shutdown()
    }

    /// A client whose open connection has a request that is not answered yet, when a list comes into force that refuses it.
    private func withRefusedConnectionInUse(
        http2: Bool,
        _ body: (PinnedScene, PinnedHTTPClient, LoopbackServer, String, Task<String, any Error>) async throws -> Void
    ) async throws {
        try await self.withConnection(http2: http2) { scene, client, server, base, pki in
            let slow = Task { try await client.text("\(base)/wait") }
            await server.untilWaiting(1)
            let strange = PinnedScene.strangePin
            try await scene.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
            await scene.clock.untilSleeping()
            try await body(scene, client, server, base, slow)
        }
    }

    @Test("stays when the new list allows it", arguments: [false, true])
    func staysWhenTheNewListAllowsIt(http2: Bool) async throws {
        try await self.withConnection(http2: http2) { scene, client, server, base, pki in
            let backup = PinnedScene.strangePin
            try await scene.publish { list in list.domains[0].entry.pins.append(KnownPin(backup)) }
            let before = server.counts.handshakes
            let text = try await client.text("\(base)/")
            #expect(text == "hello")
            #expect(server.counts.handshakes == before)
        }
    }

    @Test("takes no new request when the new list blocks it, and is closed when it is idle", arguments: [false, true])
    func takesNoNewRequestWhenTheNewListBlocksItAndIsClosedWhenItIsIdle(http2: Bool) async throws {
        try await self.withConnection(http2: http2) { scene, client, server, base, pki in
            let strange = PinnedScene.strangePin
            try await scene.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
            let requests = server.counts.requests
            let refusal = await #expect(throws: PinningError.self) { try await client.text("\(base)/") }
            #expect(refusal?.decision.reason == .noMatchingPin)
            #expect(server.counts.requests == requests)
            await server.untilOpen(0)
        }
    }

    /// The body of a request.
    enum Upload: CaseIterable {
        case buffer, array, collection, stream

        /// The body, of the five bytes of a part.
        func body(_ parts: CountedParts) -> HTTPClientRequest.Body {
            switch self {
            case .buffer: .bytes(parts.part(0))
            case .array: .bytes(Array(parts.part(0).readableBytesView))
            case .collection: .bytes(String(buffer: parts.part(0)).utf8, length: .known(Int64(5)))
            case .stream: .stream(parts, length: .known(Int64(5)))
            }
        }
    }

    /// A client with open connections that the rules refuse, to a server whose next ones present a key that is pinned: they were
    /// made while a clock that was ahead had ended the entry.
    private func withRefusedConnections(
        _ count: Int, http2: Bool, _ body: (PinnedHTTPClient, LoopbackServer, String) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.host])
        let next = try TestPKI.leaf([Self.host], by: pki.intermediate)
        let end = Timestamp(secondsSince1970: TestPKI.now + 3_600)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [next.pin])], roots: [pki.root]) { list in
            list.domains[0].entry.expiresAt = end
        }
        scene.clock.advance(by: 7_200)
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let base = "https://\(Self.host):\(server.port)"
            let slow = (0..<count).map { _ in Task { try await client.text("\(base)/wait") } }
            await server.untilWaiting(count)
            server.answerWaiting()
            for task in slow { _ = try await task.value }
            server.identity = try LoopbackServer.Identity([next, pki.intermediate])
            scene.clock.advance(by: -7_200)
            try await body(client, server, base)
        }
        try await client.shutdown()
    }

    @Test(
        "takes no byte of an upload that meets it: one from memory goes over the next connection, a streamed one can be sent again",
        arguments: [false, true], Upload.allCases)
    func takesNoByteOfAnUploadThatMeetsIt(http2: Bool, _ upload: Upload) async throws {
        try await self.withRefusedConnections(1, http2: http2) { client, server, base in
            let parts = CountedParts(count: 1) { _ in ByteBuffer(string: "12345") }
            var post = HTTPClientRequest(url: "\(base)/")
            post.method = .POST
            post.body = upload.body(parts)
            let request = post
            if upload == .stream {
                await #expect(throws: ConnectionRetiredError.self) {
                    try await client.execute(request, timeout: .ample)
                }
                #expect(parts.pulledBytes == 0 && server.counts.requests == 1)
            }
            let answer = try await client.execute(request, timeout: .ample)
            let text = String(buffer: try await answer.body.collect(upTo: 1_024))
            #expect(text == "5")
            #expect(server.counts.requests == 2)
        }
    }

    @Test("is none of many that a request meets one after the other until its tries are over")
    func isNoneOfManyThatARequestMeetsOneAfterTheOtherUntilItsTriesAreOver() async throws {
        try await self.withRefusedConnections(6, http2: false) { client, server, base in
            try await client.expectHello("\(base)/")
            #expect(server.counts.requests == 7)
        }
    }

    @Test("finishes the request that it has, and takes no other", arguments: [false, true])
    func finishesTheRequestThatItHasAndTakesNoOther(http2: Bool) async throws {
        try await self.withRefusedConnectionInUse(http2: http2) { scene, client, server, base, slow in
            await #expect(throws: PinningError.self) { try await client.text("\(base)/") }
            server.answerWaiting()
            let text = try await slow.value
            #expect(text == "hello")
            await server.untilOpen(0)
        }
    }

    @Test("is closed after half a minute, with anything running on it", arguments: [false, true])
    func isClosedAfterHalfAMinuteWithAnythingRunningOnIt(http2: Bool) async throws {
        try await self.withRefusedConnectionInUse(http2: http2) { scene, client, server, base, slow in
            scene.clock.advance(by: 30)
            await server.untilOpen(0)
            await #expect(throws: (any Error).self) { try await slow.value }
        }
    }

    @Test(
        "is closed with its request when the client is shut down, though the rules have it finish that",
        arguments: [false, true])
    func isClosedWithItsRequestWhenTheClientIsShutDownThoughTheRulesHaveItFinishThat(http2: Bool) async throws {
        try await self.withRefusedConnectionInUse(http2: http2) { scene, client, server, base, slow in
            // Its half minute is never over: the clock stands still.
            try await client.shutdown()
            await #expect(throws: (any Error).self) { try await slow.value }
            await server.untilOpen(0)
        }
    }

    @Test("is closed at once when a key of its path is denied", arguments: [false, true])
    func isClosedAtOnceWhenAKeyOfItsPathIsDenied(http2: Bool) async throws {
        try await self.withConnection(http2: http2) { scene, client, server, base, pki in
            let slow = Task { try await client.text("\(base)/wait") }
            await server.untilWaiting(1)
            let root = try pki.root.pin
            try await scene.publish { list in list.denied = [DeniedKey(root)] }
            await server.untilOpen(0)
            let refusal = await #expect(throws: PinningError.self) { try await slow.value }
            #expect(refusal?.decision.reason == .deniedKey)
        }
    }

    @Test("is closed at once when its key is denied, though an earlier list has retired it", arguments: [false, true])
    func isClosedAtOnceWhenItsKeyIsDeniedThoughAnEarlierListHasRetiredIt(http2: Bool) async throws {
        try await self.withConnection(http2: http2) { scene, client, server, base, pki in
            let slow = Task { try await client.text("\(base)/wait") }
            await server.untilWaiting(1)
            let (strange, leaf) = (PinnedScene.strangePin, try pki.leaf.pin)
            try await scene.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
            // What sleeps is the half minute of its request, which is never over: the clock stands still.
            await scene.clock.untilSleeping()
            try await scene.publish { list in list.denied = [DeniedKey(leaf)] }
            await server.untilOpen(0)
            let refusal = await #expect(throws: PinningError.self) { try await slow.value }
            #expect(refusal?.decision.reason == .deniedKey)
        }
    }

    @Test("is closed at once when its certificate is revoked", arguments: [false, true])
    func isClosedAtOnceWhenItsCertificateIsRevoked(http2: Bool) async throws {
        try await self.withConnection(http2: http2) { scene, client, server, base, pki in
            let slow = Task { try await client.text("\(base)/wait") }
            await server.untilWaiting(1)
            let fields = try CertificateFields(walking: pki.leaf.der)
            let serial = try #require(SerialNumber(contents: pki.leaf.der[fields.serialNumber]))
            let issuer = try pki.intermediate.pin
            try await scene.publish { list in
                list.revoked = [RevokedCertificates(issuer: issuer, serials: [serial])]
            }
            await server.untilOpen(0)
            let refusal = await #expect(throws: PinningError.self) { try await slow.value }
            #expect(refusal?.decision.reason == .revoked)
        }
    }

    @Test(
        "is evaluated again when a suspension ends, without a new list, also where a clock that was ahead had ended it before",
        arguments: [false, true], [false, true])
    func isEvaluatedAgainWhenASuspensionEndsAlsoWhereAClockThatWasAheadHadEndedItBefore(
        http2: Bool, wasAhead: Bool
    ) async throws {
        let until = Timestamp(secondsSince1970: TestPKI.now + 3_600)
        try await self.withConnection(
            http2: http2, pins: { _ in [PinnedScene.strangePin] },
            { list in list.suspended = [Suspension(.everything, until: until, reason: "incident")] }
        ) { scene, client, server, base, pki in
            await scene.clock.untilSleeping()
            scene.clock.now = until
            await server.untilOpen(0)
            if wasAhead {
                scene.clock.advance(by: -3_600)
                let text = try await client.text("\(base)/")
                #expect(text == "hello")
                scene.clock.now = until
                await server.untilOpen(0)
            }
            let refusal = await #expect(throws: PinningError.self) { try await client.text("\(base)/") }
            #expect(refusal?.decision.reason == .noMatchingPin)
            #expect(server.counts.requests == (wasAhead ? 2 : 1))
        }
    }

    @Test("takes no new request when a clock that was ahead had ended its entry", arguments: [false, true])
    func takesNoNewRequestWhenAClockThatWasAheadHadEndedItsEntry(http2: Bool) async throws {
        let end = Timestamp(secondsSince1970: TestPKI.now + 3_600)
        try await self.withConnection(
            http2: http2, clockAhead: 7_200, pins: { _ in [PinnedScene.strangePin] },
            { list in list.domains[0].entry.expiresAt = end }
        ) { scene, client, server, base, pki in
            scene.clock.advance(by: -7_200)
            let refusal = await #expect(throws: PinningError.self) { try await client.text("\(base)/") }
            #expect(refusal?.decision.reason == .noMatchingPin)
            #expect(server.counts.requests == 1)
        }
    }

    @Test("takes no new request once its list has expired, where the app asks for that", arguments: [false, true])
    func takesNoNewRequestOnceItsListHasExpiredWhereTheAppAsksForThat(http2: Bool) async throws {
        try await self.withConnection(http2: http2, whenStale: .deny) { scene, client, server, base, pki in
            // What waits for the next minute does not see it: the clock is set by less.
            let expiry = scene.clock.now.advanced(by: RepositorySimulator.listValidity)
            scene.clock.now = expiry.advanced(by: -1)
            let text = try await client.text("\(base)/")
            #expect(text == "hello")
            scene.clock.now = expiry
            await #expect(throws: PinningError.self) { try await client.text("\(base)/") }
            #expect(server.counts.requests == 2)
        }
    }

    @Test("that reported only is evaluated by what enforces now", arguments: [false, true])
    func thatReportedOnlyIsEvaluatedByWhatEnforcesNow(http2: Bool) async throws {
        try await self.withConnection(
            http2: http2, pins: { _ in [PinnedScene.strangePin] }, { list in list.domains[0].entry.mode = .report }
        ) { scene, client, server, base, pki in
            try await scene.publish { list in list.domains[0].entry.mode = .enforce }
            await server.untilOpen(0)
            await #expect(throws: PinningError.self) { try await client.text("\(base)/") }
            #expect(server.counts.requests == 1)
        }
    }
}
#endif

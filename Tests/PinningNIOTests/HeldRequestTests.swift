// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
import NIOPosix
import PinListClient
import PinningNIO
import Testing

@Suite("A request that waits for a verdict")
struct HeldRequestTests {
    /// The most bytes of a request that may be held (formats.md, section 4).
    static let heldBytes = 65_536

    @Test("leaves its streamed body where it is, and sends it whole after the verdict", arguments: [false, true])
    func leavesItsStreamedBodyWhereItIsAndSendsItWholeAfterTheVerdict(http2: Bool) async throws {
        try await HeldConnection.with(http2: http2) { scene, client, server, relay in
            let parts = CountedParts(count: BodyPattern.parts) { BodyPattern.part($0) }
            let request = HeldConnection.upload(parts, to: relay.port, bytes: BodyPattern.bytes)
            async let answer = client.execute(request, timeout: .ample)
            await relay.untilHeld(1)
            await HeldConnection.letOthersRun()
            #expect(parts.pulledBytes <= Self.heldBytes)
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
            relay.answerHeld()
            let text = String(buffer: try await answer.body.collect(upTo: 1_024))
            #expect(text == BodyPattern.digest)
            #expect(parts.pulledBytes == BodyPattern.bytes)
        }
    }

    @Test("of 1 GiB is not pulled into memory by a server that never shows its chain", arguments: [false, true])
    func of1GiBIsNotPulledIntoMemoryByAServerThatNeverShowsItsChain(http2: Bool) async throws {
        try await HeldConnection.with(http2: http2) { scene, client, server, relay in
            let part = ByteBuffer(repeating: 7, count: 65_536)
            let parts = CountedParts(count: 16_384) { _ in part }
            let request = HeldConnection.upload(parts, to: relay.port, bytes: 1 << 30)
            let answer = Task { try await client.execute(request, timeout: .ample) }
            await relay.untilHeld(1)
            await HeldConnection.letOthersRun()
            relay.answerHeld(.failure(ChannelError.eof))
            let refusal = await #expect(throws: PinningError.self) { try await answer.value }
            #expect(refusal?.decision.reason == .chainInvalid)
            #expect(parts.pulledBytes <= Self.heldBytes)
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
        }
    }

    @Test("is answered with others that wait with it, and after them", arguments: [false, true])
    func isAnsweredWithOthersThatWaitWithItAndAfterThem(http2: Bool) async throws {
        try await HeldConnection.with(http2: http2) { scene, client, server, relay in
            let url = "https://\(HeldConnection.host):\(relay.port)/"
            @Sendable func ask() async throws -> String {
                let answer = try await client.execute(HTTPClientRequest(url: url), timeout: .ample)
                return String(buffer: try await answer.body.collect(upTo: 1_024))
            }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await ask() } }
                await relay.untilHeld(1)
                await HeldConnection.letOthersRun()
                #expect(server.counts.requests == 0)
                relay.set(CuttingRelay.Plan())
                relay.answerHeld()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "hello", count: 20))
            let last = try await ask()
            #expect(last == "hello")
        }
    }

    @Test("ends when it is cancelled, and leaves no connection open", arguments: [false, true])
    func endsWhenItIsCancelledAndLeavesNoConnectionOpen(http2: Bool) async throws {
        try await HeldConnection.with(http2: http2) { scene, client, server, relay in
            let url = "https://\(HeldConnection.host):\(relay.port)/"
            let task = Task { try await client.execute(HTTPClientRequest(url: url), timeout: .ample) }
            await relay.untilHeld(1)
            await HeldConnection.letOthersRun()
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            relay.set(CuttingRelay.Plan())
            relay.answerHeld()
            let answer = try await client.execute(HTTPClientRequest(url: url), timeout: .ample)
            let text = String(buffer: try await answer.body.collect(upTo: 1_024))
            #expect(text == "hello")
            // On a stream the head that was held is followed by the word that its request is over.
            #expect(server.counts.requests <= (http2 ? 2 : 1))
        }
    }
}
#endif

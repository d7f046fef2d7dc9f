// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import PinListClient
import PinningNIO
import Testing

/// Uploads a body as fast as the channel takes it, from the moment when the channel is connected.
private final class Uploader: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    struct Seen: Sendable {
        var text = ""
        var errors: [any Error] = []
        /// Parts that were written, and the bytes in them.
        var parts = 0
        var bytes = 0
        /// Parts whose writes have succeeded or failed, in turn.
        var ended: [(part: Int, isSent: Bool)] = []
        /// The channel's marks, and whether it is writable, when the first answer is read.
        var marks: ChannelOptions.Types.WriteBufferWaterMark?
        var isWritable = false
    }

    let count: Int
    let answer: String
    let part: @Sendable (Int) -> ByteBuffer
    private let seen = NIOLockedValueBox(Seen())

    /// Creates one that closes the channel when it has read the end of the answer.
    init(_ count: Int, until answer: String, _ part: @escaping @Sendable (Int) -> ByteBuffer) {
        self.count = count
        self.answer = answer
        self.part = part
    }

    var sofar: Seen { self.seen.withLockedValue { $0 } }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        self.upload(context.channel)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        self.upload(context.channel)
    }

    private func upload(_ channel: any Channel) {
        while channel.isActive, channel.isWritable, self.sofar.parts < self.count {
            let number = self.seen.withLockedValue { seen in
                seen.parts += 1
                return seen.parts - 1
            }
            let part = self.part(number)
            self.seen.withLockedValue { $0.bytes += part.readableBytes }
            channel.writeAndFlush(part).whenComplete { result in
                self.seen.withLockedValue { $0.ended.append((number, (try? result.get()) != nil)) }
            }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        let marks = try? context.channel.syncOptions?.getOption(.writeBufferWaterMark)
        let isWritable = context.channel.isWritable
        self.seen.withLockedValue { seen in
            if seen.text.isEmpty { (seen.marks, seen.isWritable) = (marks, isWritable) }
            seen.text += String(buffer: bytes)
        }
        if self.sofar.text.hasSuffix(self.answer) { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.seen.withLockedValue { $0.errors.append(error) }
        context.close(promise: nil)
    }
}

@Suite("A pinned channel that waits for its verdict")
struct HeldChannelTests {
    static let host = "api.example.com"

    /// A request whose body is the pattern, the head as a part of its own.
    private static var request: Uploader {
        Uploader(BodyPattern.parts + 1, until: BodyPattern.digest) { number in
            guard number == 0 else { return BodyPattern.part(number - 1) }
            return ByteBuffer(
                string: "POST /digest HTTP/1.1\r\nHost: \(Self.host)\r\nContent-Length: \(BodyPattern.bytes)\r\n\r\n")
        }
    }

    /// Uploads through a relay that keeps the connection waiting, before a byte of the handshake is answered.
    private func upload(
        _ uploader: Uploader, pins: (TestPKI) throws -> Pin = { try $0.leaf.pin },
        _ body: (any Channel, LoopbackServer, CuttingRelay) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pins(pki)])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                relay.set(CuttingRelay.Plan(relayed: 0))
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelOption(.writeBufferWaterMark, value: .init(low: 4_096, high: 8_192))
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try tls.addHandlers(to: channel, for: Self.host, port: relay.port)
                            try channel.pipeline.syncOperations.addHandler(uploader)
                        }
                    }
                    .connect(host: "127.0.0.1", port: relay.port).get()
                await relay.untilHeld(1)
                // It is active when its event loop comes to this.
                try await channel.eventLoop.submit {}.get()
                await HeldConnection.letOthersRun()
                try await body(channel, server, relay)
            }
        }
    }

    @Test("leaves a streamed body where it is, and sends it whole and in order after the verdict")
    func leavesAStreamedBodyWhereItIsAndSendsItWholeAndInOrderAfterTheVerdict() async throws {
        let uploader = Self.request
        try await self.upload(uploader) { channel, server, relay in
            #expect(!channel.isWritable)
            #expect(uploader.sofar.bytes > 0 && uploader.sofar.bytes <= HeldRequestTests.heldBytes)
            #expect(uploader.sofar.ended.isEmpty)
            #expect(server.counts.requests == 0)
            relay.answerHeld()
            try await channel.closeFuture.get()
            #expect(uploader.sofar.text.hasSuffix(BodyPattern.digest))
            #expect(uploader.sofar.ended.map(\.part) == Array(0...BodyPattern.parts))
            #expect(uploader.sofar.ended.allSatisfy { $0.isSent })
        }
    }

    @Test("takes no more than one part of 1 GiB for a server that never shows its chain, and every write fails")
    func takesNoMoreThanOnePartOf1GiBForAServerThatNeverShowsItsChainAndEveryWriteFails() async throws {
        let part = ByteBuffer(repeating: 7, count: 65_536)
        let uploader = Uploader(16_384, until: "") { _ in part }
        try await self.upload(uploader) { channel, server, relay in
            #expect(!channel.isWritable)
            #expect(uploader.sofar.bytes == HeldRequestTests.heldBytes)
            relay.answerHeld(.failure(ChannelError.eof))
            try await channel.closeFuture.get()
            #expect(uploader.sofar.bytes == HeldRequestTests.heldBytes)
            #expect(uploader.sofar.ended.map(\.isSent) == [false])
            #expect(server.counts.requestBytes == 0)
        }
    }

    @Test("fails what was written when its server is refused, and nothing of it leaves")
    func failsWhatWasWrittenWhenItsServerIsRefusedAndNothingOfItLeaves() async throws {
        let uploader = Self.request
        try await self.upload(uploader, pins: { _ in PinnedScene.strangePin }) { channel, server, relay in
            relay.answerHeld()
            try await channel.closeFuture.get()
            #expect((uploader.sofar.errors.first as? PinningError)?.decision.reason == .noMatchingPin)
            #expect(uploader.sofar.parts == 1 && uploader.sofar.ended.map(\.isSent) == [false])
            #expect(server.counts.requestBytes == 0)
        }
    }

    @Test("has the marks of its app after the verdict, those that were set meanwhile too", arguments: [false, true])
    func hasTheMarksOfItsAppAfterTheVerdictThoseThatWereSetMeanwhileToo(areSetMeanwhile: Bool) async throws {
        let request = "GET / HTTP/1.1\r\nHost: \(Self.host)\r\n\r\n"
        let uploader = Uploader(1, until: "hello") { _ in ByteBuffer(string: request) }
        try await self.upload(uploader) { channel, _, relay in
            #expect(!channel.isWritable)
            if areSetMeanwhile {
                try await channel.setOption(.writeBufferWaterMark, value: .init(low: 5, high: 6)).get()
            }
            relay.answerHeld()
            try await channel.closeFuture.get()
            #expect(uploader.sofar.marks?.low == (areSetMeanwhile ? 5 : 4_096))
            #expect(uploader.sofar.marks?.high == (areSetMeanwhile ? 6 : 8_192))
            #expect(uploader.sofar.isWritable)
        }
    }
}
#endif

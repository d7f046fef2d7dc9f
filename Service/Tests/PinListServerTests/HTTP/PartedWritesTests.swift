// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import PinListServer

@Suite("What TLS gets of a large answer at a time")
struct PartedWritesTests {
    /// In the place of TLS and the system: takes what is written when it is told to, or at once.
    private final class Taker: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        var takesAtOnce = false
        private(set) var taken: [UInt8] = []
        private(set) var count = 0
        private(set) var reads = 0
        private(set) var closed: [CloseMode] = []
        private(set) var held: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            self.held.append((self.unwrapOutboundIn(data), promise))
            if self.takesAtOnce { self.take() }
        }

        func flush(context: ChannelHandlerContext) {}

        func read(context: ChannelHandlerContext) { self.reads += 1 }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            self.closed.append(mode)
            promise?.succeed()
        }

        /// Hands the first that is held to the system.
        func take() {
            let (bytes, promise) = self.held.removeFirst()
            if !self.takesAtOnce { self.taken += Array(bytes.readableBytesView) }
            self.count += bytes.readableBytes
            promise?.succeed()
        }
    }

    /// A connection, made within a test: its loop belongs to one thread.
    private struct Connection {
        let taker = Taker()
        let channel: EmbeddedChannel
        /// What became of writes, in their order.
        let outcomes = NIOLockedValueBox<[String]>([])

        init() { self.channel = EmbeddedChannel(handlers: [self.taker, PartedWrites()]) }

        func write(_ bytes: [UInt8], _ name: String) { self.note(self.channel.write(ByteBuffer(bytes: bytes)), name) }

        func note(_ future: EventLoopFuture<Void>, _ name: String) {
            let outcomes = self.outcomes
            future.whenComplete { result in
                let isDone = (try? result.get()) != nil
                outcomes.withLockedValue { $0.append(isDone ? name : "no \(name)") }
            }
        }

        var told: [String] { self.outcomes.withLockedValue { $0 } }
    }

    @Test("a large answer goes part by part, each when the one before it was taken, and nothing overtakes it")
    func largeAnswerGoesPartByPartEachWhenTheOneBeforeItWasTaken() {
        let connection = Connection()
        let large = (0..<(3 * PartedWrites.partBytes + 7)).map { UInt8(truncatingIfNeeded: $0 / 1_000) }
        connection.write([1], "head")
        connection.write(large, "body")
        connection.write([], "end")
        connection.write([2], "next")
        connection.channel.flush()
        #expect(connection.taker.held.map(\.bytes.readableBytes) == [1, PartedWrites.partBytes])
        connection.taker.take()
        connection.write([3], "late")
        var parts = 0
        while !connection.taker.held.isEmpty {
            #expect(connection.taker.held.count == 1)
            #expect(connection.taker.held[0].bytes.readableBytes <= PartedWrites.partBytes)
            connection.taker.take()
            parts += 1
        }
        #expect(parts == 6)
        #expect(connection.told == ["head", "body", "end", "next"])
        // What was not flushed waits.
        connection.channel.flush()
        connection.taker.take()
        #expect(connection.taker.taken == [1] + large + [2, 3])
        #expect(connection.told.last == "late")
        // With nothing before it a small answer goes as it is.
        connection.write([4], "small")
        #expect(connection.taker.held.count == 1)
        connection.taker.take()
    }

    @Test("thousands of large answers that the system takes at once do not fill the stack")
    func thousandsOfLargeAnswersThatTheSystemTakesAtOnceDoNotFillTheStack() {
        let connection = Connection()
        connection.taker.takesAtOnce = true
        let bytes = ByteBuffer(repeating: 7, count: 4 * PartedWrites.partBytes)
        for number in 0..<5_000 { connection.note(connection.channel.write(bytes), "\(number)") }
        connection.channel.flush()
        #expect(connection.taker.count == 5_000 * bytes.readableBytes)
        #expect(connection.told == (0..<5_000).map { "\($0)" })
    }

    @Test("while a large answer waits nothing more is read, however little of it the client still has to take")
    func whileALargeAnswerWaitsNothingMoreIsRead() {
        let connection = Connection()
        connection.channel.read()
        #expect(connection.taker.reads == 1)
        connection.write([UInt8](repeating: 7, count: PartedWrites.partBytes + 1), "body")
        connection.channel.flush()
        for _ in 0..<3 { connection.channel.read() }
        #expect(connection.taker.reads == 1)
        // With the last part out nothing waits.
        connection.taker.take()
        #expect(connection.taker.reads == 2)
        connection.channel.read()
        #expect(connection.taker.reads == 3)
        connection.taker.take()
        #expect(connection.told == ["body"])
    }

    @Test("the end of the output waits for what was flushed, and the end of the connection lets go of it")
    func endOfTheOutputWaitsForWhatWasFlushedTheEndOfTheConnectionLetsGoOfIt() {
        let connection = Connection()
        let large = [UInt8](repeating: 7, count: 2 * PartedWrites.partBytes)
        connection.write(large, "first")
        connection.channel.flush()
        connection.note(connection.channel.close(mode: .output), "end")
        connection.note(connection.channel.close(mode: .output), "end again")
        #expect(connection.taker.closed == [])
        connection.taker.take()
        #expect(connection.taker.closed == [.output])
        connection.taker.take()
        #expect(connection.told == ["end", "end again", "first"])
        connection.write(large, "second")
        connection.write([1], "third")
        connection.channel.flush()
        connection.note(connection.channel.close(mode: .output), "end")
        connection.note(connection.channel.close(), "all")
        #expect(connection.taker.closed == [.output, .all])
        #expect(connection.told.suffix(4) == ["no second", "no third", "no end", "all"])
        connection.taker.take()
        #expect(connection.taker.held.isEmpty)
    }
}

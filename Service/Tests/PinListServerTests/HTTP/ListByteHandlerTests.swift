// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypesHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer

@Suite("Requests for lists, answered from their bytes")
struct ListByteHandlerTests {
    private static let pins = "/v1/lists/com.example.app/pins.json"

    /// Two connections to the same lists: one whose requests are answered from their bytes where that can be, and one
    /// that decodes each. What they count is told apart.
    private struct Pair {
        let fast: EmbeddedChannel
        let slow: EmbeddedChannel
        let counters: (fast: ListRequestCounter, slow: ListRequestCounter)
        let list: [UInt8]

        init(_ published: (lists: ServedLists, list: [UInt8]), _ source: RequestSource) throws {
            let (lists, list) = published
            func connection(_ listRequests: ListRequestCounter, decodes: Bool) throws -> EmbeddedChannel {
                let responder = ListResponder(
                    lists: lists, listRequests: listRequests, source: source, clock: TurnedClock())
                let channel = EmbeddedChannel()
                channel.remoteAddress = try SocketAddress(ipAddress: "192.0.2.1", port: 1)
                let pipeline = channel.pipeline.syncOperations
                try pipeline.configureHTTPServerPipeline(
                    withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
                try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                if !decodes { try pipeline.addHandler(RequestDeadline(ServiceConfiguration.Deadlines())) }
                // Without a handler of deadlines before it, it answers nothing from bytes.
                try pipeline.addHandler(ListChannelHandler(responder, .storingNothing))
                try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
                return channel
            }
            let counters = (fast: ListRequestCounter(seed: 1), slow: ListRequestCounter(seed: 1))
            self.fast = try connection(counters.fast, decodes: false)
            self.slow = try connection(counters.slow, decodes: true)
            self.counters = counters
            self.list = list
        }

        /// The answer of a connection, and whether its decoder gave up.
        private func answer(_ channel: EmbeddedChannel, _ bytes: [UInt8]) -> (bytes: [UInt8], isBroken: Bool) {
            var isBroken = false
            do { try channel.writeInbound(ByteBuffer(bytes: bytes)) } catch { isBroken = true }
            var answer: [UInt8] = []
            while let part = try? channel.readOutbound(as: IOData.self) {
                guard case .byteBuffer(let buffer) = part else { continue }
                answer += Array(buffer.readableBytesView)
            }
            return (answer, isBroken)
        }

        /// Sends the same bytes on both, and expects the same of both.
        @discardableResult
        func expectSame(_ request: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) -> [UInt8] {
            let (fast, slow) = (self.answer(self.fast, request), self.answer(self.slow, request))
            let text = String(decoding: request, as: UTF8.self).debugDescription
            #expect(fast.bytes == slow.bytes, "\(text)", sourceLocation: sourceLocation)
            #expect(fast.isBroken == slow.isBroken, "\(text)", sourceLocation: sourceLocation)
            #expect(self.counters.fast.take() == self.counters.slow.take(), "\(text)", sourceLocation: sourceLocation)
            return fast.bytes
        }
    }

    /// Measures what is written and not flushed.
    private final class UnflushedBytes: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        typealias OutboundOut = IOData

        private(set) var most = 0
        private var held = 0

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            self.held += self.unwrapOutboundIn(data).readableBytes
            self.most = max(self.most, self.held)
            context.write(data, promise: promise)
        }

        func flush(context: ChannelHandlerContext) {
            self.held = 0
            context.flush()
        }
    }

    private static func published() async throws -> (lists: ServedLists, list: [UInt8]) {
        let repository = try RepositorySimulator.story()
        let lists = ServedLists(anchors: repository.anchors)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            _ = try await lists.reload(from: store)
        }
        return (lists, repository.lists[0])
    }

    private static let noProxies = RequestSource(trustedProxies: [], edges: [])

    private static func request(_ path: String, _ fields: String = "Host: localhost\r\n") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\n\(fields)\r\n".utf8)
    }

    @Test("the two ways say the same, byte for byte: the list, what is held, roots, what is not there")
    func twoWaysSayTheSameByteForByteTheListWhatIsHeldRootsWhatIsNotThere() async throws {
        let published = try await Self.published()
        let pair = try Pair(published, Self.noProxies)
        let tag = Envelope.digest(of: published.list)
        let host = "Host: pins.example.com\r\n"
        for path in [
            Self.pins, "/v1/lists/com.example.app/root/1.json", "/v1/lists/com.example.app/root/2.json",
            "/v1/lists/none/pins.json", "/v1/lists/com.example.app//pins.json", "/v1/lists/../pins.json",
        ] {
            for fields in [
                host, host + "If-None-Match: \"\(tag)\"\r\n", host + "if-none-match:\"\(tag)\"  \r\n",
                host + "If-None-Match: W/\"\(tag)-gzip\"\r\n", host + "If-None-Match: \"a\", \"\(tag)\"\r\n",
                host + "If-None-Match: *\r\n", host + "If-None-Match: \(tag)\r\n", host + "If-None-Match:\r\n",
                "User-Agent: app/1\r\nAccept: */*\r\n" + host + "Accept-Encoding: gzip\r\nConnection: Keep-Alive\r\n",
            ] {
                let answer = pair.expectSame(Self.request(path, fields))
                #expect(!answer.isEmpty)
                #expect(ListRequestHead(ByteBuffer(bytes: Self.request(path, fields))) != nil, "\(fields)")
            }
        }
    }

    @Test(
        "many requests at once are answered in their order, and what comes behind another kind of request waits for it")
    func manyRequestsAtOnceAreAnsweredInTheirOrder() async throws {
        let published = try await Self.published()
        let pair = try Pair(published, Self.noProxies)
        let one = Self.request(Self.pins)
        #expect(pair.expectSame(one + one + one).count > 3 * published.list.count)
        // The third is not answered before the second is.
        let answer = pair.expectSame(one + Self.request("/healthz") + one)
        #expect(String(decoding: answer, as: UTF8.self).components(separatedBy: "HTTP/1.1 200").count == 2)
        pair.expectSame(one)
    }

    @Test("a list that is asked for a thousand times in one read is not written so often before a flush, on both ways")
    func listThatIsAskedForAThousandTimesInOneReadIsNotWrittenSoOftenBeforeAFlush() async throws {
        let published = try await Self.published()
        let pair = try Pair(published, Self.noProxies)
        let (fast, slow) = (UnflushedBytes(), UnflushedBytes())
        try pair.fast.pipeline.syncOperations.addHandler(fast, position: .first)
        try pair.slow.pipeline.syncOperations.addHandler(slow, position: .first)
        let answer = pair.expectSame(Array(repeating: Self.request(Self.pins), count: 1_000).flatMap { $0 })
        // What is flushed together, and an answer or the heads of as many.
        let most = 2 * ListByteHandler.flushedBytes + published.list.count
        try #require(answer.count > 4 * most)
        #expect(fast.most <= most)
        #expect(slow.most <= most)
    }

    /// Requests that two parsers could read differently (request smuggling).
    private static let doubtful: [String] = [
        "GET /v1/lists/com.example.app/pins.json HTTP/1.0\r\nHost: a\r\n\r\n",
        "GET  /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json  HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\nHost: a\n\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost:\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nVia: 1.1 cache\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nAccept: \u{1}\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nAccept: a\rb\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nAccept: é\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"a\"\r\nIf-None-Match: \"b\"\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json?a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins%2ejson HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a/v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/lists/com.example.app/pins.json HTTP/1.1\r\nHost: a\r\n", "GET /v1/lists/com", "", "\r\n", "\0",
    ]

    @Test("an ambiguous request is not answered from bytes, and is answered as it always was")
    func ambiguousRequestIsNotAnsweredFromBytesAndIsAnsweredAsItAlwaysWas() async throws {
        let published = try await Self.published()
        for text in Self.doubtful {
            let bytes = Array(text.utf8)
            #expect(ListRequestHead(ByteBuffer(bytes: bytes)) == nil, "\(text.debugDescription)")
            let pair = try Pair(published, Self.noProxies)
            pair.expectSame(Self.request(Self.pins))
            pair.expectSame(bytes)
            // A connection that was in doubt once goes the long way for good.
            pair.expectSame(Self.request(Self.pins))
        }
        // Too many fields, and too many bytes.
        let many = "Host: a\r\n" + String(repeating: "Accept: a\r\n", count: RequestHeadBytes.maximumFields)
        #expect(ListRequestHead(ByteBuffer(bytes: Self.request(Self.pins, many))) == nil)
        let long = "Host: a\r\nAccept: \(String(repeating: "a", count: RequestHeadBytes.maximumBytes))\r\n"
        #expect(ListRequestHead(ByteBuffer(bytes: Self.request(Self.pins, long))) == nil)
    }

    @Test("requests that were changed at random, and cut at random, are answered the same on both ways")
    func requestsThatWereChangedAtRandomAndCutAtRandomAreAnsweredTheSameOnBothWays() async throws {
        let published = try await Self.published()
        let tag = Envelope.digest(of: published.list)
        let seeds =
            Self.doubtful.map { Array($0.utf8) }
            + [Self.request(Self.pins), Self.request(Self.pins, "Host: a\r\nIf-None-Match: \"\(tag)\"\r\n")]
        let bytes = Array("\r\n: \t,\"/aZ0-.\0\u{7f}é%?#GET HTTP/1.1Host".utf8)
        var random = SeededGenerator(seed: 42)
        for _ in 0..<300 {
            var request: [UInt8] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                var next = seeds.randomElement(using: &random) ?? []
                for _ in 0..<Int.random(in: 0...3, using: &random) where !next.isEmpty {
                    let index = Int.random(in: 0..<next.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: next[index] = bytes.randomElement(using: &random) ?? 0
                    case 1: next.insert(bytes.randomElement(using: &random) ?? 0, at: index)
                    default: next.remove(at: index)
                    }
                }
                request += next
            }
            let pair = try Pair(published, Self.noProxies)
            // In two reads, as the network cuts.
            let cut = Bool.random(using: &random) ? request.count : Int.random(in: 0...request.count, using: &random)
            pair.expectSame(Array(request[..<cut]))
            pair.expectSame(Array(request[cut...]))
        }
    }

    @Test("an edge that is known by its address is counted as one on both ways")
    func edgeThatIsKnownByItsAddressIsCountedAsOneOnBothWays() async throws {
        let published = try await Self.published()
        let edges = [try #require(NetworkRange("192.0.2.0/24"))]
        let pair = try Pair(published, RequestSource(trustedProxies: [], edges: edges))
        pair.expectSame(Self.request(Self.pins))
        pair.expectSame(Self.request(Self.pins, "Host: a\r\nIf-None-Match: \"x\"\r\n"))
    }

    @Test("a client that reads no answers is not answered from bytes, and is closed at the deadline of the answer")
    func clientThatReadsNoAnswersIsNotAnsweredFromBytes() async throws {
        let published = try await Self.published()
        let pair = try Pair(published, Self.noProxies)
        pair.fast.isWritable = false
        try pair.fast.writeInbound(ByteBuffer(bytes: Self.request(Self.pins)))
        #expect(try pair.fast.readOutbound(as: IOData.self) == nil)
    }
}

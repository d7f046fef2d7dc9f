// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOSSL
import PinListMetadata
import PinReportAnalysis
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Reports, taken from the bytes of their requests")
struct ReportByteHandlerTests {
    private static let plain = "Host: localhost\r\nContent-Type: application/json\r\n"

    private static func request(_ body: [UInt8], _ fields: String = Self.plain) -> [UInt8] {
        Array("POST /v1/reports HTTP/1.1\r\n\(fields)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    /// The same request with a field that is not known, which goes through the framework.
    private static func longRequest(_ body: [UInt8], _ fields: String = Self.plain) -> [UInt8] {
        Self.request(body, fields + "X-Unknown: 1\r\n")
    }

    /// An answer without what chance and the clock write, its fields in lower case and sorted.
    private static func comparable(_ answer: RawAnswer) -> String {
        let parts = answer.text.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        let fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }.lowercased()
            return ["date", "retry-after"].contains(name) ? name : name + line.dropFirst(name.count)
        }
        return ([lines[0]] + fields.sorted() + parts.dropFirst()).joined(separator: "\n")
    }

    private static func ask(_ port: Int, _ request: [UInt8]) async throws -> RawAnswer {
        try await RawConnection.talk(to: port) { connection in
            connection.send(request)
            let head = connection.read(until: "\r\n\r\n")
            let length =
                head.text.lowercased().components(separatedBy: "content-length: ").dropFirst().first
                .flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
            let start = head.text.components(separatedBy: "\r\n\r\n")[0].utf8.count + 4
            var answer = head
            answer.bytes += connection.read(count: length - (head.bytes.count - start)).bytes
            return answer
        }
    }

    private static func count(_ store: any ServiceStore) async throws -> Int64 {
        try await store.read { store in
            try store.connection.rows("SELECT COALESCE(SUM(count), 0) FROM group_count", []).first?.integer(0) ?? 0
        }
    }

    /// Bodies that are taken, and bodies that are refused.
    private static let bodies: [[UInt8]] = [
        ReportText.body(),
        ReportText.body([
            (
                "tumbler",
                .object([
                    .init("list-name", .string("com.example.app")), .init("list-version", .integer(7)),
                    .init("reason", .string("rollback")), .init("envelope", .string("e30=")),
                ])
            ), ("hostname", .null), ("noted-hostname", .null),
        ]),
        Array("{".utf8), Array("{}".utf8), Array("1".utf8),
        Array("[]".utf8), Array(#"{"hostname": {}}"#.utf8),
        Array(
            #"[{"type":"network-error","age":0,"url":"https://api.example.com/","body":{"type":"tls.cert.pinned_key_not_in_cert_chain"}}]"#
                .utf8),
    ]

    @Test("both ways answer the same, and store the same", arguments: Self.bodies.indices)
    func bothWaysAnswerTheSameAndStoreTheSame(index: Int) async throws {
        let body = Self.bodies[index]
        #expect(ReportRequestHead(ByteBuffer(bytes: Self.request(body))) != nil)
        #expect(ReportRequestHead(ByteBuffer(bytes: Self.longRequest(body))) == nil)
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let port = try service.port(of: service.address)
                let short = try await Self.ask(port, Self.request(body))
                let stored = try await Self.count(service.store)
                let long = try await Self.ask(port, Self.longRequest(body))
                #expect(Self.comparable(short) == Self.comparable(long))
                #expect(try await Self.count(service.store) == 2 * stored)
            }
        }
    }

    @Test("a source over its limit is refused on both ways, and a proxy's field names it on both")
    func sourceOverItsLimitIsRefusedOnBothWays() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(
                try open(),
                {
                    $0.trustedProxies = [NetworkRange("127.0.0.0/8")].compactMap(\.self)
                    $0.reportLimits.sourceBurst = 2
                }
            ) { service in
                let port = try service.port(of: service.address)
                for (field, other) in [
                    ("X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.9"),
                    ("Forwarded: for=198.51.100.1", "Forwarded: for=198.51.100.9"),
                ] {
                    let fields = Self.plain + field + "\r\n"
                    // One token by bytes, the second the long way; the third comes by bytes again.
                    #expect(try await Self.ask(port, Self.request(ReportText.body(), fields)).statuses == [202])
                    #expect(try await Self.ask(port, Self.longRequest(ReportText.body(), fields)).statuses == [202])
                    let short = try await Self.ask(port, Self.request(ReportText.body(), fields))
                    let long = try await Self.ask(port, Self.longRequest(ReportText.body(), fields))
                    #expect(short.statuses == [429])
                    #expect(Self.comparable(short) == Self.comparable(long))
                    let others = Self.plain + other + "\r\n"
                    #expect(try await Self.ask(port, Self.request(ReportText.body(), others)).statuses == [202])
                }
            }
        }
    }

    @Test("a request whose body comes later is taken the long way")
    func requestWhoseBodyComesLaterIsTakenTheLongWay() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let request = Self.request(ReportText.body())
                let port = try service.port(of: service.address)
                let statuses = try await RawConnection.talk(to: port) { connection in
                    connection.send(Array(request.dropLast(10)))
                    // When the answer to a later request is there, the service has read the first part.
                    let other = try RawConnection(port)
                    defer { other.end() }
                    other.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                    _ = other.read(answers: 1)
                    connection.send(Array(request.suffix(10)))
                    return connection.read(answers: 1).statuses
                }
                #expect(statuses == [202])
                #expect(try await Self.count(service.store) == 1)
            }
        }
    }

    @Test("answers keep the order of their requests: reports, lists, and what the framework answers")
    func answersKeepTheOrderOfTheirRequests() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            try await RunningService.with(store) { service in
                let get = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                let list = Array("GET /v1/lists/none/pins.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                let report = Self.request(ReportText.body())
                let port = try service.port(of: service.address)
                async let answer = RawConnection.talk(to: port) { connection in
                    connection.send(list + report + report + get + list + report)
                    return connection.read(answers: 6).statuses
                }
                await service.untilReportWaits()
                store.open()
                #expect(try await answer == [404, 202, 202, 200, 404, 202])
            }
        }
    }

    /// Requests that two parsers could read differently, or whose answer needs more than their body.
    private static let doubtful: [String] = [
        "POST /v1/reports HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/reports?a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/reports/ HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
        "POST //v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
        "PUT /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 32769\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nUpgrade: h2c\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTumbler-Assertion: a\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 1.2.3.5\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nForwarded: for=1.2.3.4\r\nforwarded: for=1.2.3.5\r\n\r\n{}",
        "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nX-Real-IP: a\r\n b\r\n\r\n{}",
    ]

    @Test("an ambiguous request is not taken from bytes", arguments: Self.doubtful)
    func ambiguousRequestIsNotTakenFromBytes(text: String) {
        #expect(ReportRequestHead(ByteBuffer(string: text)) == nil)
    }

    @Test("the largest body that is taken from bytes is what one token pays for")
    func largestBodyThatIsTakenFromBytesIsWhatOneTokenPaysFor() throws {
        #expect(ReportRequestHead.maximumBody == ReportCost.bytesOfToken)
        let head = try #require(
            ReportRequestHead(
                ByteBuffer(bytes: Self.request([UInt8](repeating: 0x20, count: ReportRequestHead.maximumBody)))))
        #expect(head.bodyLength == 32_768)
    }

    /// Counts what a channel asks of the network.
    private final class ReadCount: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = ByteBuffer
        let count = NIOLockedValueBox(0)

        func read(context: ChannelHandlerContext) {
            self.count.withLockedValue { $0 += 1 }
            context.read()
        }
    }

    /// Keeps what the handlers behind it would see of the end of what a client sends.
    private final class EndCount: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let count = NIOLockedValueBox(0)

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event as? ChannelEvent == .inputClosed { self.count.withLockedValue { $0 += 1 } }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.count.withLockedValue { $0 += 1 }
        }
    }

    @Test("a client that ends its sending behind a report, or with an error of TLS, gets the answer first")
    func clientThatEndsItsSendingBehindReportGetsTheAnswer() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            let reports = ReportResponder(storingIn: store)
            let channel = NIOAsyncTestingChannel()
            let (reads, ends) = (ReadCount(), EndCount())
            try await channel.testingEventLoop.executeInContext {
                let deadline = RequestDeadline(ServiceConfiguration.Deadlines())
                try channel.pipeline.syncOperations.addHandlers([
                    reads, ReportByteHandler(reports, deadline, nil), ends,
                ])
            }
            try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).get()
            let before = reads.count.withLockedValue { $0 }
            let request = Self.request(ReportText.body())
            try await channel.writeInbound(ByteBuffer(bytes: request))
            await store.untilWriting()
            // One more read comes while the first report waits, and the end behind it.
            channel.read()
            await channel.testingEventLoop.run()
            #expect(reads.count.withLockedValue { $0 } == before + 1)
            try await channel.writeInbound(ByteBuffer(bytes: request))
            try await channel.testingEventLoop.executeInContext {
                channel.pipeline.fireErrorCaught(NIOSSLError.uncleanShutdown)
                channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
            #expect(ends.count.withLockedValue { $0 } == 0)
            store.open()
            for _ in 0..<2 {
                let answer = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
                #expect(String(buffer: answer).hasPrefix("HTTP/1.1 202"))
            }
            await channel.testingEventLoop.run()
            #expect(ends.count.withLockedValue { $0 } == 2)
            _ = try await channel.finish()
        }
    }

    @Test("a client that ends its sending behind its requests gets all answers, in their order")
    func clientThatEndsItsSendingBehindItsRequestsGetsAllAnswers() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            try await RunningService.with(store) { service in
                let port = try service.port(of: service.address)
                let list = Array("GET /v1/lists/none/pins.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                let report = Self.request(ReportText.body())
                async let answer = RawConnection.talk(to: port) { connection in
                    connection.send(report)
                    connection.send(list + report)
                    connection.endSending()
                    return connection.rest().statuses
                }
                await service.untilReportWaits()
                store.open()
                #expect(try await answer == [202, 404, 202])
            }
        }
    }

    @Test("a client that pipelines reports is not read from while one of them has no answer")
    func clientThatPipelinesReportsIsNotReadFromWhileOneOfThemHasNoAnswer() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            let reports = ReportResponder(storingIn: store)
            let channel = NIOAsyncTestingChannel()
            let reads = ReadCount()
            try await channel.testingEventLoop.executeInContext {
                let deadline = RequestDeadline(ServiceConfiguration.Deadlines())
                try channel.pipeline.syncOperations.addHandlers([reads, ReportByteHandler(reports, deadline, nil)])
            }
            try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).get()
            let before = reads.count.withLockedValue { $0 }
            let request = Self.request(ReportText.body())
            try await channel.writeInbound(ByteBuffer(bytes: request + request))
            await store.untilWriting()
            for _ in 0..<3 { channel.read() }
            await channel.testingEventLoop.run()
            #expect(reads.count.withLockedValue { $0 } == before)
            #expect(try await channel.readOutbound(as: ByteBuffer.self) == nil)
            store.open()
            for _ in 0..<2 {
                let answer = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
                #expect(String(buffer: answer).hasPrefix("HTTP/1.1 202"))
            }
            await channel.testingEventLoop.run()
            #expect(reads.count.withLockedValue { $0 } == before + 1)
            _ = try await channel.finish()
        }
    }
}

extension ReportResponder {
    /// A responder whose reports are not stored.
    static var storingNothing: ReportResponder {
        ReportResponder(storingIn: AbsentStore(StoreError(.absent, "a test without a database")))
    }

    /// A responder of a service with the usual configuration.
    init(storingIn store: any ServiceStore) {
        let parts = ServiceParts(
            ServiceConfiguration(), store: store, clock: TurnedClock(), instance: "test", logger: RunningService.silent)
        self.init(reports: parts.reports, source: parts.source, clock: parts.clock)
    }
}

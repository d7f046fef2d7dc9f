// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListServer
import Testing

@Suite("Bytes that no client sends")
struct HostileRequestTests {
    private static let host = "Host: localhost\r\n"
    private static let report = "POST /v1/reports HTTP/1.1\r\nHost: localhost\r\n"
    /// The request that a smuggler wants to have answered.
    private static let hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Heads that are refused, each with a request behind it that must not be served.
    private static let refused: [(name: String, bytes: String)] = [
        ("a length and chunks", report + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("two lengths that differ", report + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"),
        ("two lengths that agree", report + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde"),
        ("a list of lengths", report + "Content-Length: 5, 5\r\n\r\nabcde"),
        ("a length with a sign", report + "Content-Length: +5\r\n\r\nabcde"),
        ("a length below nothing", report + "Content-Length: -5\r\n\r\nabcde"),
        ("a length beyond numbers", report + "Content-Length: 99999999999999999999999\r\n\r\nabcde"),
        ("a length in another base", report + "Content-Length: 0x5\r\n\r\nabcde"),
        ("a folded encoding", report + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
        ("an unknown encoding", report + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        ("chunks inside something", report + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
        ("two encodings", report + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
        ("a chunk of no number", report + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
        ("a chunk beyond numbers", report + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc"),
        ("lines that end with LF", "GET /healthz HTTP/1.1\nHost: localhost\n\n"),
        ("a field that ends with LF", "GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n"),
        ("a CR in a field", "GET /healthz HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n"),
        ("a blank before the colon", "GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n"),
        ("a blank before the first field", "GET /healthz HTTP/1.1\r\n X: y\r\n\(host)\r\n"),
        ("a zero byte", "GET /healthz HTTP/1.1\r\n\(host)X: a\0b\r\n\r\n"),
        ("a field of 20 kB", "GET /healthz HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 20_000))\r\n\r\n"),
        (
            "a hundred fields",
            "GET /healthz HTTP/1.1\r\n\(host)" + (0..<100).map { "X\($0): a\r\n" }.joined() + "\r\n"
        ),
        ("a target of 100 kB", "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\n\(host)\r\n"),
        ("a line without end", String(repeating: "a", count: 1_000_000)),
        ("HTTP/2.0 in words", "GET /healthz HTTP/2.0\r\n\(host)\r\n"),
        ("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0"),
        ("an unknown method", "BREW /healthz HTTP/1.1\r\n\(host)\r\n"),
        ("a method in small letters", "get /healthz HTTP/1.1\r\n\(host)\r\n"),
        ("trailers of 100 kB", chunks("2\r\n{}\r\n0\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n")),
    ]

    private static func chunks(_ text: String) -> String { "\(report)Transfer-Encoding: chunked\r\n\r\n\(text)" }

    @Test("a head that can be read in two ways, or is too large, is refused once, and nothing behind it is seen")
    func headThatCanBeReadInTwoWaysOrIsTooLargeIsRefusedOnceAndNothingBehindItIsSeen() async throws {
        try await PublishedService.with { service in
            for (name, bytes) in Self.refused {
                let answer = try await service.ask(bytes + Self.hidden)
                #expect(answer.statuses == [400], "\(name): \(answer.text.prefix(300))")
                #expect(answer.isEnded, "\(name)")
                #expect(!answer.text.contains("alive"), "\(name)")
            }
            try await service.expectServing(after: "all of them")
        }
    }

    @Test("bytes that are no UTF-8: in the target 400, in a field and a body what is right there")
    func bytesThatAreNoUTF8InTheTarget400InAFieldAndABodyWhatIsRightThere() async throws {
        try await PublishedService.with { service in
            let target = try await service.ask(
                Array("GET /v1/".utf8) + [0xff, 0xfe] + Array(" HTTP/1.1\r\n\(Self.host)\r\n".utf8))
            #expect(target.statuses == [400] && target.isEnded)
            let encoded = try await service.ask("GET", "/v1/lists/%ff%fe/pins.json")
            #expect(encoded.statuses == [404])
            let broken = try await service.ask("GET", "/v1/lists/%zz/pins.json")
            #expect(broken.statuses == [404])
            let name = try await service.ask("PUT", "/v1/lists/%ff%fe")
            #expect(name.statuses == [401])
            let token = try await service.ask(
                Array("PUT /v1/lists/a HTTP/1.1\r\n\(Self.host)Connection: close\r\nAuthorization: Bearer ".utf8)
                    + [0xff, 0xfe] + Array("\r\n\r\n".utf8))
            #expect(token.statuses == [401])
            let tag = try await service.ask(
                Array("GET \(service.list) HTTP/1.1\r\n\(Self.host)Connection: close\r\nIf-None-Match: ".utf8)
                    + [0xff, 0xfe] + Array("\r\n\r\n".utf8))
            #expect(tag.statuses == [200])
            let body = try await service.ask("POST", "/v1/reports", body: [0x22, 0xff, 0xfe, 0x22])
            #expect(body.statuses == [400])
            #expect(body.text.contains("\"code\":\"not-json\""))
            try await service.expectServing(after: "all of them")
        }
    }

    @Test("targets: of another host, of none, of the whole server, through a tunnel")
    func targetsOfAnotherHostOfNoneOfTheWholeServerThroughATunnel() async throws {
        try await PublishedService.with { service in
            for (head, statuses) in [
                ("GET http://localhost/healthz HTTP/1.1\r\nHost: localhost", [200]),
                ("GET http://LOCALHOST/healthz HTTP/1.1\r\nHost: localhost", [200]),
                ("GET http://localhost/metrics HTTP/1.1\r\nHost: evil.example", [401]),
                ("GET /healthz HTTP/1.1", [400]), ("GET /healthz HTTP/1.1\r\nHost: ", [400]),
                ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost", [400]),
                ("GET /healthz HTTP/1.1\r\nHost: a b", [400]), ("GET /healthz HTTP/1.1\r\nHost: a/b", [400]),
                ("GET /metrics HTTP/1.1\r\nHost: evil.example", [401]),
                ("OPTIONS * HTTP/1.1\r\nHost: localhost", [400]), ("GET * HTTP/1.1\r\nHost: localhost", [400]),
                ("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost", [400]),
                ("GET /v1/lists/../../healthz HTTP/1.1\r\nHost: localhost", [404]),
                ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", [200]),
            ] {
                let answer = try await service.ask("\(head)\r\nConnection: close\r\n\r\n")
                #expect(answer.statuses == statuses, "\(head): \(answer.text.prefix(300))")
                #expect(answer.isEnded, "\(head)")
            }
            try await service.expectServing(after: "all of them")
        }
    }

    @Test("bodies: packed, deep, too long by their length and by their chunks, and longer than they say")
    func bodiesPackedDeepTooLongByTheirLengthAndByTheirChunksAndLongerThanTheySay() async throws {
        try await PublishedService.with { service in
            let packed = try await service.ask(
                "POST", "/v1/reports", "Content-Encoding: gzip\r\n", body: [0x1f, 0x8b, 8, 0, 0])
            #expect(packed.statuses == [415])
            let packedChunks = try await service.ask(
                Self.report + "Connection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n\u{1f}x\r\n0\r\n\r\n")
            #expect(packedChunks.statuses == [400])
            for text in ["[", "{\"a\":", "{\"tumbler\":{\"reason\":["] {
                let deep = Array(String(repeating: text, count: 20_000).utf8)
                let answer = try await service.ask("POST", "/v1/reports", body: deep)
                #expect(answer.statuses == [400], "\(text)")
                #expect(answer.text.contains("\"code\":\"not-json\""), "\(text)")
            }
            let announced = try await service.ask(Self.report + "Content-Length: 99999999\r\n\r\n")
            #expect(announced.statuses == [413] && announced.isEnded)
            let chunk = "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n"
            let chunks = try await service.ask(Self.chunks(String(repeating: chunk, count: 200)))
            #expect(chunks.statuses == [413] && chunks.isEnded)
            // The bytes after a body are the next request, and an invalid one.
            let long = try await service.ask(Self.report + "Content-Length: 2\r\n\r\n{}and more\r\n\r\n")
            #expect(long.statuses == [400, 400] && long.isEnded)
            try await service.expectServing(after: "all of them")
        }
    }

    @Test("a client that sends slowly, or less than announced, is cut off, even if more comes")
    func clientThatSendsSlowlyOrLessThanAnnouncedIsCutOffEvenIfMoreComes() async throws {
        func hurry(_ configuration: inout ServiceConfiguration) {
            configuration.deadlines.head = .milliseconds(300)
            configuration.deadlines.body = .milliseconds(300)
        }
        try await PublishedService.with(hurry) { service in
            for start in [
                "", "G", "GET /healthz HTTP/1.1\r\nX: ", Self.report + "Content-Length: 100000\r\n\r\n",
                Self.chunks("ffff\r\n"), Self.chunks("2;"),
            ] {
                let silent = try await service.ask(start)
                #expect(silent.isEnded && silent.bytes.isEmpty, "\(start): \(silent.text.prefix(300))")
                let dripping = try await RawConnection.talk(to: service.port) { connection in
                    connection.send(Array(start.utf8))
                    return connection.drip(UInt8(ascii: "a"), pause: 20)
                }
                // Letters are no method: that is said before the deadline.
                #expect(dripping.isEnded, "\(start)")
                #expect(dripping.statuses.allSatisfy { $0 == 400 }, "\(start): \(dripping.text.prefix(300))")
            }
            try await service.expectServing(after: "all of them")
        }
    }

    @Test("Expect: 100-continue is told to go on, unless the body is over every limit")
    func expect100ContinueIsToldToGoOnUnlessTheBodyIsOverEveryLimit() async throws {
        try await PublishedService.with { service in
            let answers = try await RawConnection.talk(to: service.port) { connection in
                let fields = "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
                connection.send(Array((Self.report + fields).utf8))
                let first = connection.read(until: "\r\n\r\n")
                connection.send(Array("{}".utf8))
                return (first, connection.rest())
            }
            #expect(answers.0.text == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(answers.1.statuses == [400] && answers.1.isEnded)
            let large = try await service.ask(
                Self.report + "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
            #expect(large.statuses == [413] && large.isEnded)
        }
    }

    @Test("a hundred requests at once are answered in their order, and what follows them on its own")
    func hundredRequestsAtOnceAreAnsweredInTheirOrderAndWhatFollowsThemOnItsOwn() async throws {
        try await PublishedService.with { service in
            let list = "GET \(service.list) HTTP/1.1\r\n\(Self.host)\r\n"
            let missing = "GET /v1/lists/none/pins.json HTTP/1.1\r\n\(Self.host)\r\n"
            let answer = try await service.ask(String(repeating: list + missing, count: 50) + "BAD\r\n\r\n")
            #expect(answer.statuses == (0..<50).flatMap { _ in [200, 404] } + [400])
            #expect(answer.isEnded)
            let last = try await service.ask(
                list + "GET \(service.root) HTTP/1.1\r\n\(Self.host)Connection: Close\r\n\r\n" + missing)
            #expect(last.statuses == [200, 200] && last.isEnded, "nothing after the last request is answered")
            // Lists are answered before the framework hears of them: not before the answers that are due before theirs.
            let alive = "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n"
            let mixed = try await service.ask(String(repeating: alive + missing + list, count: 50) + "BAD\r\n\r\n")
            #expect(mixed.statuses == (0..<50).flatMap { _ in [200, 404, 200] } + [400])
            let bodies = mixed.text.components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(
                bodies.enumerated().allSatisfy { index, text in
                    [text.contains("alive"), text.contains("not-found"), text.contains("payloadType")][index % 3]
                        || index == 150
                })
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer

@Suite("Questions about lists, answered where they arrive")
struct ListChannelHandlerTests {
    private static let list = "/v1/lists/com.example.app/pins.json"

    /// Runs `body` with a connection, the list that is served, and what counts questions.
    private func run(_ body: (EmbeddedChannel, [UInt8], ListRequestCounter) throws -> Void) async throws {
        let repository = try RepositorySimulator.story()
        let (lists, listRequests) = (ServedLists(anchors: repository.anchors), ListRequestCounter(seed: 1))
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            _ = try await lists.reload(from: store)
        }
        let responder = ListResponder(
            lists: lists, listRequests: listRequests, source: RequestSource(trustedProxies: [], edges: []),
            clock: TurnedClock())
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(ListChannelHandler(responder, .storingNothing))
        try body(channel, repository.lists[0], listRequests)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    private func send(
        _ channel: EmbeddedChannel, _ path: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
    ) throws {
        let request = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: path, headerFields: fields)
        try channel.writeInbound(HTTPRequestPart.head(request))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    /// Statuses of the answers that were sent, and their bodies one after the other.
    private func answers(_ channel: EmbeddedChannel) throws -> (statuses: [Int], bodies: [UInt8]) {
        var (statuses, bodies): ([Int], [UInt8]) = ([], [])
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
            switch part {
            case .head(let head): statuses.append(head.status.code)
            case .body(let buffer): bodies += Array(buffer.readableBytesView)
            case .end: break
            }
        }
        return (statuses, bodies)
    }

    /// The number of requests that were handed on.
    private func handedOn(_ channel: EmbeddedChannel) throws -> Int {
        var count = 0
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { if case .head = part { count += 1 } }
        return count
    }

    @Test("the list, the list that is held, its head, a root, the next root: no later handler sees them")
    func listTheListThatIsHeldItsHeadARootTheNextRootNoLaterHandlerSeesThem() async throws {
        try await self.run { channel, list, listRequests in
            try self.send(channel, Self.list)
            let whole = try self.answers(channel)
            #expect(whole.statuses == [200])
            #expect(whole.bodies == list)
            let tag = "\"\(Envelope.digest(of: list))\""
            try self.send(channel, Self.list, .get, [.ifNoneMatch: tag])
            try self.send(channel, Self.list, .head)
            #expect(try self.answers(channel) == ([304, 200], []))
            for path in ["root/1.json", "root/2.json"] { try self.send(channel, "/v1/lists/com.example.app/\(path)") }
            try self.send(channel, Self.list, .put)
            #expect(try self.answers(channel).statuses == [200, 404, 405])
            #expect(try self.handedOn(channel) == 0)
            #expect(listRequests.take().values.reduce(0, +) == 2)
        }
    }

    @Test("each answer says when it was given")
    func eachAnswerSaysWhenItWasGiven() async throws {
        try await self.run { channel, _, _ in
            try self.send(channel, Self.list)
            guard case .head(let head) = try channel.readOutbound(as: HTTPResponsePart.self) else {
                Issue.record("no head")
                return
            }
            #expect(head.headerFields[.date] == "Sat, 21 Nov 2026 00:00:00 GMT")
        }
    }

    @Test("a body that comes with the question is passed over, and the question has one answer, at its end")
    func bodyThatComesWithTheQuestionIsPassedOverAndTheQuestionHasOneAnswerAtItsEnd() async throws {
        try await self.run { channel, list, _ in
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: Self.list)
            try channel.writeInbound(HTTPRequestPart.head(request))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "GET /healthz HTTP/1.1")))
            #expect(try self.answers(channel).statuses == [])
            try channel.writeInbound(HTTPRequestPart.end(nil))
            #expect(try self.answers(channel) == ([200], list))
            #expect(try self.handedOn(channel) == 0)
        }
    }

    @Test("an answer does not overtake the one before it")
    func answerDoesNotOvertakeTheOneBeforeIt() async throws {
        try await self.run { channel, _, _ in
            try self.send(channel, "/healthz")
            try self.send(channel, Self.list)
            #expect(try self.answers(channel).statuses == [])
            #expect(try self.handedOn(channel) == 2)
            for status in [HTTPResponse.Status.ok, .notModified] {
                try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
                #expect(try self.answers(channel).statuses == [status.code])
                // As long as the second of them has no end, a third has to wait as well.
                if status == .notModified { try self.send(channel, Self.list) }
                try channel.writeOutbound(HTTPResponsePart.end(nil))
            }
            #expect(try self.handedOn(channel) == 1)
            #expect(try self.answers(channel).statuses == [])
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            try self.send(channel, Self.list)
            #expect(try self.answers(channel).statuses == [200])
            #expect(try self.handedOn(channel) == 0)
        }
    }

    @Test("a client that goes on asking, and takes no answer, is not answered here: nothing piles up")
    func clientThatGoesOnAskingAndTakesNoAnswerIsNotAnsweredHereNothingPilesUp() async throws {
        try await self.run { channel, _, _ in
            channel.isWritable = false
            for _ in 0..<3 { try self.send(channel, Self.list) }
            #expect(try self.answers(channel).statuses == [])
            #expect(try self.handedOn(channel) == 3)
        }
    }

    @Test("an ambiguous request, and one for no list, goes through the framework")
    func ambiguousRequestAndOneForNoListGoesThroughTheFramework() async throws {
        try await self.run { channel, _, _ in
            for path in ["/", "/v1/reports", "/v1/lists", "/v1/lists/com.example.app", "/v1/lists/pins.json"] {
                try self.send(channel, path)
                // Answered, so that the next one has nothing before it.
                try channel.writeOutbound(HTTPResponsePart.end(nil))
            }
            let twice: HTTPFields = [try #require(HTTPField.Name("Host")): "localhost"]
            try self.send(channel, Self.list, .get, twice)
            #expect(try self.handedOn(channel) == 6)
            #expect(try self.answers(channel).statuses == [])
        }
    }
}

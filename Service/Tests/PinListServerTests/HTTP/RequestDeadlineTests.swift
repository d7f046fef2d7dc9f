// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import PinListServer

@Suite("The deadlines of a connection")
struct RequestDeadlineTests {
    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/"))

    /// Runs `body` with a connection that may take 15 s for a head, 60 s for a body and 600 s for an answer.
    private func run(_ body: (EmbeddedChannel, EmbeddedEventLoop) throws -> Void) throws {
        let loop = EmbeddedEventLoop()
        let channel = EmbeddedChannel(handler: RequestDeadline(ServiceConfiguration.Deadlines()), loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try body(channel, loop)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("a client that opens a connection and sends nothing is disconnected after 15 s")
    func clientThatOpensAConnectionAndSendsNothingIsDisconnectedAfter15S() throws {
        try self.run { channel, loop in
            loop.advanceTime(by: .seconds(14))
            #expect(channel.isActive)
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("a body that comes byte by byte moves no deadline")
    func bodyThatComesByteByByteMovesNoDeadline() throws {
        try self.run { channel, loop in
            loop.advanceTime(by: .seconds(10))
            try channel.writeInbound(Self.head)
            for _ in 0..<59 {
                loop.advanceTime(by: .seconds(1))
                try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
                #expect(channel.isActive)
            }
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("an answer may take 600 s; after it the next head has 15 s again, and not the rest of those")
    func answerMayTake600SAfterItTheNextHeadHas15SAgainAndNotTheRestOfThose() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            loop.advanceTime(by: .seconds(599))
            #expect(channel.isActive)
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            loop.advanceTime(by: .seconds(14))
            #expect(channel.isActive)
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("an answer that takes longer ends the connection")
    func answerThatTakesLongerEndsTheConnection() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            loop.advanceTime(by: .seconds(600))
            #expect(!channel.isActive)
        }
    }

    @Test("a client that takes a large answer slowly has the time of the answer for it, and then that of a head")
    func clientThatTakesALargeAnswerSlowlyHasTheTimeOfTheAnswerForItAndThenThatOfAHead() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            // Written into the buffer, which the other side does not take.
            channel.write(HTTPResponsePart.end(nil), promise: nil)
            loop.advanceTime(by: .seconds(599))
            #expect(channel.isActive)
            channel.flush()
            loop.advanceTime(by: .seconds(14))
            #expect(channel.isActive)
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("a client that takes nothing of an answer is disconnected after 600 s all the same")
    func clientThatTakesNothingOfAnAnswerIsDisconnectedAfter600SAllTheSame() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.write(HTTPResponsePart.end(nil), promise: nil)
            loop.advanceTime(by: .seconds(600))
            #expect(!channel.isActive)
        }
    }

    @Test("of two answers the first to be taken moves no deadline")
    func ofTwoAnswersTheFirstToBeTakenMovesNoDeadline() throws {
        try self.run { channel, loop in
            for _ in 0..<2 {
                try channel.writeInbound(Self.head)
                try channel.writeInbound(HTTPRequestPart.end(nil))
            }
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            loop.advanceTime(by: .seconds(599))
            #expect(channel.isActive)
        }
    }

    @Test("requests that come behind an answer that nobody takes neither prolong its time nor shorten it")
    func requestsThatComeBehindAnAnswerThatNobodyTakesNeitherProlongItsTimeNorShortenIt() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            loop.advanceTime(by: .seconds(300))
            // A body that is not there yet.
            try channel.writeInbound(Self.head)
            loop.advanceTime(by: .seconds(290))
            #expect(channel.isActive)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            try channel.writeInbound(Self.head)
            loop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("the time of a request that came behind begins when the answer before it is taken")
    func timeOfARequestThatCameBehindBeginsWhenTheAnswerBeforeItIsTaken() throws {
        // Its body is there, and is not.
        for (isWhole, time) in [(true, 600), (false, 60)] as [(Bool, Int64)] {
            try self.run { channel, loop in
                try channel.writeInbound(Self.head)
                try channel.writeInbound(HTTPRequestPart.end(nil))
                try channel.writeInbound(Self.head)
                if isWhole { try channel.writeInbound(HTTPRequestPart.end(nil)) }
                loop.advanceTime(by: .seconds(500))
                try channel.writeOutbound(HTTPResponsePart.end(nil))
                loop.advanceTime(by: .seconds(time - 1))
                #expect(channel.isActive)
                loop.advanceTime(by: .seconds(1))
                #expect(!channel.isActive)
            }
        }
    }

    @Test("the end of a body that was answered before begins no time of an answer")
    func endOfABodyThatWasAnsweredBeforeBeginsNoTimeOfAnAnswer() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            loop.advanceTime(by: .seconds(14))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("a service that ends closes a connection without a request at once")
    func serviceThatEndsClosesAConnectionWithoutARequestAtOnce() throws {
        try self.run { channel, _ in
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            #expect(!channel.isActive)
        }
        try self.run { channel, _ in
            try channel.writeInbound(Self.head)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            #expect(!channel.isActive)
        }
    }

    @Test(
        "a service that ends waits for a request that was begun, and for its answer to be taken, and no longer than 20 s"
    )
    func serviceThatEndsWaitsForARequestThatWasBegunAndForItsAnswerToBeTaken() throws {
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            loop.advanceTime(by: .seconds(10))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.write(HTTPResponsePart.end(nil), promise: nil)
            loop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
            channel.flush()
            #expect(!channel.isActive)
        }
        try self.run { channel, loop in
            try channel.writeInbound(Self.head)
            loop.advanceTime(by: .seconds(7))
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            loop.advanceTime(by: .seconds(19))
            #expect(channel.isActive)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            loop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("a client that asks in time is never disconnected")
    func clientThatAsksInTimeIsNeverDisconnected() throws {
        try self.run { channel, loop in
            for _ in 0..<100 {
                loop.advanceTime(by: .seconds(14))
                try channel.writeInbound(Self.head)
                try channel.writeInbound(HTTPRequestPart.end(nil))
                try channel.writeOutbound(HTTPResponsePart.end(nil))
                #expect(channel.isActive)
            }
        }
    }
}

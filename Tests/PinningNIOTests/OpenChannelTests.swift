// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

/// A clock whose time of day is set while time goes on by another one, as a device's does.
private final class SetClock: PinningClock, Sendable {
    private struct Times {
        var now: Timestamp
        /// The time that event loops see after a number of looks more.
        var next: (time: Timestamp, looks: Int)?
    }

    let uptime = ManualClock(Timestamp(secondsSince1970: 0))
    private let times: NIOLockedValueBox<Times>

    init(_ time: Timestamp) { self.times = NIOLockedValueBox(Times(now: time)) }

    var now: Timestamp {
        let isOnLoop = MultiThreadedEventLoopGroup.currentEventLoop != nil
        return self.times.withLockedValue { times in
            guard isOnLoop, let next = times.next else { return times.now }
            times.next?.looks = max(0, next.looks - 1)
            return next.looks == 0 ? next.time : times.now
        }
    }

    /// Sets the time of day.
    func set(_ time: Timestamp) { self.times.withLockedValue { $0 = Times(now: time) } }

    /// Sets the time of day for event loops, once they have looked at it a number of times more: what another thread does
    /// meanwhile comes between no two of them.
    func set(_ time: Timestamp, afterLooks looks: Int) { self.times.withLockedValue { $0.next = (time, looks) } }

    func sleep(seconds: Double) async throws { try await self.uptime.sleep(seconds: seconds) }
}

/// What a user of a pinned channel is told.
private final class Told: ChannelInboundHandler, Sendable {
    typealias InboundIn = NIOAny
    /// The verdict on the connection when it was announced.
    let announced = NIOLockedValueBox<PinningDecision.Verdict?>(nil)
    let retirements = NIOLockedValueBox<[PinningDecision.Reason]>([])
    private let isClosing: Bool
    private let isFlushing: Bool

    /// - Parameters:
    ///   - isClosing: Whether it closes the channel when it is announced.
    ///   - isFlushing: Whether it flushes when it gets an error.
    init(isClosing: Bool = false, isFlushing: Bool = false) {
        self.isClosing = isClosing
        self.isFlushing = isFlushing
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            context.channel.pinningDecision().whenSuccess { decision in
                self.announced.withLockedValue { $0 = decision?.verdict }
            }
            if self.isClosing { context.close(promise: nil) }
        }
        if let event = event as? PinnedConnectionRetirement {
            self.retirements.withLockedValue { $0.append(event.decision.reason) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard self.isFlushing else { return context.close(promise: nil) }
        context.writeAndFlush(NIOAny(ByteBuffer(string: "more")), promise: nil)
    }
}

@Suite("A raw channel, on which no request asks for the verdict again")
struct OpenChannelTests {
    static let host = "api.example.com"
    private static let now = Timestamp(secondsSince1970: TestPKI.now)

    /// Connects to a server.
    ///
    /// - Parameter meanwhile: What is done between the end of the handshake and the verdict's handler.
    private static func connect(
        _ scene: PinnedScene, to server: LoopbackServer, _ told: Told,
        meanwhile: (@Sendable () async throws -> Void)? = nil
    ) async throws -> any Channel {
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls.addHandlers(to: channel, for: Self.host, port: server.port)
                    let pipeline = channel.pipeline.syncOperations
                    if let meanwhile {
                        let handshake = try pipeline.handler(type: NIOSSLClientHandler.self)
                        try pipeline.addHandler(SlowHandshake(meanwhile), position: .after(handshake))
                    }
                    try pipeline.addHandler(told)
                }
            }
            .connect(host: "127.0.0.1", port: server.port).get()
    }

    /// Waits for the end of the minute in which nothing looks, and of the half minute that a refused connection has.
    private static func expectEnd(of channel: any Channel, _ told: Told, after clock: SetClock) async throws {
        clock.uptime.advance(by: 60)
        await clock.uptime.untilSleeping()
        clock.uptime.advance(by: 30)
        try await channel.closeFuture.get()
        #expect(told.retirements.withLockedValue { $0.count } == 1)
    }

    @Test("ends within a minute when a clock that was ahead had ended its entry")
    func endsWithinAMinuteWhenAClockThatWasAheadHadEndedItsEntry() async throws {
        let pki = try TestPKI([Self.host])
        let clock = SetClock(Self.now.advanced(by: 7_200))
        let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
        let scene = try PinnedScene(
            [entry], roots: [pki.root], { $0.domains[0].entry.expiresAt = Self.now.advanced(by: 3_600) },
            configure: { $0.clock = clock })
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let told = Told()
            let channel = try await Self.connect(scene, to: server, told)
            await clock.uptime.untilSleeping()
            // On its event loop, and so after it was announced.
            #expect(try await channel.pinningDecision().get()?.verdict == .allow)
            clock.set(Self.now)
            try await Self.expectEnd(of: channel, told, after: clock)
        }
    }

    @Test("ends within a minute after its list has expired, where the app asks for that")
    func endsWithinAMinuteAfterItsListHasExpiredWhereTheAppAsksForThat() async throws {
        let pki = try TestPKI([Self.host])
        let clock = SetClock(Self.now)
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root],
            configure: {
                $0.clock = clock
                $0.whenStale = .deny
            })
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let told = Told()
            let channel = try await Self.connect(scene, to: server, told)
            await clock.uptime.untilSleeping()
            // On its event loop, and so after it was announced.
            #expect(try await channel.pinningDecision().get()?.verdict == .allow)
            clock.set(scene.clock.now.advanced(by: RepositorySimulator.listValidity))
            try await Self.expectEnd(of: channel, told, after: clock)
            #expect(scene.pinning.decisionCounts == [.pinMatch: 1, .noMatchingPin: 1])
        }
    }

    @Test("that was refused at the end of its handshake sends nothing that was written before, though it is flushed")
    func thatWasRefusedAtTheEndOfItsHandshakeSendsNothingThatWasWrittenBeforeThoughItIsFlushed() async throws {
        let pki = try TestPKI([Self.host])
        let strange = PinnedScene.strangePin
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let (written, isWritten) = AsyncStream.makeStream(of: Void.self)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let channel = try await Self.connect(scene, to: server, Told(isFlushing: true)) {
                var wait = written.makeAsyncIterator()
                await wait.next()
                try await scene.publish { $0.domains[0].entry.pins = [KnownPin(strange)] }
            }
            channel.eventLoop.execute {
                channel.write(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"), promise: nil)
                isWritten.yield()
            }
            try await channel.closeFuture.get()
            await server.untilOpen(0)
            #expect(server.counts.requestBytes == 0)
        }
    }

    @Test("whose suspension ends between two looks at the clock is announced while it is allowed, or never")
    func whoseSuspensionEndsBetweenTwoLooksAtTheClockIsAnnouncedWhileItIsAllowedOrNever() async throws {
        let pki = try TestPKI([Self.host])
        let until = Self.now.advanced(by: 3_600)
        let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            var (announced, refused) = (0, 0)
            for looks in 0..<24 {
                let clock = SetClock(until.advanced(by: -1))
                let scene = try PinnedScene(
                    [entry], roots: [pki.root],
                    { $0.suspended = [Suspension(.everything, until: until, reason: "incident")] },
                    configure: { $0.clock = clock })
                clock.set(until, afterLooks: looks)
                let told = Told(isClosing: true)
                try await Self.connect(scene, to: server, told).closeFuture.get()
                switch told.announced.withLockedValue({ $0 }) {
                case .allow?: announced += 1
                case nil: refused += 1
                case .block?: Issue.record("announced after \(looks) looks at the clock, and refused by then")
                }
            }
            #expect(announced > 0 && refused > 0, "\(announced) announced, \(refused) refused")
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Relays bytes between a client and a server, and ends a connection after as many bytes as it is told, in any message
/// and at any place in it.
final class CuttingRelay: Sendable {
    /// In which direction bytes are counted.
    enum Direction: Sendable, CaseIterable { case toServer, toClient }

    /// What is done to new connections.
    struct Plan: Sendable {
        /// After how many bytes in a direction the client is cut off; `nil` for never.
        var cut: (direction: Direction, bytes: Int)?
        /// Whether it is cut off by a reset rather than an end.
        var resets = false
        /// Whether bytes are delivered one by one, each in a turn of the event loop of its own.
        var dribbles = false
        /// How many connections are relayed; those after them wait for ``answerHeld(_:)``. `nil` for all.
        var relayed: Int?
    }

    private struct Held {
        var accepted = 0
        var waiting: [EventLoopPromise<Void>] = []
        var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
    }

    private let plan = NIOLockedValueBox(Plan())
    private let held = NIOLockedValueBox(Held())
    private let maximum = NIOLockedValueBox([Direction: Int]())
    private let listener: NIOLockedValueBox<(any Channel)?> = NIOLockedValueBox(nil)
    private let target: Int

    private init(_ target: Int) { self.target = target }

    /// Runs a relay to a port of loopback while something is done with it.
    static func with<Result>(to target: Int, _ body: (CuttingRelay) async throws -> Result) async throws -> Result {
        let relay = CuttingRelay(target)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { relay.initialize($0) }
            .bind(host: "127.0.0.1", port: 0).get()
        relay.listener.withLockedValue { $0 = channel }
        do {
            let result = try await body(relay)
            relay.answerHeld(.failure(ChannelError.eof))
            try await channel.close()
            return result
        } catch {
            relay.answerHeld(.failure(ChannelError.eof))
            try? await channel.close()
            throw error
        }
    }

    /// The port, chosen by the system.
    var port: Int { self.listener.withLockedValue { $0?.localAddress?.port } ?? 0 }

    /// What is done to connections from now on.
    func set(_ plan: Plan) { self.plan.withLockedValue { $0 = plan } }

    /// The most bytes that went in a direction on one connection.
    func maximumBytes(_ direction: Direction) -> Int { self.maximum.withLockedValue { $0[direction] ?? 0 } }

    fileprivate func note(_ bytes: Int, _ direction: Direction) {
        self.maximum.withLockedValue { $0[direction] = max($0[direction] ?? 0, bytes) }
    }

    /// Waits until so many connections wait.
    func untilHeld(_ count: Int) async {
        await withCheckedContinuation { wake in
            let isOver = self.held.withLockedValue { held in
                if held.waiting.count >= count { return true }
                held.watchers.append((count, wake))
                return false
            }
            if isOver { wake.resume() }
        }
    }

    /// The number of connections that were accepted so far.
    var accepted: Int { self.held.withLockedValue { $0.accepted } }

    /// Whether a connection waits.
    var isHolding: Bool { self.held.withLockedValue { !$0.waiting.isEmpty } }

    /// Relays the connections that wait, or closes them.
    func answerHeld(_ result: Result<Void, any Error> = .success(())) {
        let waiting = self.held.withLockedValue { held in
            defer { held.waiting = [] }
            return held.waiting
        }
        for promise in waiting { promise.completeWith(result) }
    }

    private func initialize(_ client: any Channel) -> EventLoopFuture<Void> {
        let plan = self.plan.withLockedValue { $0 }
        let promise = client.eventLoop.makePromise(of: Void.self)
        let (isHeld, due) = self.held.withLockedValue { held in
            held.accepted += 1
            guard let relayed = plan.relayed, held.accepted > relayed else {
                return (false, [CheckedContinuation<Void, Never>]())
            }
            held.waiting.append(promise)
            let due = held.watchers.filter { $0.count <= held.waiting.count }.map(\.wake)
            held.watchers = held.watchers.filter { $0.count > held.waiting.count }
            return (true, due)
        }
        if !isHeld { promise.succeed() }
        for wake in due { wake.resume() }
        return promise.futureResult.flatMap { self.relay(client, plan) }
    }

    private func relay(_ client: any Channel, _ plan: Plan) -> EventLoopFuture<Void> {
        // Both ends on one event loop: what one reads, the other writes at once.
        return ClientBootstrap(group: client.eventLoop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(End(self, plan, .toClient, of: client, to: client))
                }
            }
            .connect(host: "127.0.0.1", port: self.target)
            .flatMapThrowing { server in
                do {
                    try client.pipeline.syncOperations.addHandler(End(self, plan, .toServer, of: client, to: server))
                } catch {
                    server.close(promise: nil)
                    throw error
                }
            }
    }

    /// One end: what is read here is written at the other.
    private final class End: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let relay: CuttingRelay
        let plan: Plan
        let direction: Direction
        let client: any Channel
        let other: any Channel
        var bytes = 0

        init(
            _ relay: CuttingRelay, _ plan: Plan, _ direction: Direction, of client: any Channel,
            to other: any Channel
        ) {
            self.relay = relay
            self.plan = plan
            self.direction = direction
            self.client = client
            self.other = other
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var data = self.unwrapInboundIn(data)
            if let cut = self.plan.cut, cut.direction == self.direction {
                data = data.readSlice(length: min(data.readableBytes, max(0, cut.bytes - self.bytes))) ?? data
            }
            self.bytes += data.readableBytes
            self.relay.note(self.bytes, self.direction)
            if self.plan.dribbles {
                while let byte = data.readSlice(length: 1) {
                    let other = self.other
                    context.eventLoop.execute { other.writeAndFlush(byte, promise: nil) }
                }
            } else {
                self.other.writeAndFlush(data, promise: nil)
            }
            self.cutIfDue()
        }

        func cutIfDue() {
            guard let cut = self.plan.cut, cut.direction == self.direction, self.bytes >= cut.bytes else { return }
            if self.plan.resets { self.client.resetOnClose() }
            self.client.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { self.other.close(promise: nil) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif

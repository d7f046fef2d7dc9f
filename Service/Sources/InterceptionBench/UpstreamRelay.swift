// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// Passes the bytes of one side on to the other, as they are.
final class UpstreamRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The time for which a connection stays open that the next ones are to follow, after the server has answered.
    private static let briefTime = TimeAmount.seconds(1)

    private let other: any Channel
    private let tally: InterceptionTally?
    private let isBrief: Bool
    private var records = TLSRecordCount()
    private var isEnding = false

    /// - Parameters:
    ///   - other: The other side.
    ///   - tally: The counter of the bytes of requests, on the client's side.
    ///   - isBrief: Whether both sides are closed soon after something came.
    private init(_ other: any Channel, _ tally: InterceptionTally?, isBrief: Bool) {
        self.other = other
        self.tally = tally
        self.isBrief = isBrief
    }

    /// Connects to a server on behalf of a client. Nothing is read from the server before the client's side is there.
    ///
    /// - Parameters:
    ///   - tally: The counter of the client's bytes; `nil` where they are not counted.
    ///   - isBrief: Whether the connection is closed soon after the server's first answer.
    /// - Returns: The handler for the client's channel.
    static func connect(
        _ client: any Channel, to address: String, _ port: Int, _ tally: InterceptionTally?, isBrief: Bool
    ) -> EventLoopFuture<NIOLoopBound<UpstreamRelay>> {
        ClientBootstrap(group: client.eventLoop)
            .connectTimeout(.seconds(10))
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    let relay = UpstreamRelay(client, nil, isBrief: isBrief)
                    try server.pipeline.syncOperations.addHandler(relay)
                }
            }
            .connect(host: address, port: port)
            .map { server in
                client.closeFuture.whenComplete { _ in server.close(promise: nil) }
                return NIOLoopBound(UpstreamRelay(server, tally, isBrief: false), eventLoop: client.eventLoop)
            }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        if let tally { tally.count(requestBytes: self.records.take(bytes.readableBytesView)) }
        self.other.writeAndFlush(bytes, promise: nil)
        // While the other side has not taken its bytes, no more are read.
        if !self.other.isWritable {
            try? context.channel.syncOptions?.setOption(.autoRead, value: false)
            let channel = context.channel
            self.other.flushed().whenComplete { _ in
                channel.setOption(.autoRead, value: true).whenFailure { _ in }
            }
        }
        guard self.isBrief, !self.isEnding else { return }
        self.isEnding = true
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.briefTime) { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { self.other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension Channel {
    /// The completion of all writes until now.
    fileprivate func flushed() -> EventLoopFuture<Void> { self.writeAndFlush(ByteBuffer()) }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOSSL

/// Makes the channel of a connection that waits for its verdict unwritable, so that a streamed body waits where it is
/// (formats.md, section 4).
///
/// A channel is unwritable while bytes wait in the socket's own queue, and no handler can say so in any other way. So
/// the gate lets one byte of what it holds go as far as that: encrypted, written, and never flushed. This handler stands
/// between TLS and the socket and swallows every flush, TLS's own included, until the verdict.
final class WriteBrake: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    /// The marks under which a single record is too much.
    private static let lowest = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 1)

    private let usual: ChannelOptions.Types.WriteBufferWaterMark
    private var context: ChannelHandlerContext?
    private var isHolding = true

    private init(usual: ChannelOptions.Types.WriteBufferWaterMark) { self.usual = usual }

    /// Puts a brake between a channel's TLS handler and its socket. On the event loop.
    ///
    /// - Throws: What the pipeline or the channel says; then nothing brakes.
    static func put(before tls: NIOSSLClientHandler, on channel: any Channel) throws -> WriteBrake {
        guard let options = channel.syncOptions else { throw ChannelError.operationUnsupported }
        let brake = WriteBrake(usual: try options.getOption(.writeBufferWaterMark))
        try channel.pipeline.syncOperations.addHandler(brake, position: .before(tls))
        try options.setOption(.writeBufferWaterMark, value: Self.lowest)
        return brake
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func flush(context: ChannelHandlerContext) { if !self.isHolding { context.flush() } }

    /// Lets flushes through from now on. What waits is sent with the next one.
    func release() {
        self.isHolding = false
        try? self.context?.channel.syncOptions?.setOption(.writeBufferWaterMark, value: self.usual)
    }

    /// Sends what waits, and leaves the pipeline.
    func leave() {
        self.context?.flush()
        guard let context = self.context else { return }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Closes the channel. What waits is dropped: TLS says no farewell, which would be sent behind it.
    func close(_ promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.succeed()
            return
        }
        context.close(mode: .all, promise: promise)
    }
}
#endif

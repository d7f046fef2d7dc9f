// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOSSL

/// Makes the channel of a connection that waits for its verdict unwritable, so that a streamed body waits at its source
/// (formats.md, section 4).
///
/// A channel is unwritable while bytes wait in the socket's own queue, and no handler can cause that in any other way.
/// So the gate writes one held byte ahead: encrypted, written, and never flushed. This handler stands
/// between TLS and the socket and swallows every flush, TLS's own included, until the verdict.
final class WriteBrake: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    /// The watermarks that a single record exceeds.
    private static let lowest = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 1)

    private let usual: ChannelOptions.Types.WriteBufferWaterMark
    private var context: ChannelHandlerContext?
    private var isHolding = true

    private init(usual: ChannelOptions.Types.WriteBufferWaterMark) { self.usual = usual }

    /// Puts a brake between a channel's TLS handler and its socket. On the event loop.
    ///
    /// - Throws: The error of the pipeline or the channel; then there is no brake.
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

    /// Lets flushes through from now on. Waiting bytes are sent with the next one.
    func release() {
        self.isHolding = false
        try? self.context?.channel.syncOptions?.setOption(.writeBufferWaterMark, value: self.usual)
    }

    /// Sends the waiting bytes, and leaves the pipeline.
    func leave() {
        self.context?.flush()
        guard let context = self.context else { return }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Closes the channel and drops the waiting bytes. TLS sends no `close_notify`, which would follow them.
    func close(_ promise: EventLoopPromise<Void>?) {
        guard let context = self.context else {
            promise?.succeed()
            return
        }
        context.close(mode: .all, promise: promise)
    }
}
#endif

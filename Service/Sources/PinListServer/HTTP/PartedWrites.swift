// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL

/// Hands large writes to TLS in parts, each when the one before it was handed to the system.
///
/// TLS encrypts all that it gets at once, and a client that takes a large list slowly would have an encrypted copy of its own
/// of it for as long. What waits here is not encrypted, and the same for all.
///
/// While something waits nothing more is read: a channel is writable again with the rest of a part that its client does not
/// take, and what such a client asks for would wait here without end.
final class PartedWrites: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The maximum length of a part, in bytes: more than a channel holds while it still is writable, so that those who ask
    /// whether it is mostly see that a client takes nothing.
    static let partBytes = 131_072

    private struct Write {
        var bytes: ByteBuffer
        let promise: EventLoopPromise<Void>?
    }

    /// A large write, or what is left of it, and what was written behind it.
    private var waiting = CircularBuffer<Write>()
    /// The number of these, from the first one, that were flushed.
    private var flushed = 0
    /// Whether a part was not handed to the system yet.
    private var isPartOut = false
    private var isSending = false
    /// Whether a read was asked for while something waited.
    private var isReadHeld = false
    /// The end of the output, which waits for what was flushed before it.
    private var end: (isWanted: Bool, promise: EventLoopPromise<Void>?) = (false, nil)

    /// Adds one where a pipeline has TLS.
    static func add(to pipeline: ChannelPipeline.SynchronousOperations) {
        guard let tls = try? pipeline.handler(type: NIOSSLServerHandler.self) else { return }
        try? pipeline.addHandler(PartedWrites(), position: .after(tls))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = self.unwrapOutboundIn(data)
        guard bytes.readableBytes > Self.partBytes || !self.waiting.isEmpty else {
            return context.write(data, promise: promise)
        }
        self.waiting.append(Write(bytes: bytes, promise: promise))
    }

    func flush(context: ChannelHandlerContext) {
        self.flushed = self.waiting.count
        context.flush()
        self.send(context)
    }

    func read(context: ChannelHandlerContext) {
        if self.flushed > 0 { self.isReadHeld = true } else { context.read() }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output, self.flushed > 0 {
            if let promise, let first = self.end.promise {
                first.futureResult.cascade(to: promise)
            } else {
                self.end = (true, self.end.promise ?? promise)
            }
            return
        }
        if mode == .all { self.drop(ChannelError.ioOnClosedChannel) }
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.drop(ChannelError.ioOnClosedChannel) }

    /// Writes parts for as long as the system takes them at once: in a loop, because there may be thousands.
    private func send(_ context: ChannelHandlerContext) {
        guard !self.isSending else { return }
        self.isSending = true
        defer { self.isSending = false }
        while !self.isPartOut, self.flushed > 0, var next = self.waiting.popFirst() {
            let length = min(next.bytes.readableBytes, Self.partBytes)
            let part = next.bytes.readSlice(length: length) ?? ByteBuffer()
            let isLast = next.bytes.readableBytes == 0
            if isLast { self.flushed -= 1 } else { self.waiting.prepend(next) }
            self.isPartOut = true
            let promise = isLast ? next.promise : nil
            let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.whenComplete { result in
                bound.value.handler.partIsOut(result, promise, bound.value.context)
            }
            context.writeAndFlush(self.wrapOutboundOut(part), promise: written)
        }
        guard self.flushed == 0 else { return }
        if self.isReadHeld {
            self.isReadHeld = false
            context.read()
        }
        guard self.end.isWanted else { return }
        let promise = self.end.promise
        self.end = (false, nil)
        context.close(mode: .output, promise: promise)
    }

    private func partIsOut(
        _ result: Result<Void, any Error>, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        self.isPartOut = false
        promise?.completeWith(result)
        if case .failure(let error) = result { self.drop(error) }
        self.send(context)
    }

    /// Lets go of what waits.
    private func drop(_ error: any Error) {
        let (waiting, end) = (self.waiting, self.end)
        (self.waiting, self.flushed, self.end) = ([], 0, (false, nil))
        for write in waiting { write.promise?.fail(error) }
        end.promise?.fail(error)
    }
}

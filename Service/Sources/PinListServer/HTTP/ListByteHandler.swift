// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PinListStore

/// Answers requests for lists from their bytes, before they are decoded, with answers whose bytes were made before.
///
/// A connection is answered here as long as it asks nothing else: the first byte that belongs to another kind of request,
/// or that leaves anything in doubt, goes on to the decoder untouched, and so does all that follows. So there is never a
/// question which of the two has read how much of a request.
final class ListByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The bytes of answers that are flushed before the next request is looked at, and not with the last one of a read. Over
    /// TLS a channel knows behind a flush alone that its client takes nothing, and encrypts all of it at once: what one read
    /// brings may ask for a large list a thousand times.
    static let flushedBytes = 65_536

    private let lists: ListResponder
    private let deadline: RequestDeadline
    private let asker: ListResponder.Asker
    /// Whether something came that is not answered here.
    private var isOver = false
    /// The last bytes of the last answer: written when it is known that no other follows.
    private var last: ByteBuffer?
    /// Answers that were not handed to the system yet, and their bytes.
    private var answers = 0
    private var unflushed = 0

    /// A handler for one connection.
    ///
    /// - Parameters:
    ///   - lists: The responder.
    ///   - deadline: The deadline that closes the connection when it asks, or takes its answers, slowly.
    ///   - asker: The other end of the connection.
    init(_ lists: ListResponder, _ deadline: RequestDeadline, _ asker: ListResponder.Asker) {
        self.lists = lists
        self.deadline = deadline
        self.asker = asker
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isOver else { return context.fireChannelRead(data) }
        var bytes = self.unwrapInboundIn(data)
        while bytes.readableBytes > 0 {
            // Nothing piles up for a client that does not take its answers: the long way holds back what it reads.
            guard context.channel.isWritable, let head = ListRequestHead(bytes),
                let answer = self.lists.answer(to: head, from: self.asker)
            else {
                self.isOver = true
                self.writeLast(context)
                context.fireChannelRead(self.wrapInboundOut(bytes))
                return
            }
            bytes.moveReaderIndex(forwardBy: head.length)
            self.write(answer, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.writeLast(context)
        context.fireChannelReadComplete()
    }

    private func write(_ answer: PreparedResponse, _ context: ChannelHandlerContext) {
        let (head, body) = answer.bytes(at: self.lists.clock.now)
        if let last { context.write(self.wrapOutboundOut(last), promise: nil) }
        if body != nil { context.write(self.wrapOutboundOut(head), promise: nil) }
        self.last = body ?? head
        self.answers += 1
        self.deadline.began(1)
        self.unflushed += head.readableBytes + (body?.readableBytes ?? 0)
        if self.unflushed >= Self.flushedBytes { self.writeLast(context) }
    }

    /// Writes the end of all answers so far: when it was handed to the system, they were.
    private func writeLast(_ context: ChannelHandlerContext) {
        guard let last else { return }
        let (deadline, answers) = (NIOLoopBound(self.deadline, eventLoop: context.eventLoop), self.answers)
        self.last = nil
        self.answers = 0
        self.unflushed = 0
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenSuccess { deadline.value.answered(answers) }
        context.writeAndFlush(self.wrapOutboundOut(last), promise: written)
    }
}

extension ListRequestHead {
    /// Reads the head at the begin of some bytes; `nil` for what is none of this kind, or has no end among them.
    init?(_ bytes: ByteBuffer) {
        guard let head = bytes.withUnsafeReadableBytes({ ListRequestHead(reading: $0) }) else { return nil }
        self = head
    }
}

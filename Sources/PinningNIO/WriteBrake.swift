// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOSSL

/// Makes the channel of a connection that waits for its verdict unwritable, so that a streamed body waits at its source
/// (formats.md, section 4, and [0074](../../docs/decisions/0074-a-channel-is-unwritable-by-its-marks.md)).
///
/// SwiftNIO calls a channel unwritable from the moment when more bytes wait in the socket's queue than its high mark, and
/// writable again when a flush leaves fewer than its low mark. No byte can wait there before the verdict, because the
/// handshake needs the queue. So the marks are set below zero: an empty write is above the high one, and no flush is
/// below the low one.
struct WriteBrake {
    private typealias Marks = ChannelOptions.Types.WriteBufferWaterMark

    /// Marks that an empty queue exceeds.
    ///
    /// `unsafeBitCast`, because the initialiser refuses marks under which a channel never becomes writable. That is what
    /// is needed here, until ``release()`` puts the usual ones back. `nil` where marks are not a pair of integers.
    private static let exceeded =
        MemoryLayout<Marks>.size == MemoryLayout<(Int, Int)>.size
        ? unsafeBitCast((low: -1, high: -1), to: Marks.self) : nil

    private let usual: Marks
    private let options: any NIOSynchronousChannelOptions
    /// The TLS handler's: what is written from there is not encrypted.
    private let context: ChannelHandlerContext

    /// Makes a channel unwritable. On the event loop.
    ///
    /// - Parameters:
    ///   - tls: The channel's TLS handler.
    ///   - channel: The channel.
    /// - Returns: The brake; `nil` for a channel that is unwritable by a brake already, is closed, or is no socket.
    static func pull(below tls: NIOSSLClientHandler, on channel: any Channel) -> WriteBrake? {
        // Channels that are no sockets end the process when they are asked for an option that they do not have.
        guard channel is any SocketOptionProvider, let options = channel.syncOptions,
            let usual = try? options.getOption(.writeBufferWaterMark), usual.low > 0,
            let context = try? channel.pipeline.syncOperations.context(handler: tls),
            let exceeded = Self.exceeded,
            (try? options.setOption(.writeBufferWaterMark, value: exceeded)) != nil
        else { return nil }
        context.write(Self.nothing(channel), promise: nil)
        return WriteBrake(usual: usual, options: options, context: context)
    }

    /// Makes the channel writable as soon as its queue allows it, and tells its handlers. Marks that were set meanwhile stay.
    func release() {
        if let marks = try? self.options.getOption(.writeBufferWaterMark), marks.low < 1 {
            try? self.options.setOption(.writeBufferWaterMark, value: self.usual)
        }
        self.context.writeAndFlush(Self.nothing(self.context.channel), promise: nil)
    }

    private static func nothing(_ channel: any Channel) -> NIOAny { NIOAny(channel.allocator.buffer(capacity: 0)) }
}
#endif

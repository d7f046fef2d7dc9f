// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOTLS

/// Keeps the end of a handshake from the handlers behind it until something was done.
final class SlowHandshake: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    private let isClosing: Bool
    private let meanwhile: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - isClosing: Whether it closes the channel afterwards, when all handlers were told.
    ///   - meanwhile: What is done.
    init(isClosing: Bool = false, _ meanwhile: @escaping @Sendable () async throws -> Void) {
        self.isClosing = isClosing
        self.meanwhile = meanwhile
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted(let name)? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { [meanwhile] in try await meanwhile() }.whenComplete { _ in
            let (handler, context) = bound.value
            context.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: name))
            if handler.isClosing { context.close(promise: nil) }
        }
    }
}
#endif

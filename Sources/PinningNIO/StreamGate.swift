// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import PinListClient

/// A handler in a stream of HTTP/2 that cannot be admitted before its request is written: it fails the request on a refused
/// connection, lets none begin on a retired one, and checks its host. The connection's gate holds the bytes that are
/// written before the verdict.
///
/// The stream is never failed before AsyncHTTPClient has begun its request on it, which would stop the process; from
/// then on our error becomes the request's.
final class StreamGate: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The gate of a connection that waits for its verdict.
    private let gate: ConnectionGate?
    private let allowed: PinnedConnection?
    private let check: RequestCheck
    private var refusal: (any Error)?
    private var context: ChannelHandlerContext?
    private var isFirstWrite = true

    /// Creates a handler for a stream of a connection that waits behind a gate.
    init(behind gate: ConnectionGate, _ check: RequestCheck) {
        self.gate = gate
        self.allowed = nil
        self.check = check
    }

    /// Creates a handler for a stream of a connection that was allowed.
    init(on connection: PinnedConnection, _ check: RequestCheck) {
        self.gate = nil
        self.allowed = connection
        self.check = check
    }

    private var connection: PinnedConnection? { self.allowed ?? self.gate?.connection }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.gate?.streamOpened()
        self.gate?.whenDecided { result in
            switch result {
            case .success: if !self.isFirstWrite, self.context != nil { self.check.admit() }
            case .failure(let error): self.refuse(error)
            }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.gate?.streamClosed()
    }

    private func refuse(_ error: any Error) {
        self.refusal = error
        if !self.isFirstWrite { self.context?.fireErrorCaught(error) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let refusal { return self.fail(refusal, promise, context) }
        if self.isFirstWrite {
            self.isFirstWrite = false
            // Not a byte of the request was sent.
            guard self.connection?.mayTakeRequest() ?? true else {
                self.refusal = ConnectionRetiredError()
                return self.fail(ConnectionRetiredError(), promise, context)
            }
            if self.check.mayRefuse, case .head(let head) = self.unwrapOutboundIn(data),
                let refusal = self.check.refusal(of: head)
            {
                self.refusal = refusal
                return self.fail(refusal, promise, context)
            }
            if self.connection != nil { self.check.admit() }
        }
        context.write(data, promise: promise)
    }

    private func fail(_ error: any Error, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        promise?.fail(error)
        context.fireErrorCaught(error)
    }
}
#endif

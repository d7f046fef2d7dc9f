// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import PinListClient

/// A handler in a stream of HTTP/2: it fails its request on a refused connection, lets none begin on a retired one, and
/// marks the response. The connection's gate holds the bytes that are written before the verdict.
///
/// The stream is never failed before AsyncHTTPClient has begun its request on it, which would stop the process; from
/// then on our error becomes the request's.
final class StreamGate: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let gate: ConnectionGate
    /// The check whether the request is for the host that the connection is evaluated for.
    private let hosts: RequestHostCheck?
    /// Whether the head of the response is still to be marked.
    private var marksResponse: Bool
    private var refusal: (any Error)?
    private var context: ChannelHandlerContext?
    private var isFirstWrite = true

    init(gate: ConnectionGate, hosts: RequestHostCheck?, marksResponse: Bool) {
        self.gate = gate
        self.hosts = hosts
        self.marksResponse = marksResponse
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.gate.streamOpened()
        // The connection of nearly every stream was allowed long ago.
        guard self.gate.connection == nil else { return }
        self.gate.whenDecided { result in
            if case .failure(let error) = result { self.refuse(error) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.gate.streamClosed()
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
            guard self.gate.connection?.mayTakeRequest() ?? true else {
                return self.fail(ConnectionRetiredError(), promise, context)
            }
            if let hosts, case .head(let head) = self.unwrapOutboundIn(data), let refusal = hosts.refusal(of: head) {
                self.refusal = refusal
                return self.fail(refusal, promise, context)
            }
        }
        context.write(data, promise: promise)
    }

    private func fail(_ error: any Error, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        promise?.fail(error)
        context.fireErrorCaught(error)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.marksResponse, case .head(var head) = self.unwrapInboundIn(data), self.gate.connection != nil
        else { return context.fireChannelRead(data) }
        head.version.mark()
        if head.status.code >= 200 { self.marksResponse = false }
        context.fireChannelRead(self.wrapInboundOut(.head(head)))
    }
}
#endif

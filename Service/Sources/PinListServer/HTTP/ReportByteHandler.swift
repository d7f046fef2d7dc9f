// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import NIOCore
internal import PinListStore
internal import PinReportAnalysis

/// Takes reports from the bytes of their requests, before they are decoded: the way through the framework costs several
/// times as much as reading the report and storing it.
///
/// A request is taken here when all of it came at once and its head leaves nothing in doubt. The first byte that belongs to
/// any other request, and all that follow, go the long way.
///
/// The answer comes when the report is stored. Until then nothing more is taken from the connection, so answers keep the
/// order of their requests. What is held for a connection is what one read brought: where nothing came behind a report, one
/// more may come in this time, so that the system is not told to stop and to go on for each request.
final class ReportByteHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let reports: ReportResponder
    private let deadline: RequestDeadline
    private let peer: IPAddress?
    /// Whether something came that is not taken here.
    private var isOver = false
    /// Whether a report has no answer yet.
    private var isWaiting = false
    /// Whether the channel asked for more while a report had no answer.
    private var isReadWanted = false
    /// Whether the client said that it sends no more while a report had no answer.
    private var isInputClosed = false
    /// The first error while a report had no answer: over TLS the end of what a client sends may be one.
    private var error: (any Error)?
    /// Bytes that came and were not looked at.
    private var held: ByteBuffer?

    /// A handler for one connection.
    ///
    /// - Parameters:
    ///   - reports: The responder.
    ///   - deadline: The deadline that closes the connection when it asks, or takes its answers, slowly.
    ///   - peer: The address of the other end of the connection; `nil` where that is no IP address.
    init(_ reports: ReportResponder, _ deadline: RequestDeadline, _ peer: IPAddress?) {
        self.reports = reports
        self.deadline = deadline
        self.peer = peer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isOver else { return context.fireChannelRead(data) }
        var bytes = self.unwrapInboundIn(data)
        if self.held == nil { self.held = bytes } else { self.held?.writeBuffer(&bytes) }
    }

    /// One read of the system, or of TLS, may come in parts: they are looked at together.
    func channelReadComplete(context: ChannelHandlerContext) {
        self.look(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.held = nil
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        if self.isWaiting, self.held != nil { self.isReadWanted = true } else { context.read() }
    }

    /// The end of what a client sends ends a connection, and so does an error. They come behind the requests before them, and
    /// their answers.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if self.isWaiting, event as? ChannelEvent == .inputClosed {
            self.isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard self.isWaiting else { return context.fireErrorCaught(error) }
        if self.error == nil { self.error = error }
    }

    private func look(_ context: ChannelHandlerContext) {
        guard !self.isWaiting, let bytes = self.held, bytes.readableBytes > 0 else { return }
        guard context.channel.isWritable, let head = ReportRequestHead(bytes),
            let body = bytes.getBytes(at: bytes.readerIndex + head.length, length: head.bodyLength)
        else {
            self.isOver = true
            self.held = nil
            return context.fireChannelRead(self.wrapInboundOut(bytes))
        }
        var rest = bytes
        rest.moveReaderIndex(forwardBy: head.length + head.bodyLength)
        self.held = rest.readableBytes > 0 ? rest : nil
        self.isWaiting = true
        self.deadline.began(1)
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        self.reports.take(body, head, from: self.peer) { answer in
            bound.eventLoop.execute { bound.value.handler.write(answer, bound.value.context) }
        }
    }

    /// Writes an answer, and goes on with what came behind its request.
    private func write(_ answer: PreparedResponse, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let (head, body) = answer.bytes(at: self.reports.clock.now)
        var bytes = head
        if let body { bytes.writeImmutableBuffer(body) }
        let deadline = NIOLoopBound(self.deadline, eventLoop: context.eventLoop)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenSuccess { deadline.value.answered(1) }
        context.writeAndFlush(self.wrapOutboundOut(bytes), promise: written)
        self.isWaiting = false
        self.look(context)
        if self.isOver { context.fireChannelReadComplete() }
        guard !self.isWaiting else { return }
        if let error = self.error {
            self.error = nil
            context.fireErrorCaught(error)
        }
        if self.isInputClosed {
            self.isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        guard self.isReadWanted else { return }
        self.isReadWanted = false
        context.read()
    }
}

extension ReportRequestHead {
    /// Reads the head at the begin of some bytes; `nil` for what is none of this kind, or has no end among them.
    init?(_ bytes: ByteBuffer) {
        guard let head = bytes.withUnsafeReadableBytes({ ReportRequestHead(reading: $0) }) else { return nil }
        self = head
    }
}

/// Takes reports whose bodies are there.
struct ReportResponder: Sendable {
    let reports: ReportRoute
    let source: RequestSource
    let clock: any ServiceClock

    private static let accepted = PreparedResponse(.accepted, [.contentLength: "0"])

    /// Takes a report.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - head: The head of its request.
    ///   - peer: The address of the other end of the connection; `nil` where that is no IP address.
    ///   - answered: The closure that gets the answer when the report is stored, or is not: on any thread, once.
    func take(
        _ body: [UInt8], _ head: ReportRequestHead, from peer: IPAddress?,
        answered: @escaping @Sendable (PreparedResponse) -> Void
    ) {
        let address = self.source.address(forwardedFor: head.forwardedFor, forwarded: head.forwarded, peer: peer)
        self.reports.take(body, from: address.flatMap { SourceAddress(bytes: $0.bytes) }) { result in
            switch result {
            case .success(let fields): answered(fields.map { PreparedResponse(.accepted, $0) } ?? Self.accepted)
            case .failure(let problem): answered(problem.ready)
            }
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server of HTTP on loopback that keeps what it was sent, and answers as a test says: the other side of `publish`,
/// `release`, `probe --push` and `status`.
final class RecordingService: Sendable {
    /// A request that was read to its end.
    struct Request: Sendable {
        let method: String
        let path: String
        let headers: HTTPHeaders
        let body: [UInt8]
    }

    /// The answer to a request.
    enum Answer: Sendable {
        /// An answer with headers and a body.
        case says(Int, [String: String], String)
        /// A body without an end.
        case endless
        /// Nothing, and the connection stays open.
        case silence
        /// The connection is closed.
        case cut

        /// JSON, as the service answers when all is well.
        static func json(_ status: Int, _ body: String) -> Answer {
            .says(status, ["Content-Type": "application/json"], body)
        }

        /// An error of the service (RFC 9457).
        static func problem(_ status: Int, _ code: String, _ detail: String) -> Answer {
            .says(
                status, ["Content-Type": "application/problem+json"],
                #"{"title": "no", "status": \#(status), "code": "\#(code)", "detail": "\#(detail)"}"#)
        }
    }

    private let answer: @Sendable (Request) -> Answer
    private let kept = NIOLockedValueBox<[Request]>([])
    private let listener = NIOLockedValueBox<(any Channel)?>(nil)

    private init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    /// Runs a server while something is done with it.
    static func with<Result>(
        _ answer: @escaping @Sendable (Request) -> Answer, _ body: (RecordingService) async throws -> Result
    ) async throws -> Result {
        let service = RecordingService(answer)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answerer(service))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        service.listener.withLockedValue { $0 = channel }
        do {
            let result = try await body(service)
            try await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    /// The requests so far.
    var requests: [Request] { self.kept.withLockedValue { $0 } }

    /// The requests of one method.
    func requests(_ method: String) -> [Request] { self.requests.filter { $0.method == method } }

    /// The base address.
    var address: String { "http://127.0.0.1:\(self.listener.withLockedValue { $0?.localAddress?.port } ?? 0)" }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private static let part = ByteBuffer(repeating: UInt8(ascii: "x"), count: 65_536)

        private let service: RecordingService
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ service: RecordingService) { self.service = service }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): (self.head, self.body) = (head, [])
            case .body(let bytes): self.body += bytes.readableBytesView
            case .end:
                guard let head else { return }
                let request = Request(
                    method: head.method.rawValue, path: head.uri, headers: head.headers, body: self.body)
                self.service.kept.withLockedValue { $0.append(request) }
                self.answer(self.service.answer(request), context)
            }
        }

        private func answer(_ answer: Answer, _ context: ChannelHandlerContext) {
            switch answer {
            case .silence: break
            case .cut: context.close(promise: nil)
            case .endless:
                let headers = HTTPHeaders([("Transfer-Encoding", "chunked"), ("Content-Type", "application/json")])
                let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
                context.write(self.wrapOutboundOut(.head(head)), promise: nil)
                self.writeOn(context)
            case .says(let status, let members, let text):
                var headers = HTTPHeaders(Array(members))
                headers.add(name: "Content-Length", value: "\(text.utf8.count)")
                let head = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
                context.write(self.wrapOutboundOut(.head(head)), promise: nil)
                context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        /// Writes until the reader has gone.
        private func writeOn(_ context: ChannelHandlerContext) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.whenSuccess { bound.value.0.writeOn(bound.value.1) }
            context.writeAndFlush(self.wrapOutboundOut(.body(.byteBuffer(Self.part))), promise: written)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

extension URL {
    /// Writes a token into this folder, readable by its owner alone.
    func writeToken(_ secret: String = "tumbler_0123456789abcdef_00ff", as name: String = "token") throws {
        let file = try self.write(secret + "\n", as: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}

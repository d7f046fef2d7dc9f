// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// The two answers that there are, with the fields that the service sends.
struct PreparedAnswers: Sendable {
    /// The validator, with its quotation marks.
    let tag: String
    /// The head of 200.
    let whole: HTTPResponseHead
    /// The file.
    let body: ByteBuffer
    /// 304.
    let notModified: HTTPResponseHead

    /// Reads the file.
    ///
    /// - Parameter tag: The validator, with its quotation marks.
    init(path: String, tag: String) throws {
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        let date = ("Date", "Sat, 21 Nov 2026 00:00:00 GMT")
        let validators = [("ETag", tag), ("Cache-Control", "public, max-age=300")]
        let length = [("Content-Type", "application/json"), ("Content-Length", "\(content.count)")]
        self.tag = tag
        self.body = ByteBuffer(bytes: content)
        self.whole = HTTPResponseHead(
            version: .http1_1, status: .ok,
            headers: HTTPHeaders(validators + length + [("X-Content-Type-Options", "nosniff"), date]))
        self.notModified = HTTPResponseHead(
            version: .http1_1, status: .notModified, headers: HTTPHeaders(validators + [date]))
    }
}

/// Answers each request with one of them.
final class PreparedAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answers: PreparedAnswers
    private var isHeld = false

    /// A handler for one connection.
    init(_ answers: PreparedAnswers) { self.answers = answers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head): self.isHeld = head.headers.first(name: "if-none-match") == self.answers.tag
        case .body: break
        case .end:
            let head = self.isHeld ? self.answers.notModified : self.answers.whole
            context.write(self.wrapOutboundOut(.head(head)), promise: nil)
            if !self.isHeld { context.write(self.wrapOutboundOut(.body(.byteBuffer(self.answers.body))), promise: nil) }
            context.write(self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
}

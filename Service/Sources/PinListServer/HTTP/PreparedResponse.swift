// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTP1

/// An answer that was prepared before the request: its head with the `Date` of this second, and its body.
final class PreparedResponse: Sendable {
    /// A head as it is at a time.
    private struct Dated: Sendable {
        let time: Timestamp
        let head: HTTPResponse
        let bytes: (head: ByteBuffer, body: ByteBuffer?)
    }

    /// The maximum length of a body that stands in one buffer with the head, which is copied once a second. A longer
    /// one is written beside it.
    static let maximumCopied = 65_536

    /// The bytes that follow the head, if any.
    let body: ByteBuffer?

    private let undated: HTTPResponse
    private let dated: NIOLockedValueBox<Dated?>

    /// An answer whose fields state its length, where it has a body.
    init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: ByteBuffer? = nil) {
        self.undated = HTTPResponse(status: status, headerFields: fields)
        self.dated = NIOLockedValueBox(nil)
        self.body = body
    }

    /// The head at a time (RFC 9110, section 6.6.1: an origin server that has a clock states it).
    func head(at time: Timestamp) -> HTTPResponse { self.dated(at: time).head }

    /// The answer as it is sent over HTTP/1.1: a head, with the body in it or beside it.
    func bytes(at time: Timestamp) -> (head: ByteBuffer, body: ByteBuffer?) { self.dated(at: time).bytes }

    private func dated(at time: Timestamp) -> Dated {
        self.dated.withLockedValue { dated in
            if let dated, dated.time == time { return dated }
            var head = self.undated
            head.headerFields[.date] = HTTPDate.text(of: time)
            let new = Dated(time: time, head: head, bytes: self.bytes(head))
            dated = new
            return new
        }
    }

    /// The head as the framework's encoder writes it: a test compares the two.
    private func bytes(_ head: HTTPResponse) -> (head: ByteBuffer, body: ByteBuffer?) {
        var text = "HTTP/1.1 \(head.status.code) \(head.status.reason)\r\n"
        for field in head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        var bytes = ByteBuffer(string: text + "\r\n")
        guard var body, body.readableBytes <= Self.maximumCopied else { return (bytes, self.body) }
        bytes.writeBuffer(&body)
        return (bytes, nil)
    }

    /// The same for the framework, which adds a date of its own.
    var response: Response {
        Response(
            status: self.undated.status, headers: self.undated.headerFields,
            body: self.body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
    }
}

extension HTTPResponse.Status {
    /// The reason phrase; of a status that was made from its number alone, too.
    var reason: String {
        self.reasonPhrase.isEmpty ? HTTPResponseStatus(statusCode: self.code).reasonPhrase : self.reasonPhrase
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers
internal import NIOCore

/// An answer that was made before anybody asked: its head with the `Date` of this second, and its body.
final class ReadyAnswer: Sendable {
    /// What follows the head, if anything.
    let body: ByteBuffer?

    private let undated: HTTPResponse
    private let dated: NIOLockedValueBox<(time: Timestamp, head: HTTPResponse)?>

    /// An answer whose fields state its length, where it has a body.
    init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: ByteBuffer? = nil) {
        self.undated = HTTPResponse(status: status, headerFields: fields)
        self.dated = NIOLockedValueBox(nil)
        self.body = body
    }

    /// The head at a time (RFC 9110, section 6.6.1: an origin server that has a clock states it).
    func head(at time: Timestamp) -> HTTPResponse {
        self.dated.withLockedValue { dated in
            if let dated, dated.time == time { return dated.head }
            var head = self.undated
            head.headerFields[.date] = HTTPDate.text(of: time)
            dated = (time, head)
            return head
        }
    }

    /// The same for the framework, which adds a date of its own.
    var response: Response {
        Response(
            status: self.undated.status, headers: self.undated.headerFields,
            body: self.body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
    }
}

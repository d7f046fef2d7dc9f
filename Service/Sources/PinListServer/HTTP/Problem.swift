// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PinListMetadata
internal import PinListStore

/// An error as `application/problem+json` (RFC 9457).
struct Problem: Error, HTTPResponseError {
    /// The status.
    let status: HTTPResponse.Status
    /// The kind of problem, lower case with hyphens: what programs look at.
    let code: String
    /// The problem and the next step, in a sentence without a full stop.
    let detail: String
    /// Further fields of the answer.
    var headers: HTTPFields = [:]
    /// Members of its own (RFC 9457, section 3.2).
    var members: [JSONValue.Member] = []

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, headers: HTTPFields = [:]) {
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers
    }

    /// The answer.
    var response: Response { self.ready.response }

    /// The answer, to be given again and again.
    var ready: PreparedResponse {
        let body = JSONValue.object(
            [
                .init("type", .string("about:blank")), .init("title", .string(self.status.reason)),
                .init("status", .integer(Int64(self.status.code))), .init("code", .string(self.code)),
                .init("detail", .string(self.detail)),
            ] + self.members
        ).bytes
        var fields = self.headers
        fields[.contentType] = "application/problem+json"
        fields[.contentLength] = "\(body.count)"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        return PreparedResponse(self.status, fields, ByteBuffer(bytes: body))
    }

    func response(from request: Request, context: some RequestContext) throws -> Response { self.response }

    /// A 404 for a thing that does not exist.
    static func notFound(_ what: String) -> Problem { Problem(.notFound, "not-found", what) }

    /// The time after which to come back to a store that does not answer, in seconds.
    static let unavailableSeconds: Int64 = 30

    /// The store does not answer: what was accepted before is safe. This was not accepted, unless the code says that even
    /// that is unknown.
    static func unavailable(_ error: any Error) -> Problem {
        let code = (error as? StoreError)?.code ?? .unavailable
        return Problem(
            .serviceUnavailable, "store-\(code)",
            code == .unknownOutcome
                ? "whether the store made this change is not known; look, or ask for it once more"
                : "the store does not take it now; try again later",
            headers: [.retryAfter: "\(Self.unavailableSeconds)"])
    }
}

extension Response {
    /// JSON.
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        let bytes = value.bytes
        return Response(
            status: status,
            headers: [
                .contentType: "application/json", .contentLength: "\(bytes.count)", .cacheControl: "no-store",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Bytes of some type that must not be cached for other clients.
    static func bytes(_ bytes: [UInt8], _ type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: type, .contentLength: "\(bytes.count)", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

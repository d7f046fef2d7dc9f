// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1

extension Request {
    /// The whole body, within a limit that is looked at before a byte is read where the length is told.
    ///
    /// - Throws: ``Problem``: 413 over the limit, 415 for a body with a content encoding: its decoded size is not known
    ///   before.
    /// - Parameter arrived: The closure that gets the number of bytes before they are kept, and throws when there is no
    ///   room for them.
    func body(upTo limit: Int, arrived: (Int) throws -> Void = { _ in }) async throws -> [UInt8] {
        if let encoding = self.headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType, "encoded", "a body with Content-Encoding is not accepted; send it unencoded",
                headers: [.acceptEncoding: "identity"])
        }
        let tooLarge = Problem(
            .contentTooLarge, "too-large", "the body is over \(limit) bytes", headers: [.connection: "close"])
        if let length = self.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        var bytes: [UInt8] = []
        var parts = self.body.makeAsyncIterator()
        while let buffer = try await Self.next(of: &parts) {
            guard bytes.count + buffer.readableBytes <= limit else { throw tooLarge }
            try arrived(buffer.readableBytes)
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    /// The next part of a body. That its sender goes away before its end is no mistake of the service.
    private static func next(of parts: inout RequestBody.AsyncIterator) async throws -> ByteBuffer? {
        do { return try await parts.next() } catch let error
            where error is HTTPParserError || error is CancellationError
        {
            throw error
        } catch {
            throw Problem(
                .badRequest, "malformed", "the body broke off before its end", headers: [.connection: "close"])
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PinListClient
import PinListMetadata

/// Fetches roots and lists over HTTP/1.1, under the system's default validation: no pin, no cookie, no credentials.
///
/// Small on purpose, and the command line's own: Foundation's URLSession cannot be linked into a program of one file, and
/// on Linux some answers of a server make it stop the process.
struct HTTPClient: ListFetcher {
    private static let userAgent = "tumbler"

    /// The longest wait for the first byte of an answer, in seconds.
    var firstByteSeconds = FetchRequest.firstByteSeconds
    /// The longest wait for all of it, in seconds.
    var totalSeconds = FetchRequest.totalSeconds

    /// Gets a resource.
    ///
    /// - Throws: ``PinListClient/FetchFailure``.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        let hasAnswered = NIOLockedValueBox(false)
        return try await withThrowingTaskGroup(of: FetchResponse.self) { group in
            group.addTask { try await self.follow(request, hasAnswered) }
            group.addTask {
                try await Task.sleep(for: .seconds(self.firstByteSeconds))
                guard hasAnswered.withLockedValue({ $0 }) else { throw Self.timeout(self.firstByteSeconds) }
                try await Task.sleep(for: .seconds(self.totalSeconds - self.firstByteSeconds))
                throw Self.timeout(self.totalSeconds)
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw FetchFailure(.network, "nothing was asked") }
            return first
        }
    }

    private static func timeout(_ seconds: Double) -> FetchFailure {
        FetchFailure(.timeout, "the server did not answer within \(seconds) s")
    }

    private func follow(
        _ request: FetchRequest, _ hasAnswered: NIOLockedValueBox<Bool>
    ) async throws -> FetchResponse {
        var address = request.address
        for _ in 0...FetchRequest.redirects {
            guard ReportAddress.isAllowed(address), let url = URLComponents(string: address), let host = url.host else {
                let isFirst = address == request.address
                throw FetchFailure(
                    isFirst ? .network : .redirect,
                    isFirst ? "the address is no https URL" : "it redirects to an address that is not https")
            }
            let (head, body) = try await self.exchange(url, host, request, hasAnswered)
            guard [301, 302, 303, 307, 308].contains(head.status.code) else {
                let retryAfter = head.headers.first(name: "Retry-After").flatMap { Double($0) }
                return FetchResponse(status: Int(head.status.code), body: body, retryAfter: retryAfter)
            }
            guard let location = head.headers.first(name: "Location"), let base = url.url,
                let next = URL(string: location, relativeTo: base)
            else { throw FetchFailure(.redirect, "it redirects to nowhere") }
            address = next.absoluteString
        }
        throw FetchFailure(.redirect, "over \(FetchRequest.redirects) redirects")
    }

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    private func exchange(
        _ url: URLComponents, _ host: String, _ request: FetchRequest, _ hasAnswered: NIOLockedValueBox<Bool>
    ) async throws -> (HTTPResponseHead, [UInt8]) {
        let isPlain = url.scheme?.lowercased() == "http"
        // Foundation keeps the brackets of an IPv6 address.
        let name = host.trimmingCharacters(in: ["[", "]"])
        let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
        let context = isPlain ? nil : try NIOSSLContext(configuration: .makeClientConfiguration())
        do {
            let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(.seconds(Int64(FetchRequest.firstByteSeconds)))
                .connect(host: name, port: url.port ?? (isPlain ? 80 : 443)) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let context {
                            // A name that is an address is compared with the certificate's addresses.
                            let handler = try NIOSSLClientHandler(
                                context: context, serverHostname: isAddress ? nil : name)
                            try channel.pipeline.syncOperations.addHandler(handler)
                        }
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        return try Connection(wrappingChannelSynchronously: channel)
                    }
                }
            return try await connection.executeThenClose { inbound, outbound in
                // In one write: a server may answer to the head, and close, before a second one is made.
                try await outbound.write(contentsOf: [.head(self.head(url, host, request)), .end(nil)])
                return try await self.read(inbound, most: request.maximumBytes, hasAnswered)
            }
        } catch let failure as FetchFailure {
            throw failure
        } catch {
            throw FetchFailure(.network, "\(name): \(error)")
        }
    }

    private func head(_ url: URLComponents, _ host: String, _ request: FetchRequest) -> HTTPRequestHead {
        let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
        var headers = HTTPHeaders()
        headers.add(name: "Host", value: url.port.map { "\(host):\($0)" } ?? host)
        headers.add(name: "User-Agent", value: Self.userAgent)
        headers.add(name: "Accept-Encoding", value: "identity")
        headers.add(name: "Connection", value: "close")
        if let ifNoneMatch = request.ifNoneMatch { headers.add(name: "If-None-Match", value: ifNoneMatch) }
        let query = url.percentEncodedQuery.map { "?\($0)" } ?? ""
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: path + query, headers: headers)
    }

    /// Reads one answer, and no more of it than is asked for.
    private func read(
        _ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>, most: Int,
        _ hasAnswered: NIOLockedValueBox<Bool>
    ) async throws -> (HTTPResponseHead, [UInt8]) {
        var head: HTTPResponseHead?
        var body: [UInt8] = []
        for try await part in inbound {
            switch part {
            case .head(let received):
                head = received
                hasAnswered.withLockedValue { $0 = true }
            case .body(let bytes):
                guard body.count + bytes.readableBytes <= most else {
                    throw FetchFailure(.tooLarge, "the answer is over \(most) bytes")
                }
                body += bytes.readableBytesView
            case .end:
                guard let head else { break }
                return (head, body)
            }
        }
        throw FetchFailure(.network, "the connection ended before the answer did")
    }
}

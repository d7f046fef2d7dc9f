// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
public import NIOPosix
public import NIOSSL
import PinFailureReports
public import PinListClient
@_spi(Adapters) import PinListMetadata

/// Fetches lists and sends reports with AsyncHTTPClient, under default validation alone: no pin applies, so that a bad
/// list cannot keep out its replacement.
public final class HTTPClientFetcher: ListFetcher, ReportSender {
    /// The number of bytes that are read of an answer to a report: its status and its fields count.
    private static let answerBytes = 65_536
    private static let userAgent = "tumbler"

    private let client: HTTPClient
    private let firstByteSeconds: Double
    private let totalSeconds: Double
    private let directing: @Sendable (inout HTTPClientRequest) -> Void

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - tls: The TLS settings, for a list server under a private root.
    ///   - proxy: The proxy to go through.
    ///   - group: The event loops.
    /// - Throws: `PinningSetupError.Code.configuration` for settings that do not verify.
    public convenience init(
        tls: TLSConfiguration, proxy: HTTPClient.Configuration.Proxy? = nil,
        on group: MultiThreadedEventLoopGroup = .singleton
    ) throws {
        try PinnedTLS.check(tls)
        self.init(group, tls, proxy, FetchRequest.firstByteSeconds, FetchRequest.totalSeconds)
    }

    /// A fetcher with the defaults.
    public convenience init() {
        self.init(
            .singleton, .makeClientConfiguration(), nil, FetchRequest.firstByteSeconds, FetchRequest.totalSeconds)
    }

    /// A fetcher with other limits, for tests that cannot wait.
    convenience init(
        _ group: MultiThreadedEventLoopGroup, _ tls: TLSConfiguration, _ proxy: HTTPClient.Configuration.Proxy?,
        _ firstByteSeconds: Double, _ totalSeconds: Double
    ) {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.proxy = proxy
        self.init(
            configuration, on: group, firstByteSeconds: firstByteSeconds, totalSeconds: totalSeconds,
            directing: { _ in })
    }

    /// A fetcher for a tool that says where connections go.
    ///
    /// - Parameters:
    ///   - configuration: TLS, the proxy, and which names are elsewhere. Redirects, retries and the connect timeout are
    ///     set here.
    ///   - group: The event loops.
    ///   - firstByteSeconds: The longest wait for a connection, and for the first byte of an answer.
    ///   - totalSeconds: The longest wait for a whole answer.
    ///   - directing: Changes each request, those after redirects too, before it is sent: another port, say.
    @_spi(Tools) public init(
        _ configuration: HTTPClient.Configuration, on group: MultiThreadedEventLoopGroup = .singleton,
        firstByteSeconds: Double = FetchRequest.firstByteSeconds, totalSeconds: Double = FetchRequest.totalSeconds,
        directing: @escaping @Sendable (inout HTTPClientRequest) -> Void
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = Self.amount(firstByteSeconds)
        // A failure is returned at once; the schedule of refreshes does the waiting.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Nothing is kept between two refreshes that are hours apart.
        configuration.connectionPool.idleTimeout = .seconds(5)
        configuration.http2ConnectionDebugInitializer = { channel in
            HTTP2StatusWatch.watch(channel)
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        self.client = HTTPClient(eventLoopGroup: group, configuration: configuration)
        self.firstByteSeconds = firstByteSeconds
        self.totalSeconds = totalSeconds
        self.directing = directing
    }

    deinit { self.client.shutdown { _ in } }

    /// Gets a resource.
    ///
    /// - Throws: `FetchError`.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        var message = HTTPClientRequest(url: request.address)
        // Lists are never compressed, so the counted bytes are those that were sent.
        message.headers.add(name: "Accept-Encoding", value: "identity")
        if let ifNoneMatch = request.ifNoneMatch { message.headers.add(name: "If-None-Match", value: ifNoneMatch) }
        return try await self.run(message, maximumBytes: request.maximumBytes)
    }

    /// Posts a report. Of the answer's body, however long it is, only a little is read.
    ///
    /// - Throws: `FetchError`.
    public func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        var message = HTTPClientRequest(url: address)
        message.method = .POST
        message.headers.add(name: "Content-Type", value: Report.contentType)
        message.body = .bytes(body)
        return try await self.run(message, maximumBytes: Self.answerBytes, isCut: true)
    }

    /// Sends a request within the times. A longer body is a failure, or is cut off.
    private func run(
        _ message: HTTPClientRequest, maximumBytes: Int, isCut: Bool = false
    ) async throws -> FetchResponse {
        do {
            return try await withThrowingTaskGroup(of: FetchResponse.self) { group in
                group.addTask { try await self.follow(message, maximumBytes, isCut) }
                group.addTask {
                    try await SystemClock().sleep(seconds: self.totalSeconds)
                    throw Self.timeout(self.totalSeconds)
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw FetchError(.network, "no request was made") }
                return first
            }
        } catch let failure as FetchError {
            throw failure
        } catch let error as HTTPClientError
            where [.deadlineExceeded, .connectTimeout, .tlsHandshakeTimeout].contains(error)
        {
            throw Self.timeout(self.firstByteSeconds)
        } catch {
            let limits = NetworkProblem.Limits(
                connect: Self.amount(self.firstByteSeconds), answer: Self.amount(self.totalSeconds))
            throw FetchError(.network, NetworkProblem(error, limits).description)
        }
    }

    private static func amount(_ seconds: Double) -> TimeAmount {
        .milliseconds(Int64(exactly: (seconds * 1_000).rounded()) ?? 0)
    }

    private static func timeout(_ seconds: Double) -> FetchError {
        FetchError(.timeout, "the server did not answer within \(seconds) s")
    }

    private func follow(
        _ message: HTTPClientRequest, _ maximumBytes: Int, _ isCut: Bool
    ) async throws -> FetchResponse {
        var message = message
        message.headers.add(name: "User-Agent", value: Self.userAgent)
        guard ReportAddress.isAllowed(message.url) else {
            throw FetchError(.network, "the address is not an https URL")
        }
        let deadline = NIODeadline.now() + Self.amount(self.firstByteSeconds)
        for _ in 0...FetchRequest.redirects {
            var directed = message
            self.directing(&directed)
            let response = try await self.client.execute(directed, deadline: deadline)
            guard [301, 302, 303, 307, 308].contains(response.status.code),
                let location = response.headers.first(name: "Location")
            else { return try await self.read(response, maximumBytes, isCut) }
            guard let base = URL(string: message.url),
                let next = URL(string: location, relativeTo: base)?.absoluteString,
                ReportAddress.isAllowed(next, redirectedFrom: message.url)
            else { throw FetchError(.redirect, "it redirects to this machine, or to an address that is not https") }
            message.url = next
        }
        throw FetchError(.redirect, "over \(FetchRequest.redirects) redirects")
    }

    private func read(
        _ response: HTTPClientResponse, _ maximumBytes: Int, _ isCut: Bool
    ) async throws -> FetchResponse {
        var body: [UInt8] = []
        for try await bytes in response.body {
            guard body.count + bytes.readableBytes <= maximumBytes else {
                if isCut { break }
                throw FetchError(.tooLarge, "the answer is over \(maximumBytes) bytes")
            }
            body += bytes.readableBytesView
        }
        let retryAfter = response.headers.first(name: "Retry-After").flatMap { RetryAfter($0) }
        return FetchResponse(status: Int(clamping: response.status.code), body: body, retryAfter: retryAfter)
    }
}
#endif

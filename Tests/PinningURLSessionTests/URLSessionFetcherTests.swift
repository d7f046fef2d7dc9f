// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListClient
import PinningTesting
import Testing

@testable import PinningURLSession

@Suite("Fetching with URLSession", .enabled(if: HTTPServer.python != nil, "python3 is not installed"))
struct URLSessionFetcherTests {
    private var expectations: FetcherExpectations<URLSessionFetcher> {
        FetcherExpectations(fetcher: URLSessionFetcher(firstByteSeconds: 5, totalSeconds: 10))
    }

    @Test("a body, a status, a validator and Retry-After come through as they are")
    func answers() async throws { try await self.expectations.answers() }

    @Test("does what the protocol asks for")
    func compatibility() async throws {
        try await HTTPServer.serving { try await ProtocolCompatibility.check(URLSessionFetcher(), against: $0) }
    }

    @Test("no cookies, no credentials, nothing compressed, nothing kept")
    func headers() async throws { try await self.expectations.headers() }

    @Test("a report is posted as JSON")
    func report() async throws { try await self.expectations.report() }

    @Test("three redirects are followed, a fourth is not, and none to http elsewhere")
    func redirects() async throws { try await self.expectations.redirects(butNot: ["elsewhere"]) }

    @Test("endless data is cut off at the limit, announced or not", arguments: ["endless", "long"])
    func endlessData(path: String) async throws { try await self.expectations.fails(path, .tooLarge) }

    @Test("a server that says nothing, or a byte now and then, is not waited for", arguments: ["silent", "drip"])
    func slowData(path: String) async throws {
        let hasty = URLSessionFetcher(firstByteSeconds: 0.2, totalSeconds: 0.5)
        try await FetcherExpectations(fetcher: hasty).fails(path, .timeout)
    }

    @Test(
        "a server that speaks rubbish gets no list taken from it, and stops nobody",
        arguments: ["nowhere", "file", "rubbish-redirect", "rubbish", "headers-without-end", "status-zero"])
    func rubbish(path: String) async throws { try await self.expectations.rubbish(path, times: 10) }

    @Test("a connection that breaks, or is refused, is a failure of the network")
    func broken() async throws { try await self.expectations.broken() }

    @Test("an address that is neither https nor loopback is not asked")
    func address() async throws {
        let failure = try await self.expectations.failure("http://192.0.2.1/list")
        #expect(failure.code == .network)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import NIOPosix
import NIOSSL
import PinListClient
import PinningTesting
import Testing

@testable import PinningNIO

@Suite("Fetching lists with AsyncHTTPClient", .enabled(if: HTTPServer.python != nil, "python3 is not installed"))
struct HTTPClientFetcherTests {
    private let fetcher = HTTPClientFetcher()
    private var expectations: FetcherExpectations<HTTPClientFetcher> { FetcherExpectations(fetcher: self.fetcher) }

    @Test("does what the protocol asks for")
    func compatibility() async throws {
        try await HTTPServer.serving { try await ProtocolCompatibility.check(self.fetcher, against: $0) }
    }

    @Test("a body, a status, a validator and Retry-After come through as they are; 5xx is an answer, 1xx is none")
    func answers() async throws {
        try await self.expectations.answers()
        try await HTTPServer.serving { base in
            let continued = try await self.fetcher.fetch(FetchRequest(address: "\(base)/continue", maximumBytes: 4))
            #expect(continued == FetchResponse(status: 200, body: Array("list".utf8)))
        }
    }

    @Test("no cookies, no credentials, nothing compressed, nothing kept")
    func headers() async throws { try await self.expectations.headers() }

    @Test("a report is posted as JSON")
    func report() async throws { try await self.expectations.report() }

    @Test("three redirects are followed, a fourth is not, and none to another scheme or to http elsewhere")
    func redirects() async throws { try await self.expectations.redirects(butNot: ["elsewhere", "file"]) }

    @Test("endless data is cut off at the limit")
    func endlessData() async throws { try await self.expectations.fails("endless", .tooLarge) }

    @Test("a list that is one byte too long is refused, one that just fits is taken")
    func limit() async throws {
        try await HTTPServer.serving { base in
            let failure = try await self.expectations.failure("\(base)/list", maximumBytes: 3)
            #expect(failure.code == .tooLarge)
            let fits = try await self.fetcher.fetch(FetchRequest(address: "\(base)/list", maximumBytes: 4))
            #expect(fits.status == 200)
        }
    }

    @Test(
        "a server that says nothing, or a byte now and then, is not waited for", arguments: ["silent", "drip", "long"])
    func slowData(path: String) async throws {
        let hasty = HTTPClientFetcher(.singleton, .makeClientConfiguration(), nil, 0.2, 0.5)
        try await FetcherExpectations(fetcher: hasty).fails(path, .timeout)
    }

    @Test(
        "a server that speaks rubbish, or redirects to it, gets no list taken from it, and stops nobody",
        arguments: ["nowhere", "file", "rubbish-redirect", "rubbish", "headers-without-end", "status-zero", "cut"])
    func rubbish(path: String) async throws { try await self.expectations.rubbish(path, times: 3) }

    @Test("a connection that breaks, or is refused, is a failure of the network")
    func broken() async throws { try await self.expectations.broken() }

    @Test("an address that is neither https nor loopback is not asked, and a server without TLS is none for https")
    func addresses() async throws {
        try await HTTPServer.serving { base in
            for address in ["http://192.0.2.1/list", base.replacing("http:", with: "https:") + "/list"] {
                let failure = try await self.expectations.failure(address)
                #expect(failure.code == .network)
            }
        }
    }

    @Test("a server whose certificate the system does not trust is not believed; under its own root it is")
    func untrusted() async throws {
        let pki = try TestPKI(["localhost"])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let address = "https://localhost:\(server.port)/"
            let failure = try await self.expectations.failure(address)
            #expect(failure.code == .network)
            #expect(server.counts.requests == 0)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([try pki.root.nio])
            let trusting = try HTTPClientFetcher(tls: tls)
            let answer = try await trusting.fetch(FetchRequest(address: address, maximumBytes: 100))
            #expect(answer.body == Array("hello".utf8))
        }
    }

    @Test("settings that do not verify make no fetcher")
    func unverified() throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        #expect(throws: PinningSetupError.self) { try HTTPClientFetcher(tls: tls) }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient
import PinningTesting
import Testing

@testable import tumbler

@Suite("The command line's HTTP client", .enabled(if: HTTPServer.python != nil, "python3 is not installed"))
struct HTTPClientTests {
    @Test("does what the protocol asks for")
    func compatibility() async throws {
        try await HTTPServer.serving { try await ProtocolCompatibility.check(HTTPClient(), against: $0) }
    }

    @Test(
        "a server that speaks rubbish, breaks off or redirects to rubbish gets no list taken from it",
        arguments: [
            "nowhere", "file", "rubbish-redirect", "rubbish", "headers-without-end", "status-zero", "cut", "long",
        ])
    func rubbish(path: String) async throws {
        try await HTTPServer.serving { base in
            let answer = try? await HTTPClient().fetch(FetchRequest(address: "\(base)/\(path)", maximumBytes: 1_000))
            #expect(answer?.status != 200, "\(path)")
        }
    }

    @Test("a server that says nothing, or a byte now and then, is not waited for", arguments: ["silent", "drip"])
    func slowData(path: String) async throws {
        try await HTTPServer.serving { base in
            let hasty = HTTPClient(firstByteSeconds: 0.2, totalSeconds: 0.5)
            do {
                let answer = try await hasty.fetch(FetchRequest(address: "\(base)/\(path)", maximumBytes: 1_000))
                Issue.record("answered \(answer.status)")
            } catch let failure as FetchFailure {
                #expect(failure.code == .timeout)
            }
        }
    }

    @Test("an address that is neither https nor loopback is not asked, and a server without TLS is none for https")
    func addresses() async throws {
        try await HTTPServer.serving { base in
            for address in ["http://192.0.2.1/list", base.replacing("http:", with: "https:") + "/list"] {
                await #expect(throws: FetchFailure.self) {
                    try await HTTPClient().fetch(FetchRequest(address: address, maximumBytes: 1_000))
                }
            }
        }
    }

    @Test("a server whose certificate the system does not trust is not believed")
    func untrusted() async throws {
        try await withTemporaryFolder { folder in
            let openssl = try #require(OpenSSL.installed, "openssl is not installed")
            let chain = try await TestChain(with: openssl, in: folder)
            _ = try await withOpenSSLServer(openssl, chain.serverOptions, in: folder) { port in
                await #expect(throws: FetchFailure.self) {
                    try await HTTPClient().fetch(
                        FetchRequest(address: "https://localhost:\(port)/list", maximumBytes: 1_000))
                }
            }
        }
    }
}

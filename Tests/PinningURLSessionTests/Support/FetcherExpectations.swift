// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListClient
import PinListMetadata
import Testing

/// What every transport for lists and reports must do, against a server that is good, bad and rude by its paths.
struct FetcherExpectations<Fetcher: ListFetcher & ReportSender> {
    let fetcher: Fetcher

    /// The failure of a request.
    func failure(_ address: String, maximumBytes: Int = 1_000) async throws -> FetchFailure {
        do {
            let answer = try await self.fetcher.fetch(FetchRequest(address: address, maximumBytes: maximumBytes))
            Issue.record("\(address) answered \(answer.status)")
            throw CancellationError()
        } catch let failure as FetchFailure {
            return failure
        }
    }

    /// A body, a status, a validator and Retry-After come through as they are.
    func answers() async throws {
        try await HTTPServer.serving { base in
            let list = try await self.fetcher.fetch(FetchRequest(address: "\(base)/list", maximumBytes: 4))
            #expect(list == FetchResponse(status: 200, body: Array("list".utf8)))
            let held = try await self.fetcher.fetch(
                FetchRequest(address: "\(base)/list", maximumBytes: 4, ifNoneMatch: "\"held\""))
            #expect(held == FetchResponse(status: 304))
            let busy = try await self.fetcher.fetch(FetchRequest(address: "\(base)/busy", maximumBytes: 4))
            #expect(busy == FetchResponse(status: 503, retryAfter: 17))
            let missing = try await self.fetcher.fetch(FetchRequest(address: "\(base)/nothing", maximumBytes: 4))
            #expect(missing.status == 404)
        }
    }

    /// No cookies, no credentials, nothing compressed, nothing kept.
    func headers() async throws {
        try await HTTPServer.serving { base in
            for _ in 0..<2 {
                let answer = try await self.fetcher.fetch(FetchRequest(address: "\(base)/headers", maximumBytes: 9_999))
                guard case .object(let members) = try JSONValue(strict: answer.body) else {
                    Issue.record("no headers")
                    return
                }
                let headers = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
                #expect(headers["cookie"] == nil && headers["authorization"] == nil && headers["if-none-match"] == nil)
                #expect(headers["accept-encoding"] == .string("identity"))
            }
        }
    }

    /// A report is posted as JSON.
    func report() async throws {
        try await HTTPServer.serving { base in
            let answer = try await self.fetcher.send(Array(#"{"a":1}"#.utf8), to: "\(base)/v1/reports")
            #expect(answer.status == 202)
        }
    }

    /// Three redirects are followed; a fourth is not, nor one of these.
    func redirects(butNot paths: [String]) async throws {
        try await HTTPServer.serving { base in
            let third = try await self.fetcher.fetch(FetchRequest(address: "\(base)/redirect/2", maximumBytes: 9))
            #expect(third.body == Array("list".utf8))
            for path in ["redirect/3"] + paths {
                let failure = try await self.failure("\(base)/\(path)")
                #expect(failure.code == .redirect, "\(path)")
            }
        }
    }

    /// What a path does is a failure of a kind.
    func fails(_ path: String, _ code: FetchFailure.Code) async throws {
        try await HTTPServer.serving { base in
            let failure = try await self.failure("\(base)/\(path)")
            #expect(failure.code == code, "\(path)")
        }
    }

    /// A server that speaks rubbish gets no list taken from it, and stops nobody.
    func rubbish(_ path: String, times: Int) async throws {
        try await HTTPServer.serving { base in
            for _ in 0..<times {
                let answer = try? await self.fetcher.fetch(
                    FetchRequest(address: "\(base)/\(path)", maximumBytes: 1_000))
                #expect(answer?.status != 200, "\(path)")
            }
            let after = try await self.fetcher.fetch(FetchRequest(address: "\(base)/list", maximumBytes: 4))
            #expect(after.status == 200)
        }
    }

    /// A connection that breaks, or is refused, is a failure of the network.
    func broken() async throws {
        let base = try await HTTPServer.serving { base in
            let failure = try await self.failure("\(base)/cut")
            #expect(failure.code == .network)
            return base
        }
        let failure = try await self.failure("\(base)/list")
        #expect(failure.code == .network)
    }
}

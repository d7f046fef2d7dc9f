// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinningURLSession

@Suite("Fetching with URLSession", .enabled(if: HTTPServer.python != nil, "python3 is not installed"))
struct URLSessionFetcherTests {
    /// Asks again, and waits longer, when a time was over: a slow machine may need it, and Foundation's URLSession on Linux
    /// loses an answer now and then.
    private struct Patient: ListFetcher, ReportSender {
        private func asked(_ ask: (URLSessionFetcher) async throws -> FetchResponse) async throws -> FetchResponse {
            for factor in [1.0, 4, 16] {
                do {
                    return try await ask(URLSessionFetcher(firstByteSeconds: 5 * factor, totalSeconds: 10 * factor))
                } catch let failure as FetchError where failure.code == .timeout {}
            }
            return try await ask(URLSessionFetcher())
        }

        func fetch(_ request: FetchRequest) async throws -> FetchResponse {
            try await self.asked { try await $0.fetch(request) }
        }

        func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
            try await self.asked { try await $0.send(body, to: address) }
        }
    }

    private let fetcher = Patient()
    private let hasty = URLSessionFetcher(firstByteSeconds: 0.2, totalSeconds: 0.5)

    /// The failure of a request.
    private func failure(
        _ fetcher: some ListFetcher, _ address: String, maximumBytes: Int = 1_000
    ) async throws -> FetchError {
        do {
            let answer = try await fetcher.fetch(FetchRequest(address: address, maximumBytes: maximumBytes))
            Issue.record("\(address) answered \(answer.status)")
            throw CancellationError()
        } catch let failure as FetchError {
            return failure
        }
    }

    @Test("a body, a status, a validator and Retry-After come through as they are")
    func bodyAStatusAValidatorAndRetryAfterComeThroughAsTheyAre() async throws {
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

    @Test(
        "Retry-After that is no number of seconds says nothing",
        arguments: ["nan", "-inf", "-1e300", "1e300", "0x1p62", "-1"])
    func retryAfterThatIsNoNumberOfSecondsSaysNothing(field: String) async throws {
        try await HTTPServer.serving { base in
            let busy = try await self.fetcher.fetch(FetchRequest(address: "\(base)/busy/\(field)", maximumBytes: 4))
            #expect(busy == FetchResponse(status: 503))
        }
    }

    @Test("does what the protocol asks for")
    func doesWhatTheProtocolAsksFor() async throws {
        try await HTTPServer.serving { try await ProtocolCompatibility.check(URLSessionFetcher(), against: $0) }
    }

    @Test("no cookies, no credentials, nothing compressed, nothing kept")
    func noCookiesNoCredentialsNothingCompressedNothingKept() async throws {
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

    @Test("a report is posted as JSON")
    func reportIsPostedAsJSON() async throws {
        try await HTTPServer.serving { base in
            let answer = try await self.fetcher.send(Array(#"{"a":1}"#.utf8), to: "\(base)/v1/reports")
            #expect(answer.status == 202)
        }
    }

    @Test("three redirects are followed, a fourth is not, and none to another scheme or to http elsewhere")
    func threeRedirectsAreFollowedAFourthIsNotAndNoneToAnotherSchemeOrToHttpElsewhere() async throws {
        try await HTTPServer.serving { base in
            let third = try await self.fetcher.fetch(FetchRequest(address: "\(base)/redirect/2", maximumBytes: 9))
            #expect(third.body == Array("list".utf8))
            for path in ["redirect/3", "elsewhere"] {
                do {
                    let failure = try await self.failure(self.fetcher, "\(base)/\(path)")
                    #expect(failure.code == .redirect, "\(path)")
                }
            }
        }
    }

    @Test("endless data is cut off at the limit, announced or not")
    func endlessDataIsCutOffAtTheLimitAnnouncedOrNot() async throws {
        try await HTTPServer.serving { base in
            for path in ["endless", "long"] {
                do {
                    let failure = try await self.failure(self.fetcher, "\(base)/\(path)")
                    #expect(failure.code == .tooLarge, "\(path)")
                }
            }
        }
    }

    @Test("a server that says nothing, or a byte now and then, is not waited for")
    func serverThatSaysNothingOrAByteNowAndThenIsNotWaitedFor() async throws {
        try await HTTPServer.serving { base in
            do {
                let failure = try await self.failure(self.hasty, "\(base)/silent")
                #expect(failure.code == .timeout)
            }
            do {
                let failure = try await self.failure(self.hasty, "\(base)/drip")
                #expect(failure.code == .timeout)
            }
        }
    }

    @Test("a server that redirects at the moment when the time is over, or the task is cancelled, stops no process")
    func serverThatRedirectsAtTheMomentWhenTheTimeIsOverOrTheTaskIsCancelled() async throws {
        try await HTTPServer.serving { base in
            let request = FetchRequest(address: "\(base)/redirect/2", maximumBytes: 9)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<400 {
                    if number >= 8 { await group.next() }
                    let seconds = 0.0005 * Double(number % 40)
                    let fetcher = URLSessionFetcher(firstByteSeconds: seconds, totalSeconds: seconds)
                    let patient = self.fetcher
                    group.addTask {
                        guard number % 2 == 0 else { return _ = try? await fetcher.fetch(request) }
                        let task = Task { try? await patient.fetch(request) }
                        try? await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
                        task.cancel()
                        _ = await task.value
                    }
                }
            }
            let after = try await self.fetcher.fetch(request)
            #expect(after.body == Array("list".utf8))
        }
    }

    @Test(
        "a server that speaks rubbish gets no list taken from it, and stops no process",
        arguments: ["nowhere", "file", "rubbish-redirect", "rubbish", "headers-without-end", "status-zero"])
    func serverThatSpeaksRubbishGetsNoListTakenFromItAndStopsNoProcess(path: String) async throws {
        try await HTTPServer.serving { base in
            for _ in 0..<10 {
                let answer = try? await self.hasty.fetch(
                    FetchRequest(address: "\(base)/\(path)", maximumBytes: 1_000))
                #expect(answer?.status != 200, "\(path)")
            }
        }
    }

    @Test("a connection that breaks, or is refused, is a failure of the network")
    func connectionThatBreaksOrIsRefusedIsAFailureOfTheNetwork() async throws {
        let base = try await HTTPServer.serving { base in
            do {
                let failure = try await self.failure(self.fetcher, "\(base)/cut")
                #expect(failure.code == .network)
            }
            return base
        }
        do {
            let failure = try await self.failure(self.fetcher, "\(base)/list")
            #expect(failure.code == .network)
        }
    }

    @Test("an address that is neither https nor loopback is not asked")
    func addressThatIsNeitherHttpsNorLoopbackIsNotAsked() async throws {
        do {
            let failure = try await self.failure(self.fetcher, "http://192.0.2.1/list")
            #expect(failure.code == .network)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient
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

    @Test("does what every fetcher does", arguments: FetcherStory.allCases)
    func doesWhatEveryFetcherDoes(story: FetcherStory) async throws {
        try await HTTPServer.serving { try await story.tell(of: self.fetcher, $0) }
    }

    @Test("a body whose announced length is over the limit is refused")
    func bodyWhoseAnnouncedLengthIsOverTheLimitIsRefused() async throws {
        try await HTTPServer.serving { base in
            let failure = try await FetchError.of(self.fetcher, "\(base)/long")
            #expect(failure.code == .tooLarge)
        }
    }

    @Test("a server that is not there any more is a failure of the network")
    func serverThatIsNotThereAnyMoreIsAFailureOfTheNetwork() async throws {
        let base = try await HTTPServer.serving { $0 }
        let failure = try await FetchError.of(self.fetcher, "\(base)/list")
        #expect(failure.code == .network)
    }

    @Test("a server that says nothing, or a byte now and then, is not waited for")
    func serverThatSaysNothingOrAByteNowAndThenIsNotWaitedFor() async throws {
        try await HTTPServer.serving { base async throws in
            #expect(try await FetchError.of(self.hasty, "\(base)/silent").code == .timeout)
            #expect(try await FetchError.of(self.hasty, "\(base)/drip").code == .timeout)
        }
    }

    @Test("a server that redirects at the moment when the time is over, or the task is cancelled, stops no process")
    func serverThatRedirectsAtTheMomentWhenTheTimeIsOverOrTheTaskIsCancelled() async throws {
        try await HTTPServer.telling { base, server in
            let request = FetchRequest(address: "\(base)/redirect/2", maximumBytes: 9)
            async let late: Void = withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    if number >= 4 { await group.next() }
                    let seconds = 0.001 * Double(number % 20)
                    let fetcher = URLSessionFetcher(firstByteSeconds: seconds, totalSeconds: seconds)
                    group.addTask { _ = try? await fetcher.fetch(request) }
                }
            }
            let patient = self.fetcher
            let told = FetchRequest(address: "\(base)/redirect-told", maximumBytes: 9)
            for number in 0..<200 {
                let task = Task { try? await patient.fetch(told) }
                // The server redirects now: the task is cancelled just before this arrives, or just after.
                let line = await server.nextLine()
                try #require(line != nil, "the server ended")
                for _ in 0..<number % 20 * 10 { await Task.yield() }
                task.cancel()
                _ = await task.value
            }
            await late
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
}

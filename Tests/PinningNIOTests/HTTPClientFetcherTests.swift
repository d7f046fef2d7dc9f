// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import Foundation
import NIOPosix
import NIOSSL
import PinListClient
import Testing

@_spi(Tools) @testable import PinningNIO

@Suite("Fetching lists with AsyncHTTPClient", .enabled(if: HTTPServer.python != nil, "python3 is not installed"))
struct HTTPClientFetcherTests {
    private let fetcher = HTTPClientFetcher.patient()

    @Test("does what every fetcher does", arguments: FetcherStory.allCases)
    func doesWhatEveryFetcherDoes(story: FetcherStory) async throws {
        try await HTTPServer.serving { try await story.tell(of: self.fetcher, $0) }
    }

    @Test("an informational answer comes before the answer, and does not count")
    func informationalAnswerComesBeforeTheAnswerAndDoesNotCount() async throws {
        try await HTTPServer.serving { base in
            let continued = try await self.fetcher.fetch(FetchRequest(address: "\(base)/continue", maximumBytes: 4))
            #expect(continued == FetchResponse(status: 200, body: Array("list".utf8)))
        }
    }

    @Test("a redirect to another scheme is not followed")
    func redirectToAnotherSchemeIsNotFollowed() async throws {
        try await HTTPServer.serving { base in
            let failure = try await FetchError.of(self.fetcher, "\(base)/file")
            #expect(failure.code == .redirect)
        }
    }

    @Test("a redirect from a server elsewhere to this machine is not followed, with a list or a report")
    func redirectFromAServerElsewhereToThisMachineIsNotFollowedWithAListOrAReport() async throws {
        let pki = try TestPKI(["lists.example.com"])
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.trustRoots = .certificates([try pki.root.nio])
        var configuration = HTTPClient.Configuration.patient(settings)
        configuration.dnsOverride = ["lists.example.com": "127.0.0.1"]
        let fetcher = HTTPClientFetcher(configuration) { _ in }
        try await HTTPServer.serving { base in
            try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
                let address = "https://lists.example.com:\(server.port)/redirect?"
                for target in ["\(base)/list", "https://localhost/", "https://[::1]:1/"] {
                    let list = try await FetchError.of(fetcher, address + target)
                    #expect(list.code == .redirect, "\(target)")
                    let report = await #expect(throws: FetchError.self) {
                        try await fetcher.send([1], to: address + target)
                    }
                    #expect(report?.code == .redirect, "\(target)")
                }
                // To another name it is followed.
                let there = "https://lists.example.com:\(server.port)/"
                let answer = try await fetcher.fetch(FetchRequest(address: address + there, maximumBytes: 100))
                #expect(answer.body == Array("hello".utf8))
            }
        }
    }

    @Test("a server that is not there any more, and one without TLS for https, are failures of the network")
    func serverThatIsNotThereAnyMoreAndOneWithoutTLSForHttpsAreFailuresOfTheNetwork() async throws {
        let base = try await HTTPServer.serving { base in
            let address = base.replacing("http:", with: "https:") + "/list"
            let failure = try await FetchError.of(self.fetcher, address)
            #expect(failure.code == .network)
            return base
        }
        let failure = try await FetchError.of(self.fetcher, "\(base)/list")
        #expect(failure.code == .network)
    }

    @Test(
        "a server that says nothing, or a byte now and then, is not waited for", arguments: ["silent", "drip", "long"])
    func serverThatSaysNothingOrAByteNowAndThenIsNotWaitedFor(path: String) async throws {
        try await HTTPServer.serving { base in
            let hasty = HTTPClientFetcher(.singleton, .makeClientConfiguration(), nil, 0.2, 0.5)
            let failure = try await FetchError.of(hasty, "\(base)/\(path)")
            #expect(failure.code == .timeout)
        }
    }

    @Test(
        "a server that speaks rubbish, or redirects to it, gets no list taken from it, and stops no process",
        arguments: ["nowhere", "file", "rubbish-redirect", "rubbish", "headers-without-end", "status-zero", "cut"])
    func serverThatSpeaksRubbishOrRedirectsToItGetsNoListTakenFromItAndStopsNoProcess(path: String) async throws {
        try await HTTPServer.serving { base in
            for _ in 0..<3 {
                let answer = try? await self.fetcher.fetch(
                    FetchRequest(address: "\(base)/\(path)", maximumBytes: 1_000))
                #expect(answer?.status != 200, "\(path)")
            }
            let after = try await self.fetcher.fetch(FetchRequest(address: "\(base)/list", maximumBytes: 4))
            #expect(after.status == 200)
        }
    }

    @Test("a server whose certificate the system does not trust is not believed; under its own root it is")
    func serverWhoseCertificateTheSystemDoesNotTrustIsNotBelievedUnderItsOwnRootItIs() async throws {
        let pki = try TestPKI(["localhost"])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let address = "https://localhost:\(server.port)/"
            let failure = try await FetchError.of(self.fetcher, address)
            #expect(failure.code == .network)
            #expect(server.counts.requests == 0)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([try pki.root.nio])
            let trusting = HTTPClientFetcher.patient(tls)
            let answer = try await trusting.fetch(FetchRequest(address: address, maximumBytes: 100))
            #expect(answer.body == Array("hello".utf8))
        }
    }

    @Test(
        "a server of HTTP/2 whose status is negative, or empty, gets no list taken from it, and stops no process",
        arguments: [HostileHTTPTests.HTTP2Attack.negativeStatus, .emptyStatus])
    func serverOfHTTP2WhoseStatusIsNegativeOrEmptyStopsNoProcess(_ attack: HostileHTTPTests.HTTP2Attack) async throws {
        let pki = try TestPKI(["localhost"])
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try pki.root.nio])
        let trusting = HTTPClientFetcher.patient(tls)
        try await HostileServer.with(LoopbackServer.Identity(pki.chain), http2: true) { connection, event in
            attack.act(connection, event)
        } _: { server in
            let address = "https://localhost:\(server.port)/"
            let failure = try await FetchError.of(trusting, address)
            #expect(failure.code == .network && failure.reason == "the answer is not HTTP")
            await #expect(throws: FetchError.self) { try await trusting.send([], to: address) }
        }
    }

    @Test("settings that do not verify make no fetcher")
    func settingsThatDoNotVerifyMakeNoFetcher() throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        #expect(throws: PinningSetupError.self) { try HTTPClientFetcher(tls: tls) }
    }
}
#endif

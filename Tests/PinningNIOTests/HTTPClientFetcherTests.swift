// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import NIOPosix
import NIOSSL
import PinListMetadata
import PinningTesting
import Testing

@testable import PinningNIO

@Suite("Fetching lists with AsyncHTTPClient", .enabled(if: HTTPServer.python != nil, "python3 is not installed"))
struct HTTPClientFetcherTests {
    private let fetcher = HTTPClientFetcher.patient()

    /// The failure of a request.
    private func failure(
        _ address: String, maximumBytes: Int = 1_000, by fetcher: HTTPClientFetcher? = nil
    ) async throws -> FetchError {
        let fetcher = fetcher ?? self.fetcher
        do {
            let answer = try await fetcher.fetch(FetchRequest(address: address, maximumBytes: maximumBytes))
            Issue.record("\(address) answered \(answer.status)")
            throw CancellationError()
        } catch let failure as FetchError {
            return failure
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
        try await HTTPServer.serving { try await ProtocolCompatibility.check(self.fetcher, against: $0) }
    }

    @Test("a body, a status, a validator and Retry-After come through as they are; 5xx is an answer")
    func bodyAStatusAValidatorAndRetryAfterComeThroughAsTheyAre5xxIsAnAnswer() async throws {
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
            let continued = try await self.fetcher.fetch(FetchRequest(address: "\(base)/continue", maximumBytes: 4))
            #expect(continued == list)
        }
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
            for path in ["redirect/3", "elsewhere", "file"] {
                let failure = try await self.failure("\(base)/\(path)")
                #expect(failure.code == .redirect, "\(path)")
            }
        }
    }

    @Test("endless data is cut off at the limit")
    func endlessDataIsCutOffAtTheLimit() async throws {
        try await HTTPServer.serving { base in
            let failure = try await self.failure("\(base)/endless")
            #expect(failure.code == .tooLarge)
        }
    }

    @Test("a list that is one byte too long is refused, one that just fits is taken")
    func listThatIsOneByteTooLongIsRefusedOneThatJustFitsIsTaken() async throws {
        try await HTTPServer.serving { base in
            let failure = try await self.failure("\(base)/list", maximumBytes: 3)
            #expect(failure.code == .tooLarge)
            let fits = try await self.fetcher.fetch(FetchRequest(address: "\(base)/list", maximumBytes: 4))
            #expect(fits.status == 200)
        }
    }

    @Test(
        "a server that says nothing, or a byte now and then, is not waited for", arguments: ["silent", "drip", "long"])
    func serverThatSaysNothingOrAByteNowAndThenIsNotWaitedFor(path: String) async throws {
        try await HTTPServer.serving { base in
            let hasty = HTTPClientFetcher(.singleton, .makeClientConfiguration(), nil, 0.2, 0.5)
            let failure = try await self.failure("\(base)/\(path)", by: hasty)
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

    @Test("a connection that breaks, or is refused, is a failure of the network")
    func connectionThatBreaksOrIsRefusedIsAFailureOfTheNetwork() async throws {
        let base = try await HTTPServer.serving { base in
            let failure = try await self.failure("\(base)/cut")
            #expect(failure.code == .network)
            return base
        }
        let failure = try await self.failure("\(base)/list")
        #expect(failure.code == .network)
    }

    @Test("an address that is neither https nor loopback is not asked, and a server without TLS is none for https")
    func addressThatIsNeitherHttpsNorLoopbackIsNotAsked() async throws {
        try await HTTPServer.serving { base in
            for address in ["http://192.0.2.1/list", base.replacing("http:", with: "https:") + "/list"] {
                let failure = try await self.failure(address)
                #expect(failure.code == .network)
            }
        }
    }

    @Test("a server whose certificate the system does not trust is not believed; under its own root it is")
    func serverWhoseCertificateTheSystemDoesNotTrustIsNotBelievedUnderItsOwnRootItIs() async throws {
        let pki = try TestPKI(["localhost"])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let address = "https://localhost:\(server.port)/"
            let failure = try await self.failure(address)
            #expect(failure.code == .network)
            #expect(server.counts.requests == 0)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([try pki.root.nio])
            let trusting = HTTPClientFetcher.patient(tls)
            let answer = try await trusting.fetch(FetchRequest(address: address, maximumBytes: 100))
            #expect(answer.body == Array("hello".utf8))
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

@Suite("When every pin is wrong")
struct NewerListTests {
    static let host = "api.example.com"

    @Test("a request that waits is sent once more under the newer list")
    func requestThatWaitsIsSentOnceMoreUnderTheNewerList() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        var options = PinnedHTTPClient.Options()
        options.secondsToWaitForNewerList = 5
        let client = try scene.client([Self.host], options: options)
        let pin = try pki.leaf.pin
        // So that only the mismatch is a reason to refresh.
        _ = await scene.pinning.refresh()
        try scene.lists.publish { repository in
            _ = try repository.publishList { list in list.domains[0].entry.pins = [KnownPin(pin)] }
        }
        let running = Task { await scene.pinning.run() }
        defer { running.cancel() }
        await scene.clock.untilSleeping()
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let text = try await client.text("https://\(Self.host):\(server.port)/")
            #expect(text == "hello")
            // The refused one and the repeated one, with the probe of the first.
            #expect(server.counts.requests == 1)
        }
        #expect(scene.pinning.decisionCounts[.noMatchingPin] == 1)
        #expect(scene.pinning.decisionCounts[.pinMatch] == 1)
        try await client.shutdown()
    }

    @Test("a request that waits in vain is refused as it was")
    func requestThatWaitsInVainIsRefusedAsItWas() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        var options = PinnedHTTPClient.Options()
        options.secondsToWaitForNewerList = 5
        let client = try scene.client([Self.host], options: options)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let text = Task { try await client.text("https://\(Self.host):\(server.port)/") }
            await scene.clock.untilSleeping()
            scene.clock.advance(by: 5)
            let refusal = await #expect(throws: PinningError.self) { try await text.value }
            #expect(refusal?.decision.reason == .noMatchingPin)
        }
        #expect(scene.pinning.decisionCounts == [.noMatchingPin: 1])
        try await client.shutdown()
    }

    @Test("a request waits for a newer list until its deadline at most, and is refused as it was")
    func requestWaitsForANewerListUntilItsDeadlineAtMostAndIsRefusedAsItWas() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        var options = PinnedHTTPClient.Options()
        options.secondsToWaitForNewerList = 1_000_000
        let client = try scene.client([Self.host], options: options)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let request = HTTPClientRequest(url: "https://\(Self.host):\(server.port)/")
            let answer = Task { try await client.execute(request, timeout: .ample) }
            await scene.clock.untilSleeping()
            let ample = Double(TimeAmount.ample.nanoseconds) / 1e9
            #expect(scene.clock.waits.count == 1 && scene.clock.waits.allSatisfy { $0 > 0 && $0 <= ample })
            scene.clock.advance(by: 1_000_000)
            let refusal = await #expect(throws: PinningError.self) { try await answer.value }
            #expect(refusal?.decision.reason == .noMatchingPin)
        }
        #expect(scene.pinning.decisionCounts == [.noMatchingPin: 1])
        try await client.shutdown()
    }

    @Test(
        "a request whose connection was closed under it is sent once more only where its method may be sent twice",
        arguments: [HTTPMethod.GET, .POST])
    func requestWhoseConnectionWasClosedUnderItIsSentOnceMoreOnlyWhereItsMethodMayBeSentTwice(
        method: HTTPMethod
    ) async throws {
        let pki = try TestPKI([Self.host])
        let (pin, strange) = (try pki.leaf.pin, PinnedScene.strangePin)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pin])], roots: [pki.root])
        var options = PinnedHTTPClient.Options()
        options.secondsToWaitForNewerList = 5
        let client = try scene.client([Self.host], options: options)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let url = "https://\(Self.host):\(server.port)/wait"
            var request = HTTPClientRequest(url: url)
            request.method = method
            let slow = Task { [request] in
                let response = try await client.execute(request, timeout: .ample)
                return String(buffer: try await response.body.collect(upTo: 1_024))
            }
            await server.untilWaiting(1)
            // A list without its pin gives it half a minute, in which the next list has the pin again.
            try await scene.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
            await scene.clock.untilSleeping()
            try await scene.publish { list in list.domains[0].entry.pins = [KnownPin(pin)] }
            let answering = Task {
                await server.untilWaiting(2)
                server.answerWaiting()
            }
            scene.clock.advance(by: 30)
            switch await slow.result {
            case .success(let text): #expect(text == "hello" && method == .GET)
            case .failure(let error):
                #expect((error as? PinningError)?.decision.reason == .noMatchingPin && method == .POST)
            }
            #expect(server.counts.requests == (method == .GET ? 2 : 1))
            // The second one to wait, where there was none.
            if server.counts.requests == 1 { _ = try await client.text(url) }
            await answering.value
        }
        try await client.shutdown()
    }

    @Test("for the host of the lists, too, the next list is fetched, and the next request succeeds")
    func forTheHostOfTheListsTooTheNextListIsFetchedAndTheNextRequestSucceeds() async throws {
        // One server is the origin and serves the lists: its pins are wrong, and lists are fetched all the same.
        let pki = try TestPKI(["localhost"])
        let now = Timestamp(secondsSince1970: TestPKI.now)
        let wrong = try PinnedScene.entry("localhost", [PinnedScene.strangePin])
        var repository = try RepositorySimulator(at: now, domains: [PinList.Domain(wrong)])
        let root = repository.roots[0]
        let old = repository.lists[0]
        let pin = try pki.leaf.pin
        _ = try repository.publishList { list in list.domains[0].entry.pins = [KnownPin(pin)] }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try pki.root.nio])
        let fetcher = HTTPClientFetcher.patient(tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            server.files = ["/v1/lists/com.example.app/pins.json": repository.lists[1]]
            let pinning = try Pinning(
                root: .bytes(root), list: .bytes(old),
                refreshFrom: URL(string: "https://localhost:\(server.port)/v1/lists/com.example.app"), state: .memory,
                configuration: PinningConfiguration(
                    fetcher: fetcher, reportSender: NoNetwork(), clock: ManualClock(now),
                    randomness: FixedRandomness(fraction: 0)))
            let client = try PinnedHTTPClient(by: pinning, configuration: .patient(tls))
            await #expect(throws: PinningError.self) { try await client.text("https://localhost:\(server.port)/") }
            let outcome = await pinning.refresh()
            #expect(outcome.fetchFailure == nil)
            #expect(outcome.refused.isEmpty)
            let text = try await client.text("https://localhost:\(server.port)/")
            #expect(text == "hello")
            try await client.shutdown()
        }
    }
}

@Suite("A first deployment that only observes")
struct ObservedConnectionTests {
    @Test("refuses nothing, counts and reports what the pins would have said", arguments: [false, true])
    func refusesNothingCountsAndReportsWhatThePinsWouldHaveSaid(http2: Bool) async throws {
        let host = "api.example.com"
        let pki = try TestPKI([host])
        let scene = try PinnedScene(
            [PinnedScene.entry(host, [PinnedScene.strangePin])], roots: [pki.root], isObserving: true)
        let client = try scene.client([host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let text = try await client.text("https://\(host):\(server.port)/")
            #expect(text == "hello")
        }
        #expect(scene.pinning.decisionCounts == [.noMatchingPin: 1])
        try await client.shutdown()
    }
}
#endif

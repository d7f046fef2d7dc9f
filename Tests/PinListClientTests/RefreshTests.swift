// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListClient

@Suite("Refreshing")
struct RefreshTests {
    @Test("a newer list is in force, is stored, and survives a restart")
    func newerListIsInForceIsStoredAndSurvivesARestart() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.publish()
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess && outcome.hasChanged && outcome.storeFailure == nil)
        #expect(pinning.version == 2)
        #expect(client.server.paths == ["/root/2.json", "/pins.json"])
        #expect(try client.launch().version == 2)
    }

    @Test("a client names the envelope in force, the shipped one included, and takes 304 as an answer to that alone")
    func clientNamesTheEnvelopeInForceTheShippedOneIncluded() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess && !outcome.hasChanged)
        #expect(client.server.requests.last?.ifNoneMatch == "\"\(Envelope.digest(of: client.list))\"")
        #expect(client.server.requests.first?.ifNoneMatch == nil)
        // A root is never requested with a condition: 304 is a failure, and the list stays untouched.
        try client.publish()
        client.server.interference = { request, answer in
            request.address.contains("/root/") ? FetchResponse(status: 304) : answer
        }
        let failed = await pinning.refresh()
        #expect(failed.fetchFailure?.code == .status)
        #expect(pinning.version == 1)
    }

    @Test("roots are followed one by one, each stored before the next; a list by the new signer is taken")
    func rootsAreFollowedOneByOneEachStoredBeforeTheNextAListByTheNewSignerIsTaken() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.server.publish { repository in
            for _ in 0..<3 {
                repository.pinsKeys = [repository.newKey(.ed25519)]
                repository.rootKeys = [repository.newKey()]
                try repository.publishRoot()
            }
        }
        try client.publish()
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess, "\(outcome)")
        #expect(pinning.version == 2)
        #expect(client.server.paths == (2...5).map { "/root/\($0).json" } + ["/pins.json"])
        for version in 2...4 {
            #expect(client.store.read(.root(Int64(version)), maximumBytes: 512_000) != .absent)
        }
        #expect(try client.launch().version == 2)
    }

    @Test(
        "a static host that answers 403 for a missing root has none; one that answers 200 with a page fails the refresh"
    )
    func staticHostThatAnswers403ForAMissingRootHasNone() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.publish()
        client.server.interference = { request, answer in
            answer.status == 404 ? FetchResponse(status: 200, body: Array("<html>Not found</html>".utf8)) : answer
        }
        let page = await pinning.refresh()
        #expect(page.refused.map(\.code) == [.malformed])
        #expect(page.refused.map(\.kind) == [.root])
        #expect(pinning.version == 1)
        client.server.interference = { _, answer in answer.status == 404 ? FetchResponse(status: 403) : answer }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 2)
    }

    @Test("an answer that is neither a list nor 304 leaves everything as it was", arguments: [204, 301, 400, 500, 503])
    func answerThatIsNeitherAListNor304LeavesEverythingAsItWas(status: Int) async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.publish()
        client.server.interference = { request, answer in
            request.address.hasSuffix("pins.json") ? FetchResponse(status: status, body: answer.body) : answer
        }
        let outcome = await pinning.refresh()
        #expect(outcome.fetchFailure?.code == .status)
        #expect(pinning.version == 1)
        #expect(await pinning.kinds() == [.refreshFailed])
    }

    @Test("an endless body is a refusal that says so", arguments: ["/root/2.json", "/pins.json"])
    func endlessBodyIsARefusalThatSaysSo(path: String) async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        client.server.interference = { request, answer in
            guard request.address.hasSuffix(path) else { return answer }
            return FetchResponse(status: 200, body: [UInt8](repeating: 0x20, count: request.maximumBytes + 1))
        }
        let outcome = await pinning.refresh()
        #expect(outcome.refused.map(\.code) == [.tooLarge])
        #expect(pinning.version == 1)
    }

    @Test("an older list is a rollback, also after a restart")
    func olderListIsARollbackAlsoAfterARestart() async throws {
        let client = try TestClient()
        try client.publish()
        let old = client.server.repository.lists[1]
        try client.publish()
        #expect(await (try client.launch()).refresh().isSuccess)
        let restarted = try client.launch()
        client.server.publish { $0.tampering[.pins] = { _ in old } }
        let outcome = await restarted.refresh()
        #expect(outcome.refused.map(\.code) == [.rollback])
        #expect(restarted.version == 3)
        #expect(await restarted.kinds() == [.refused])
    }

    @Test("who asks during a refresh gets its outcome; one is in flight at most")
    func whoAsksDuringARefreshGetsItsOutcomeOneIsInFlightAtMost() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.publish()
        let (gate, open) = AsyncStream<Void>.makeStream()
        client.server.interference = { _, answer in
            for await _ in gate {}
            return answer
        }
        async let outcomes = withTaskGroup(of: RefreshOutcome.self) { group in
            for _ in 0..<20 { group.addTask { await pinning.refresh() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // One that comes when all is over begins another.
        while await pinning.refreshWaiters.count != 20 { await Task.yield() }
        // While the network waits, handshakes do not.
        let decision = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        #expect(decision.verdict == .block)
        open.finish()
        #expect(await Set(outcomes).count == 1)
        #expect(client.server.paths == ["/root/2.json", "/pins.json"])
    }

    @Test("more new roots than are taken at once: the rest follows at the next refresh")
    func moreNewRootsThanAreTakenAtOnceTheRestFollowsAtTheNextRefresh() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.server.publish { repository in
            for _ in 0..<(MetadataLimits.rotationsPerRefresh + 1) { try repository.publishRoot() }
        }
        _ = await pinning.refresh()
        #expect(client.server.paths.count == MetadataLimits.rotationsPerRefresh + 1)
        #expect(await pinning.kinds().contains(.tooManyRoots))
        client.server.forgetRequests()
        #expect(await pinning.refresh().isSuccess)
        #expect(client.server.paths == ["/root/258.json", "/root/259.json", "/pins.json"])
    }

    @Test(
        "root on Monday, list on Wednesday: the old signer's list stays in force until then, and is not bettered by it")
    func rootOnMondayListOnWednesdayTheOldSignersListStaysInForceUntilThen() async throws {
        let client = try TestClient()
        try client.publish()
        let pinning = try client.launch()
        _ = await pinning.refresh()
        #expect(pinning.version == 2)
        client.clock.advance(by: 86_400)
        try client.server.publish { repository in
            repository.time = client.clock.now
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        let monday = await pinning.refresh()
        #expect(monday.isSuccess)
        #expect(pinning.version == 2)
        #expect(await pinning.kinds().contains(.signerReplaced))
        #expect(try client.launch().version == 2)
        client.clock.advance(by: 2 * 86_400)
        // Lower than the revoked signer's: the root that removed it freed the version.
        try client.publish { $0.version = 1 }
        let wednesday = await pinning.refresh()
        #expect(wednesday.isSuccess, "\(wednesday)")
        #expect(pinning.version == 1)
        #expect(try client.launch().policyInForce.listDigest == pinning.policyInForce.listDigest)
    }

    @Test("a list that denies and mis-pins its own host does not keep out the next one")
    func listThatDeniesAndMisPinsItsOwnHostDoesNotKeepOutTheNextOne() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        try client.publish { list in list.unlisted = .deny }
        #expect(await pinning.refresh().isSuccess)
        let decision = pinning.decision(for: TestClient.strangePath, host: "lists.example.com")
        #expect(decision.verdict == .block)
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 3)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("Starting")
struct StartTests {
    @Test("with nothing stored, what the app ships is in force, and nothing is fetched")
    func withNothingStoredWhatTheAppShipsIsInForceAndNothingIsFetched() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        #expect(pinning.version == 1)
        #expect(client.server.requests.isEmpty)
        #expect(await pinning.kinds() == [])
    }

    @Test("a damaged embedded root or list is an error when the client is made", arguments: [true, false])
    func damagedEmbeddedRootOrListIsAnErrorWhenTheClientIsMade(isRoot: Bool) throws {
        let client = try TestClient()
        var root = client.root
        var list = client.list
        if isRoot { root[root.count / 2] ^= 1 } else { list[list.count / 2] ^= 1 }
        let error = #expect(throws: PinningSetupError.self) {
            try Pinning(
                root: .bytes(root), list: .bytes(list), refreshFrom: nil, state: .memory,
                configuration: client.configuration)
        }
        #expect(error?.code == .unverifiable)
        #expect(error?.refusal?.kind == (isRoot ? .root : .pins))
    }

    @Test("another app's list with its valid signatures is an error when the client is made")
    func anotherAppsListWithItsValidSignaturesIsAnErrorWhenTheClientIsMade() throws {
        let client = try TestClient()
        let other = try RepositorySimulator(name: "com.example.other", at: TestClient.start)
        let error = #expect(throws: PinningSetupError.self) {
            try Pinning(
                root: .bytes(client.root), list: .bytes(other.lists[0]), refreshFrom: nil, state: .memory,
                configuration: client.configuration)
        }
        #expect(error?.refusal?.code == .wrongName)
    }

    @Test("an embedded file that is missing is named")
    func embeddedFileThatIsMissingIsNamed() throws {
        let error = #expect(throws: PinningSetupError.self) {
            try Pinning(
                root: .file("/nowhere/tumbler-root.json"), list: .file("/nowhere/tumbler-pins.json"), refreshFrom: nil,
                state: .memory, configuration: try TestClient().configuration)
        }
        #expect(error?.code == .missing)
        #expect(error?.reason.contains("/nowhere/tumbler-pins.json") == true)
    }

    @Test(
        "lists are refreshed over https alone, but for loopback",
        arguments: [
            ("https://lists.example.com/v1/lists/app", true), ("http://127.0.0.1:8480/v1/lists/app", true),
            ("http://[::1]:8480/v1/lists/app/", true), ("http://lists.example.com/v1/lists/app", false),
            ("http://127.0.0.1.example.com/", false), ("ftp://lists.example.com/", false),
            ("https://user@lists.example.com/", false), ("https://lists.example.com/?name=app", false),
        ])
    func listsAreRefreshedOverHttpsAloneButForLoopback(text: String, isAllowed: Bool) throws {
        let client = try TestClient()
        let url = try #require(URL(string: text))
        let make = {
            try Pinning(
                root: .bytes(client.root), list: .bytes(client.list), refreshFrom: url, state: .memory,
                configuration: client.configuration)
        }
        if isAllowed {
            #expect(throws: Never.self) { try make() }
        } else {
            let error = #expect(throws: PinningSetupError.self) { try make() }
            #expect(error?.code == .address)
        }
    }

    @Test("an expired list is enforced all the same, and an event says that it is stale")
    func expiredListIsEnforcedAllTheSameAndAnEventSaysThatItIsStale() async throws {
        let client = try TestClient()
        client.clock.advance(by: RepositorySimulator.listValidity)
        let pinning = try client.launch()
        #expect(await pinning.kinds() == [.stale])
        let path = TestClient.strangePath
        let decision = pinning.decision(for: path, host: TestClient.host)
        #expect(decision.verdict == .block)
        #expect(decision.list?.stale == true)
    }

    @Test("a list expires while the app runs: what an app chose for that begins to hold")
    func listExpiresWhileTheAppRunsWhatAnAppChoseForThatBeginsToHold() async throws {
        var client = try TestClient()
        client.configuration.whenStale = .report
        let pinning = try client.launch()
        let path = TestClient.strangePath
        #expect(pinning.decision(for: path, host: TestClient.host).verdict == .block)
        client.clock.advance(by: RepositorySimulator.listValidity)
        _ = await pinning.refresh()
        #expect(pinning.decision(for: path, host: TestClient.host).verdict == .allow)
    }

    @Test("a clock before the build date is not believed")
    func clockBeforeTheBuildDateIsNotBelieved() async throws {
        var client = try TestClient()
        client.configuration.buildDate = TestClient.start.advanced(by: RepositorySimulator.listValidity)
        let pinning = try client.launch()
        #expect(await pinning.kinds() == [.stale])
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListClient

/// Clients of earlier days that were closed while an attacker kept the newest log list from them: folders of
/// `Tests/Fixtures` again, with the certificates that they met.
@Suite("What earlier clients kept of log lists, and of a refresh that failed")
struct KeptLogsTests {
    private static let client = "client-logs"

    /// The time of the refresh that failed: an hour after the one that did not.
    private static let failure = TestClient.start.advanced(by: 3_600)

    @Test(
        "the log list in force, the list that named it and the pause of that day count for the client of today",
        arguments: KeptFolders.released)
    func logListInForceTheListThatNamedItAndThePauseOfThatDayCountForTheClientOfToday(
        name: String
    ) async throws {
        try await KeptFolders.withCopy(of: KeptFolders.folder(name, Self.client), self.expectOpens)
    }

    private func expectOpens(_ folder: URL) async throws {
        let state = folder.appendingPathComponent("state")
        let refreshes = try RefreshState(try KeptFolders.bytes(state, "state.json"))
        #expect(refreshes.lastRefresh == TestClient.start)
        #expect(refreshes.backoff.failures == 1)
        #expect(refreshes.pause?.from == Self.failure)
        #expect(try #require(refreshes.pause?.seconds) > 0)

        let configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: NoNetwork(), clock: ManualClock(Self.failure),
            randomness: FixedRandomness(fraction: 0))
        let pinning = try Pinning(
            root: .bytes(try KeptFolders.bytes(folder, "tumbler-root.json")),
            list: .bytes(try KeptFolders.bytes(folder, "tumbler-pins.json")),
            refreshFrom: URL(string: SimulatedServer.address), state: .folder(state.path), configuration: configuration)
        func decision(_ leaf: String) throws -> PinningDecision {
            let certificates = try [leaf, "issuer.der"].map { try KeptFolders.bytes(folder, $0) }
            return pinning.decide(ValidatedPath(uncheckedValidatedPath: certificates))
        }
        #expect(pinning.version == 3)
        // The log list of version 3 never came, and that of version 2 says which leaf was logged.
        let logged = try decision("logged.der")
        #expect(logged.reason == .pinMatch)
        #expect(logged.transparency?.isSatisfied == true)
        #expect(try decision("unlogged.der").reason == .transparency)
        let kinds = await pinning.kinds()
        #expect(kinds.contains(.logsMissing))
        #expect(!kinds.contains(.stateDamaged) && !kinds.contains(.stateUnreadable))
    }

    @Test("what the client of today keeps of log lists has the form of the newest of them")
    func whatTheClientOfTodayKeepsOfLogListsHasTheFormOfTheNewestOfThem() async throws {
        try await KeptFolders.withCopy { folder in
            try await Self.make(in: folder)
            if try !KeptFolders.handOver(folder) {
                let kept = KeptFolders.folder(try #require(KeptFolders.released.last), Self.client)
                #expect(try KeptFolders.form(of: folder) == KeptFolders.form(of: kept))
            }
            try await self.expectOpens(folder)
        }
    }

    /// A client that had a log list in force, took a list that names another one, did not get that, and then reached
    /// nothing at all.
    private static func make(in folder: URL) async throws {
        let scene = try LoggingScene(StateFolder(path: folder.appendingPathComponent("state").path))
        for (name, bytes) in [
            ("tumbler-root.json", scene.client.root), ("tumbler-pins.json", scene.client.list),
            ("logged.der", scene.logged.certificates[0]), ("unlogged.der", scene.unlogged.certificates[0]),
            ("issuer.der", scene.logged.certificates[1]),
        ] { try Data(bytes).write(to: folder.appendingPathComponent(name)) }
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        #expect(await pinning.refresh().isSuccess)
        try scene.publish(scene.file(at: "2026-11-21T00:00:00Z", state: "qualified"), isServed: false)
        #expect(await pinning.refresh().logsFailure != nil)
        scene.client.clock.now = Self.failure
        scene.client.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
        #expect(await pinning.refresh().fetchFailure != nil)
    }
}

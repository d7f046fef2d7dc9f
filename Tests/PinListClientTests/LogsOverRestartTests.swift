// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import TestData
import Testing

@testable import PinListClient

/// A network attacker lets the signed list through and blocks the one file with its log list, until the app starts again.
@Suite("The log list in force, over a restart")
struct LogsOverRestartTests {
    /// A client that had one log list in force, then a list that names another one, whose fetch failed.
    private func blocked(_ store: any StateStore) async throws -> (
        scene: LoggingScene, older: [UInt8], newer: [UInt8]
    ) {
        let scene = try LoggingScene(store)
        let (older, newer) = (scene.file(), scene.file(at: "2026-11-21T00:00:00Z", state: "qualified"))
        try scene.publish(older)
        let pinning = try scene.client.launch()
        #expect(await pinning.refresh().isSuccess)
        try scene.publish(newer, isServed: false)
        #expect(await pinning.refresh().logsFailure != nil)
        #expect(pinning.version == 3 && pinning.decide(scene.unlogged).reason == .transparency)
        return (scene, older, newer)
    }

    @Test("an attacker who blocks the newer log list until a restart does not end enforcement before its 70 days do")
    func attackerWhoBlocksTheNewerLogListUntilARestartDoesNotEndEnforcementBeforeIts70DaysDo() async throws {
        let store = MemoryStore()
        let (scene, older, newer) = try await self.blocked(store)
        for _ in 0..<2 {
            let restarted = try scene.client.launch()
            #expect(restarted.version == 3 && restarted.decide(scene.unlogged).reason == .transparency)
            #expect(restarted.decide(scene.logged).transparency?.isSatisfied == true)
            // Still asked for, still blocked, and nothing is removed for that. It is said at the start, and of the fetch.
            #expect(await restarted.refresh().logsFailure != nil)
            #expect(await restarted.count(of: .logsMissing) == 2)
            #expect(restarted.decide(scene.unlogged).reason == .transparency)
        }
        let made = try Timestamp("2026-11-20T00:00:00Z")
        let last = made.secondsSince1970 + 70 * 86_400
        scene.client.clock.now = Timestamp(secondsSince1970: last)
        let late = try scene.client.launch()
        #expect(late.decide(scene.unlogged).reason == .transparency)
        scene.client.clock.advance(by: 1)
        let stale = try scene.client.launch()
        #expect(stale.decide(scene.unlogged).reason == .pinMatch)
        #expect(await stale.count(of: .logsStale) == 1)
        // The file at last: it is in force, and what was kept for the older one goes.
        scene.serve(newer)
        #expect(await stale.refresh().logsFailure == nil)
        #expect(store.logDigests() == [Envelope.digest(of: newer)])
        #expect(store.read(.pinsNamingLogs, maximumBytes: 4_194_304) == .absent)
        #expect(store.read(.logs(Envelope.digest(of: older)), maximumBytes: older.count) == .absent)
    }

    @Test("several newer lists, none of whose log lists comes, leave the last one that was in force")
    func severalNewerListsNoneOfWhoseLogListsComesLeaveTheLastOneThatWasInForce() async throws {
        let store = MemoryStore()
        let (scene, older, _) = try await self.blocked(store)
        let pinning = try scene.client.launch()
        for (day, content) in [(22, nil), (23, Array("not JSON".utf8)), (24, nil)] as [(Int, [UInt8]?)] {
            let file = content ?? scene.file(at: "2026-11-\(day)T00:00:00Z", state: "rejected")
            try scene.publish(file, isServed: content != nil)
            _ = await pinning.refresh()
            let restarted = try scene.client.launch(refreshing: false)
            #expect(restarted.version == pinning.version)
            #expect(restarted.decide(scene.unlogged).reason == .transparency)
            #expect(restarted.decide(scene.logged).transparency?.isSatisfied == true)
        }
        #expect(pinning.version == 6 && store.logDigests().contains(Envelope.digest(of: older)))
    }

    @Test("of the shipped log list and a later one that was in force, the later one is in force after a restart")
    func ofTheShippedLogListAndALaterOneThatWasInForceTheLaterOneIsInForceAfterARestart() async throws {
        let store = MemoryStore()
        let scene = try LoggingScene(store)
        let shipped = SigningLog.list(of: [SigningLog("M"), SigningLog("N")], at: "2026-11-19T00:00:00Z")
        try scene.publish(shipped)
        let list = try #require(scene.client.server.repository.lists.last)
        func launch() throws -> Pinning {
            try Pinning(
                root: .bytes(scene.client.root), list: .bytes(list), logs: .bytes(shipped),
                refreshFrom: URL(string: SimulatedServer.address), state: .store(store),
                configuration: scene.client.configuration)
        }
        let pinning = try launch()
        #expect(pinning.decide(scene.logged).reason == .transparency)
        try scene.publish(scene.file())
        _ = await pinning.refresh()
        #expect(pinning.decide(scene.logged).reason == .pinMatch)
        try scene.publish(scene.file(at: "2026-11-21T00:00:00Z"), isServed: false)
        _ = await pinning.refresh()
        let restarted = try launch()
        #expect(restarted.version == 4 && restarted.decide(scene.logged).transparency?.isSatisfied == true)
        #expect(restarted.decide(scene.unlogged).reason == .transparency)
    }

    @Test("a disk on which the log list or the list that named it is another one is believed in nothing")
    func diskOnWhichTheLogListOrTheListThatNamedItIsAnotherOneIsBelievedInNothing() async throws {
        let strangers = SigningLog.list(of: [SigningLog("M"), SigningLog("N")], at: "2026-11-20T00:00:00Z")
        let stranger = try LoggingScene()
        stranger.client.server.publish { $0.pinsKeys = [$0.newKey()] }
        try stranger.publish(strangers)
        let forged = try #require(stranger.client.server.repository.lists.last)
        typealias Deed = (MemoryStore, [UInt8]) -> Void
        let deeds: [(name: String, isDamaged: Bool, deed: Deed)] = [
            ("another log list under its name", false, { $0.write(strangers, to: .logs(Envelope.digest(of: $1))) }),
            ("no log list", false, { $0.remove(.logs(Envelope.digest(of: $1))) }),
            ("no list", false, { store, _ in store.remove(.pinsNamingLogs) }),
            ("no list, but bytes", true, { store, _ in store.write([0x7b], to: .pinsNamingLogs) }),
            (
                "too long", true,
                { $0.write([UInt8](repeating: 0x20, count: $1.count + 5_000_000), to: .pinsNamingLogs) }
            ),
            (
                "another publisher's list and log list", true,
                { store, _ in
                    store.write(forged, to: .pinsNamingLogs)
                    store.write(strangers, to: .logs(Envelope.digest(of: strangers)))
                }
            ),
        ]
        for (name, isDamaged, deed) in deeds {
            let store = MemoryStore()
            let (scene, older, newer) = try await self.blocked(store)
            deed(store, older)
            let restarted = try scene.client.launch()
            let kinds = await restarted.kinds()
            #expect(kinds.contains(.stateDamaged) == isDamaged, "\(name)")
            #expect(kinds.contains(.logsMissing), "\(name)")
            for path in [scene.logged, scene.unlogged] {
                #expect(restarted.version == 3 && restarted.decide(path).reason == .pinMatch, "\(name)")
            }
            scene.serve(newer)
            _ = await restarted.refresh()
            #expect(restarted.decide(scene.unlogged).reason == .transparency, "\(name)")
            #expect(store.logDigests() == [Envelope.digest(of: newer)], "\(name)")
        }
    }

    @Test("what a signer named who was revoked since is not believed after a restart")
    func whatASignerNamedWhoWasRevokedSinceIsNotBelievedAfterARestart() async throws {
        let store = MemoryStore()
        let (scene, _, newer) = try await self.blocked(store)
        try scene.client.server.publish { repository in
            repository.time = scene.client.clock.now.advanced(by: 1)
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        scene.client.clock.advance(by: 1)
        try scene.publish(newer, isServed: false)
        let pinning = try scene.client.launch()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 4 && pinning.decide(scene.unlogged).reason == .transparency)
        let restarted = try scene.client.launch(refreshing: false)
        #expect(restarted.version == 4 && restarted.decide(scene.unlogged).reason == .pinMatch)
    }

    @Test("a crash between the kept list and the new one leaves the old one, with its log list in force")
    func crashBetweenTheKeptListAndTheNewOneLeavesTheOldOneWithItsLogListInForce() async throws {
        let disk = MemoryStore()
        let scene = try LoggingScene(disk)
        try scene.publish(scene.file())
        _ = await (try scene.client.launch()).refresh()
        try scene.publish(scene.file(at: "2026-11-21T00:00:00Z"), isServed: false)
        let pinning = try TestClient(scene.client, on: UnwritableFile(disk, .pins)).launch()
        #expect(await pinning.refresh().storeFailure != nil)
        let restarted = try scene.client.launch(refreshing: false)
        #expect(restarted.version == 2 && restarted.decide(scene.unlogged).reason == .transparency)
        // Where the list cannot be kept, the one that names the log list is not replaced: it is tried again.
        disk.remove(.pinsNamingLogs)
        let unkept = try TestClient(scene.client, on: UnwritableFile(disk, .pinsNamingLogs)).launch()
        #expect(await unkept.refresh().storeFailure != nil && unkept.version == 3)
        let again = try scene.client.launch(refreshing: false)
        #expect(again.version == 2 && again.decide(scene.unlogged).reason == .transparency)
    }

    @Test("files that cannot be read now are no reason to remove a log list, and count again when they can be")
    func filesThatCannotBeReadNowAreNoReasonToRemoveALogListAndCountAgainWhenTheyCanBe() async throws {
        let disk = MemoryStore()
        let (scene, older, _) = try await self.blocked(disk)
        let locked = UnreadableFiles(disk, [.pinsNamingLogs])
        let pinning = try TestClient(scene.client, on: locked).launch()
        #expect(pinning.decide(scene.unlogged).reason == .pinMatch)
        #expect(await pinning.count(of: .stateUnreadable) == 1)
        _ = await pinning.refresh()
        #expect(disk.logDigests() == [Envelope.digest(of: older)])
        locked.files = []
        _ = await pinning.refresh()
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
        let restarted = try scene.client.launch(refreshing: false)
        #expect(restarted.decide(scene.unlogged).reason == .transparency)
    }

    @Test("two processes with one folder: what the one takes and cannot fetch, the other need not lose")
    func twoProcessesWithOneFolderWhatTheOneTakesAndCannotFetchTheOtherNeedNotLose() async throws {
        let store = MemoryStore()
        let scene = try LoggingScene(store)
        let older = scene.file()
        // The extension starts before the app has its log list, and takes the next list.
        let appExtension = try scene.client.launch()
        try scene.publish(older)
        let app = try scene.client.launch()
        _ = await app.refresh()
        try scene.publish(scene.file(at: "2026-11-21T00:00:00Z"), isServed: false)
        _ = await appExtension.refresh()
        #expect(appExtension.version == 3 && store.logDigests() == [Envelope.digest(of: older)])
        #expect(app.version == 2 && app.decide(scene.unlogged).reason == .transparency)
        _ = await app.refresh()
        #expect(try scene.client.launch(refreshing: false).decide(scene.unlogged).reason == .transparency)
    }

    @Test("a list that another process stored brings no log list back that is older than the one in force")
    func listThatAnotherProcessStoredBringsNoLogListBackThatIsOlder() async throws {
        let disk = MemoryStore()
        let scene = try LoggingScene(disk)
        let shipped = SigningLog.list(of: [SigningLog("M"), SigningLog("N")], at: "2026-11-19T00:00:00Z")
        try scene.publish(shipped)
        let list = try #require(scene.client.server.repository.lists.last)
        let newer = scene.file()
        // Its log list is in memory alone.
        let store = UnwritableFile(disk, .logs(Envelope.digest(of: newer)))
        let app = try Pinning(
            root: .bytes(scene.client.root), list: .bytes(list), logs: .bytes(shipped),
            refreshFrom: URL(string: SimulatedServer.address), state: .store(store),
            configuration: scene.client.configuration)
        try scene.publish(newer)
        #expect(await app.refresh().storeFailure != nil)
        #expect(app.version == 3 && app.decide(scene.logged).transparency?.isSatisfied == true)
        // The newest log list can be had by neither.
        try scene.publish(scene.file(at: "2026-11-21T00:00:00Z"), isServed: false)
        let other = try scene.client.launch(over: scene.client.server)
        _ = await other.refresh()
        #expect(other.version == 4)
        _ = await app.refresh()
        #expect(app.version == 4 && app.decide(scene.logged).transparency?.isSatisfied == true)
        #expect(app.decide(scene.unlogged).reason == .transparency)
    }

    @Test("a process that does not know the newest root removes nothing that a list of that root names")
    func processThatDoesNotKnowTheNewestRootRemovesNothingThatAListOfThatRootNames() async throws {
        let store = MemoryStore()
        let scene = try LoggingScene(store)
        try scene.publish(scene.file())
        let network = SimulatedServer(scene.client.server.repository)
        let appExtension = try scene.client.launch(over: network)
        #expect(await appExtension.refresh().isSuccess)
        // While the extension asks, the app takes a root with another key for lists, and a list that this key alone has
        // signed. The extension reaches nothing, and tidies up.
        let newer = scene.file(at: "2026-11-21T00:00:00Z")
        try scene.client.server.publish { repository in
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        try scene.publish(newer)
        let app = try scene.client.launch()
        network.interference = { _, _ in
            #expect(await app.refresh().isSuccess)
            throw FetchError(.network, "there is no network")
        }
        #expect(await appExtension.refresh().isSuccess == false)
        #expect(app.version == 3 && appExtension.version == 2)
        #expect(store.logDigests().contains(Envelope.digest(of: newer)))
        #expect(try scene.client.launch(refreshing: false).decide(scene.unlogged).reason == .transparency)
    }

    @Test("a list that names no log list ends it, over a restart, too")
    func listThatNamesNoLogListEndsItOverARestartToo() async throws {
        let store = MemoryStore()
        let (scene, _, _) = try await self.blocked(store)
        try scene.publish(nil)
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        #expect(store.logDigests().isEmpty && store.read(.pinsNamingLogs, maximumBytes: 4_194_304) == .absent)
        try scene.publish(scene.file(at: "2026-11-22T00:00:00Z"), isServed: false)
        _ = await pinning.refresh()
        #expect(try scene.client.launch(refreshing: false).decide(scene.unlogged).reason == .pinMatch)
    }

    @Test("a folder that an earlier version kept opens, and keeps its log list from then on")
    func folderThatAnEarlierVersionKeptOpensAndKeepsItsLogListFromThenOn() async throws {
        // It wrote no other files for the newest list, and had removed the older log list.
        let store = MemoryStore()
        let (scene, older, newer) = try await self.blocked(store)
        store.remove(.pinsNamingLogs)
        store.remove(.logs(Envelope.digest(of: older)))
        let pinning = try scene.client.launch()
        #expect(pinning.version == 3 && pinning.decide(scene.unlogged).reason == .pinMatch)
        scene.serve(newer)
        _ = await pinning.refresh()
        try scene.publish(scene.file(at: "2026-11-22T00:00:00Z"), isServed: false)
        _ = await pinning.refresh()
        #expect(try scene.client.launch(refreshing: false).decide(scene.unlogged).reason == .transparency)
    }
}

extension TestClient {
    /// The same client on another disk.
    fileprivate init(_ client: TestClient, on store: any StateStore) {
        self.server = client.server
        self.clock = client.clock
        self.store = store
        self.root = client.root
        self.list = client.list
        self.configuration = client.configuration
    }
}

/// A disk on which one file cannot be written.
private struct UnwritableFile: StateStore {
    private let disk: MemoryStore
    private let file: StateFile

    init(_ disk: MemoryStore, _ file: StateFile) { (self.disk, self.file) = (disk, file) }

    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile { self.disk.read(file, maximumBytes: maximumBytes) }

    func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError) {
        guard file != self.file else { throw StateStoreError("No space left on device") }
        self.disk.write(bytes, to: file)
    }

    func logDigests() -> [String] { self.disk.logDigests() }

    func remove(_ file: StateFile) { self.disk.remove(file) }

    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) { try self.disk.withLock(body) }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningTesting
import Security
import Testing

@testable import PinningURLSession

@Suite("The state of an app on a device")
struct StateTests {
    /// A client whose folder is that of a group no other test has, and its list's name, which no other test has either.
    private final class App {
        let name = "app-\(UUID().uuidString)"
        let group = "group.\(UUID().uuidString)"
        let lists: SimulatedServer
        let clock: ManualClock
        private let root: [UInt8]
        private let list: [UInt8]

        init() throws {
            let now = Timestamp(secondsSince1970: TestPKI.now)
            let repository = try RepositorySimulator(
                name: self.name, at: now,
                domains: [PinList.Domain(try Phone.entry("api.example.com", [Phone.strangePin]))])
            self.root = repository.roots[0]
            self.list = repository.lists[0]
            self.lists = SimulatedServer(repository)
            self.clock = ManualClock(now)
        }

        deinit { try? FileManager.default.removeItem(at: self.folder) }

        var folder: URL {
            FileManager.default.temporaryDirectory
                .appendingPathComponent(
                    "shim-containers/\(self.group)/Library/Application Support/Tumbler/\(self.name)")
        }

        /// A start of the app.
        func launch(state: StateLocation? = nil) throws -> Pinning {
            var configuration = PinningConfiguration(
                fetcher: self.lists, reportSender: NoNetwork(), clock: self.clock,
                randomness: FixedRandomness(fraction: 0))
            configuration.versionMark = KeychainVersionMark()
            return try Pinning(
                root: .bytes(self.root), list: .bytes(self.list), refreshFrom: URL(string: SimulatedServer.address),
                state: state ?? .appGroup(self.group), configuration: configuration)
        }

        func publish() throws {
            try self.lists.publish { repository in
                repository.time = self.clock.now
                _ = try repository.publishList { _ in }
            }
        }
    }

    private func kinds(_ pinning: Pinning) async -> [PinningEvent.Kind] {
        let end = PinningEvent(PinningEvent.Kind(code: "end"), at: Timestamp(secondsSince1970: 0), UUID().uuidString)
        let events = pinning.events()
        pinning.send(end)
        var kinds: [PinningEvent.Kind] = []
        for await event in events {
            if event == end { return kinds }
            kinds.append(event.kind)
        }
        return kinds
    }

    @Test("is in the group's folder, which an extension shares, and outlives a start")
    func isInTheGroupsFolderWhichAnExtensionSharesAndOutlivesAStart() async throws {
        let app = try App()
        try app.publish()
        #expect(await (try app.launch()).refresh().isSuccess)
        #expect(FileManager.default.fileExists(atPath: app.folder.appendingPathComponent("pins.json").path))
        let appExtension = try app.launch()
        #expect(appExtension.policyInForce.listVersion == 2)
        #expect(await self.kinds(appExtension).isEmpty)
    }

    @Test("keeps the installation's id in the Keychain, on this device alone, and in no file")
    func keepsTheInstallationsIdInTheKeychainOnThisDeviceAloneAndInNoFile() async throws {
        let app = try App()
        _ = try app.launch()
        #expect(!FileManager.default.fileExists(atPath: app.folder.appendingPathComponent("installation-id").path))
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "tumbler.\(app.name)",
            kSecAttrAccount as String: "installation-id", kSecReturnData as String: true,
        ]
        var found: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
        let first = found as? Data
        #expect(first?.count == 16)
        _ = try app.launch()
        #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
        #expect(found as? Data == first)
    }

    @Test("is a store as the client asks for, in the group's folder")
    func isAStoreAsTheClientAsksForInTheGroupsFolder() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let name = UUID().uuidString
        try ProtocolCompatibility.check { ApplicationStore(path: path, name: name, accessGroup: nil, isShared: true) }
        #expect(throws: (any Error).self) { try ProtocolCompatibility.check { MissingStore(reason: "test") } }
    }

    @Test(
        "is unreadable before the first unlock: the shipped list is enforced, nothing is written, and later all is well"
    )
    func isUnreadableBeforeTheFirstUnlockTheShippedListIsEnforcedNothingIsWritten() async throws {
        let app = try App()
        let service = "tumbler.\(app.name)"
        SimulatedSystem.setKeychainLocked(true, service: service)
        let pinning = try app.launch()
        #expect(await self.kinds(pinning) == [.stateUnreadable])
        #expect(
            pinning.decision(for: ValidatedPath(uncheckedValidatedPath: [[0x30]]), host: "api.example.com").verdict
                == .block)
        SimulatedSystem.setKeychainLocked(false, service: service)
        #expect(await self.kinds(try app.launch()).isEmpty)
    }

    @Test("goes into the folder where the Keychain may not be used")
    func goesIntoTheFolderWhereTheKeychainMayNotBeUsed() async throws {
        let app = try App()
        SimulatedSystem.setKeychainFailure(errSecMissingEntitlement, service: "tumbler.\(app.name)")
        let pinning = try app.launch()
        #expect(await self.kinds(pinning).isEmpty)
        #expect(FileManager.default.fileExists(atPath: app.folder.appendingPathComponent("installation-id").path))
    }

    @Test("that is deleted with a replayed old list is found out by the mark in the Keychain")
    func thatIsDeletedWithAReplayedOldListIsFoundOutByTheMarkInTheKeychain() async throws {
        let app = try App()
        try app.publish()
        let old = app.lists.repository.lists[1]
        try app.publish()
        #expect(await (try app.launch()).refresh().isSuccess)
        #expect(KeychainVersionMark().load(name: app.name)?.version == 3)
        try FileManager.default.removeItem(at: app.folder)
        app.lists.publish { $0.tampering[.pins] = { _ in old } }
        #expect(await (try app.launch()).refresh().refused.map(\.code) == [.rollback])
    }

    @Test("damaged in the Keychain is as if there were no mark")
    func damagedInTheKeychainIsAsIfThereWereNoMark() throws {
        let app = try App()
        let ofAnother = Data(#"{"name": "another", "version": 9, "keyids": ["a"]}"#.utf8)
        for bytes in [Data(), Data("{}".utf8), Data(repeating: 0x5b, count: 100_000), ofAnother] {
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "tumbler.version-mark",
                kSecAttrAccount as String: app.name, kSecValueData as String: bytes,
            ]
            SecItemDelete(item as CFDictionary)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(KeychainVersionMark().load(name: app.name) == nil)
        }
        try KeychainVersionMark().save(VersionMark(name: app.name, version: 7, keyIDs: ["a"]))
        #expect(KeychainVersionMark().load(name: app.name) == VersionMark(name: app.name, version: 7, keyIDs: ["a"]))
    }

    @Test("is locked in a group's folder only while the system waits for it, and not when it does not")
    func isLockedInAGroupsFolderOnlyWhileTheSystemWaitsForItAndNotWhenItDoesNot() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let shared = ApplicationStore(path: path, name: "test", accessGroup: nil, isShared: true)
        for behaviour in [SimulatedActivities.Behaviour.granted, .expiring] {
            try SimulatedActivities.with(behaviour) {
                var running = 0
                try shared.withLock { running = SimulatedActivities.running }
                #expect(running == 1)
                #expect(SimulatedActivities.begun == 1)
            }
        }
        SimulatedActivities.with(.refused) {
            var isRun = false
            #expect(throws: StateStoreError.self) { try shared.withLock { isRun = true } }
            #expect(!isRun)
        }
        // The lock was given back, and a folder of the app's own needs no such thing.
        let own = ApplicationStore(path: path, name: "test", accessGroup: nil, isShared: false)
        try SimulatedActivities.with(.refused) {
            var isRun = false
            try own.withLock { isRun = true }
            #expect(isRun)
            #expect(SimulatedActivities.begun == 0)
        }
    }

    @Test("that cannot be written before the app is suspended is in memory, and an event says so")
    func thatCannotBeWrittenBeforeTheAppIsSuspendedIsInMemoryAndAnEventSaysSo() async throws {
        let app = try App()
        try app.publish()
        let pinning = try SimulatedActivities.with(.refused) { try app.launch() }
        #expect(FileManager.default.fileExists(atPath: app.folder.appendingPathComponent("pins.json").path) == false)
        #expect(pinning.policyInForce.listVersion == 1)
    }

    @Test("without the entitlement for the group is in memory alone, and an event says so")
    func withoutTheEntitlementForTheGroupIsInMemoryAloneAndAnEventSaysSo() async throws {
        let app = try App()
        try app.publish()
        let pinning = try app.launch(state: .appGroup("not-entitled"))
        #expect(await self.kinds(pinning).contains(.stateUnreadable))
        #expect(await pinning.refresh().refused.isEmpty)
        #expect(pinning.policyInForce.listVersion == 2)
    }

    @Test("is by default in Application Support, in a folder of the app's and the list's own")
    func isByDefaultInApplicationSupportInAFolderOfTheAppsAndTheListsOwn() async throws {
        let app = try App()
        try app.publish()
        #expect(await (try app.launch(state: .applicationSupport)).refresh().isSuccess)
        let support = try #require(
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first)
        let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        let folder = support.appendingPathComponent("\(name)/Tumbler/\(app.name)")
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("pins.json").path))
    }
}

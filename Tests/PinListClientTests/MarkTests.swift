// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 6: a mark that is kept where deleting the state folder does not reach it.
@Suite("The mark that is kept elsewhere")
struct MarkTests {
    /// A mark in memory.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Keychain: VersionMarkStore, @unchecked Sendable {
        private let lock = NSLock()
        private var mark: VersionMark?
        private var count = 0
        private var fails = false

        /// The mark that is kept.
        var kept: VersionMark? {
            get { self.lock.withLock { self.mark } }
            set { self.lock.withLock { self.mark = newValue } }
        }

        /// How often one was written.
        var writes: Int { self.lock.withLock { self.count } }

        /// Whether none can be written, as on a locked device.
        var isLocked: Bool {
            get { self.lock.withLock { self.fails } }
            set { self.lock.withLock { self.fails = newValue } }
        }

        func load(name: String) -> VersionMark? { self.kept.flatMap { $0.name == name ? $0 : nil } }

        func save(_ mark: VersionMark) throws(StateStoreError) {
            guard !self.isLocked else { throw StateStoreError("the Keychain is locked") }
            self.lock.withLock {
                self.mark = mark
                self.count += 1
            }
        }
    }

    private let keychain = Keychain()

    private func client() throws -> TestClient {
        var client = try TestClient()
        client.configuration.versionMark = self.keychain
        return client
    }

    /// The app after its state folder was deleted.
    private func emptied(_ client: TestClient) throws -> Pinning {
        try Pinning(
            root: .bytes(client.root), list: .bytes(client.list), refreshFrom: URL(string: SimulatedServer.address),
            state: .memory, configuration: client.configuration)
    }

    @Test("an attacker deletes the state folder and replays an old list: the mark kept elsewhere refuses it")
    func attackerDeletesTheStateFolderAndReplaysAnOldList() async throws {
        let client = try self.client()
        try client.publish()
        let old = client.server.repository.lists[1]
        try client.publish()
        #expect(await (try client.launch()).refresh().isSuccess)
        #expect(self.keychain.kept?.version == 3)
        let pinning = try self.emptied(client)
        #expect(pinning.version == 1)
        client.server.publish { $0.tampering[.pins] = { _ in old } }
        #expect(await pinning.refresh().refused.map(\.code) == [.rollback])
        client.server.publish { $0.tampering = [:] }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 3)
    }

    @Test("a mark that could not be read at the start, on a locked device, bounds the next list all the same")
    func markThatCouldNotBeReadAtTheStartBoundsTheNextListAllTheSame() async throws {
        let client = try self.client()
        try client.publish()
        let old = client.server.repository.lists[1]
        try client.publish()
        #expect(await (try client.launch()).refresh().isSuccess)
        let kept = self.keychain.kept
        self.keychain.kept = nil
        let pinning = try self.emptied(client)
        self.keychain.kept = kept
        client.server.publish { $0.tampering[.pins] = { _ in old } }
        #expect(await pinning.refresh().refused.map(\.code) == [.rollback])
        #expect(pinning.version == 1 && self.keychain.kept == kept)
    }

    @Test(
        "the root that replaces the signer moves the mark to the new one, with no new list; the folder is deleted then"
    )
    func rootThatReplacesTheSignerMovesTheMarkToTheNewOneWithNoNewList() async throws {
        let client = try self.client()
        let (old, new) = client.server.publish { repository in (repository.pinsKeys, repository.newKey()) }
        let earlier = try client.publish(signedBy: old + [new])
        try client.publish(signedBy: old + [new])
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        #expect(self.keychain.kept?.keyIDs == old.map(\.keyID))

        try client.server.publish { repository in
            repository.pinsKeys = [new]
            repository.time = client.clock.now
            try repository.publishRoot()
        }
        #expect(await pinning.refresh().isSuccess)
        let kept = self.keychain.kept
        #expect(kept == VersionMark(name: "com.example.app", version: 3, keyIDs: [new.keyID]))

        let after = try self.emptied(client)
        client.server.publish { $0.tampering[.pins] = { _ in earlier } }
        #expect(await after.refresh().refused.map(\.code) == [.rollback])
        #expect(self.keychain.kept == kept, "a lower one does not take its place")
    }

    @Test("a mark that was lost, or never written, is written after a list that is unchanged, and then no more")
    func markThatWasLostOrNeverWrittenIsWrittenAfterAListThatIsUnchanged() async throws {
        let client = try self.client()
        try client.publish()
        let first = try client.launch()
        #expect(await first.refresh().isSuccess)
        let mark = self.keychain.kept
        #expect(mark?.version == 2)
        #expect(self.keychain.writes == 1)
        _ = await first.refresh()
        #expect(self.keychain.writes == 1)

        self.keychain.kept = nil
        let second = try client.launch()
        #expect(await second.refresh().isSuccess)
        #expect(self.keychain.kept == mark)
        #expect(self.keychain.writes == 2)

        // A server that sends the very bytes again in place of 304.
        self.keychain.kept = nil
        let bytes = client.server.repository.lists[1]
        client.server.interference = { _, answer in
            answer.status == 304 ? FetchResponse(status: 200, body: bytes) : answer
        }
        #expect(await (try client.launch()).refresh().isSuccess)
        #expect(self.keychain.kept == mark)
    }

    @Test("a mark that cannot be written is an event, once, and each refresh tries again until it is written")
    func markThatCannotBeWrittenIsAnEventOnceAndEachRefreshTriesAgain() async throws {
        let client = try self.client()
        try client.publish()
        let pinning = try client.launch()
        self.keychain.isLocked = true
        for _ in 0..<2 {
            #expect(await pinning.refresh().isSuccess)
            #expect(await pinning.kinds().count { $0 == .storeFailed } == 1)
        }
        #expect(pinning.version == 2 && self.keychain.kept == nil)
        self.keychain.isLocked = false
        #expect(await pinning.refresh().isSuccess)
        #expect(self.keychain.kept?.version == 2)

        self.keychain.isLocked = true
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(await pinning.kinds().count { $0 == .storeFailed } == 2)
        #expect(self.keychain.kept?.version == 2)
    }

    @Test("a root that changes nothing about who signs writes no mark")
    func rootThatChangesNothingAboutWhoSignsWritesNoMark() async throws {
        let client = try self.client()
        try client.publish()
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        _ = try client.server.publish { try $0.publishRoot() }
        #expect(await pinning.refresh().isSuccess)
        #expect(self.keychain.writes == 1)
    }

    @Test("a signature is cut off after the folder was deleted: the mark remembers who else signed that version")
    func signatureIsCutOffAfterTheFolderWasDeleted() async throws {
        let client = try self.client()
        let both = try client.server.publish { repository in
            repository.pinsKeys.append(repository.newKey())
            try repository.publishRoot()
            return repository.pinsKeys
        }
        try client.publish(signedBy: both)
        #expect(await (try client.launch()).refresh().isSuccess)
        let mark = try #require(self.keychain.kept)
        #expect(Set(mark.keyIDs) == Set(both.map(\.keyID)))
        _ = try client.server.publish { try $0.republishList(signedBy: [both[0]]) }
        #expect(await (try self.emptied(client)).refresh().isSuccess)
        #expect(self.keychain.kept == mark)
    }

    @Test("a higher mark of another process is not replaced by a lower one")
    func higherMarkOfAnotherProcessIsNotReplacedByALowerOne() async throws {
        let client = try self.client()
        let first = client.server.repository.pinsKeys[0]
        let pinning = try client.launch()
        // Written after this process has looked.
        let other = VersionMark(name: "com.example.app", version: 9, keyIDs: [first.keyID])
        self.keychain.kept = other
        #expect(await pinning.refresh().isSuccess)
        #expect(self.keychain.kept == other)
        #expect(self.keychain.writes == 0)
    }
}

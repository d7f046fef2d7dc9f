// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("What is stored")
struct StoredStateTests {
    private static let files: [StateFile] = [.root(2), .pins, .state, .installationID]

    /// A client that has stored root 2 and list 3, with its files.
    private static func filled() async throws -> (TestClient, MemoryStore, [StateFile: [UInt8]]) {
        let store = MemoryStore()
        let client = try TestClient(store: store)
        _ = try client.server.publish { try $0.publishRoot() }
        try client.publish()
        try client.publish()
        let pinning = try client.launch()
        let outcome = await pinning.refresh()
        try #require(outcome.isSuccess && pinning.version == 3)
        var files: [StateFile: [UInt8]] = [:]
        for file in self.files {
            guard case .bytes(let bytes) = store.read(file, maximumBytes: .max) else { continue }
            files[file] = bytes
        }
        try #require(files.count == self.files.count)
        return (client, store, files)
    }

    @Test(
        "each byte flipped, one after the other: nothing crashes, the shipped list or the stored one is in force, an event says what happened"
    )
    func eachByteFlippedOneAfterTheOtherNothingCrashes() async throws {
        let (client, store, files) = try await Self.filled()
        for file in Self.files {
            let bytes = try #require(files[file])
            for index in bytes.indices {
                var damaged = bytes
                damaged[index] ^= 0x01
                store.write(damaged, to: file)
                let pinning = try client.launch(refreshing: false)
                let version = pinning.version
                #expect(version == 1 || version == 3, "\(file), byte \(index)")
                if version == 1 {
                    #expect(await pinning.kinds().contains(.stateDamaged), "\(file), byte \(index)")
                }
            }
            store.write(bytes, to: file)
        }
        #expect(try client.launch().version == 3)
    }

    @Test("truncated at each length: the same")
    func truncatedAtEachLengthTheSame() async throws {
        let (client, store, files) = try await Self.filled()
        for file in Self.files {
            let bytes = try #require(files[file])
            for length in bytes.indices {
                store.write(Array(bytes[..<length]), to: file)
                let pinning = try client.launch(refreshing: false)
                // The list's signer did not change with root 2, so it holds without it as well.
                #expect(pinning.version == (file == .pins ? 1 : 3), "\(file), \(length) bytes")
                #expect(await pinning.kinds().contains(.stateDamaged), "\(file), \(length) bytes")
            }
            store.write(bytes, to: file)
        }
    }

    @Test("after damage the next refresh stores everything anew")
    func afterDamageTheNextRefreshStoresEverythingAnew() async throws {
        let (client, store, files) = try await Self.filled()
        for file in Self.files { store.write([0], to: file) }
        let pinning = try client.launch()
        #expect(pinning.version == 1)
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 3)
        #expect(store.read(.pins, maximumBytes: .max) == .bytes(try #require(files[.pins])))
        #expect(store.read(.root(2), maximumBytes: .max) == .bytes(try #require(files[.root(2)])))
    }

    @Test("a full disk: the list is in force in this process, an event says so, and storing is tried again")
    func fullDiskTheListIsInForceInThisProcessAnEventSaysSoAndStoringIsTriedAgain() async throws {
        let store = FaultyStore(faults: [.writing])
        let client = try TestClient(store: store)
        try client.publish()
        let pinning = try client.launch()
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess && outcome.storeFailure != nil)
        #expect(pinning.version == 2)
        #expect(await pinning.kinds().contains(.storeFailed))
        #expect(try client.launch().version == 1)
        store.faults = []
        #expect(await pinning.refresh().isSuccess)
        #expect(try client.launch().version == 2)
    }

    @Test("files that cannot be read now: the client goes on in memory, writes nothing, and tries again")
    func filesThatCannotBeReadNowTheClientGoesOnInMemoryWritesNothingAndTriesAgain() async throws {
        let (filled, memory, _) = try await Self.filled()
        let store = FaultyStore(memory, faults: [.reading])
        let client = try TestClient(store: store)
        client.server.repository = filled.server.repository
        // The same keys: the simulator is seeded.
        let pinning = try client.launch()
        #expect(pinning.version == 1)
        #expect(await pinning.kinds().contains(.stateUnreadable))
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 3)
        #expect(store.writes.isEmpty)
        store.faults = []
        _ = await pinning.refresh()
        #expect(store.writes.contains(.state))
        #expect(pinning.version == 3)
    }

    @Test("a state folder of a newer schema is read and never written")
    func stateFolderOfANewerSchemaIsReadAndNeverWritten() async throws {
        let (client, store, files) = try await Self.filled()
        let newer = Array(#"{"schema":2,"lastRefresh":17}"#.utf8)
        store.write(newer, to: .state)
        let pinning = try client.launch()
        #expect(pinning.version == 3)
        #expect(await pinning.kinds() == [.stateNewer])
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 4)
        #expect(store.read(.state, maximumBytes: .max) == .bytes(newer))
        #expect(store.read(.pins, maximumBytes: .max) == .bytes(try #require(files[.pins])))
    }

    @Test("two processes on one folder: an older list never replaces a newer one, and the slower process takes it over")
    func twoProcessesOnOneFolderAnOlderListNeverReplacesANewerOne() async throws {
        let store = MemoryStore()
        let client = try TestClient(store: store)
        try client.publish()
        let network = SimulatedServer(client.server.repository)
        let slow = try client.launch(over: network)
        let fast = try client.launch()
        try client.publish()
        // While version 2 is on its way to the one, the other stores version 3.
        network.interference = { request, answer in
            if request.address.hasSuffix("pins.json") { #expect(await fast.refresh().isSuccess) }
            return answer
        }
        let outcome = await slow.refresh()
        #expect(outcome.isSuccess && outcome.hasChanged)
        #expect(fast.version == 3 && slow.version == 3)
        #expect(try client.launch().version == 3)
    }

    @Test(
        "a newer list that another process stored is in force before the server is asked, which is asked about that one"
    )
    func newerListThatAnotherProcessStoredIsInForceBeforeTheServerIsAsked() async throws {
        let client = try TestClient()
        let app = try client.launch()
        let appExtension = try client.launch()
        try client.publish()
        #expect(await appExtension.refresh().isSuccess)
        client.server.forgetRequests()
        client.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
        let outcome = await app.refresh()
        #expect(outcome.fetchFailure?.code == .network && outcome.hasChanged)
        #expect(app.version == 2)
        #expect(await app.status.list?.source == .stored)
        #expect(await app.kinds() == [.listAccepted, .refreshFailed])

        client.server.interference = nil
        let third = try client.publish()
        #expect(await appExtension.refresh().isSuccess)
        let next = await app.refresh()
        #expect(next.isSuccess && next.hasChanged && app.version == 3)
        #expect(client.server.requests.last?.ifNoneMatch == "\"\(Envelope.digest(of: third))\"")
    }

    @Test("a stored list that is older, forged or damaged changes nothing in a process that runs")
    func storedListThatIsOlderForgedOrDamagedChangesNothingInAProcessThatRuns() async throws {
        let client = try TestClient()
        let older = try client.publish()
        try client.publish()
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        client.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
        var stranger = try RepositorySimulator(at: TestClient.start, seed: 99, domains: [try TestClient.entry(7)])
        for _ in 0..<5 { try stranger.publishList() }
        for bytes in [older, client.list, try #require(stranger.lists.last), [], Array("{}".utf8)] {
            try client.store.write(bytes, to: .pins)
            #expect(await pinning.refresh().hasChanged == false)
            #expect(pinning.version == 3)
        }
    }

    @Test("a signature is cut off: nothing is stored, nothing is reported, and the full envelope stays in force")
    func signatureIsCutOffNothingIsStoredNothingIsReported() async throws {
        let store = FaultyStore()
        let client = try TestClient(store: store)
        let signers = client.server.publish { $0.pinsKeys + [$0.newKey()] }
        let full = try client.publish(signedBy: signers)
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        let writes = store.writes.filter { $0 == .pins }.count
        let cut = try client.server.publish { try $0.republishList(signedBy: [signers[0]]) }
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess && outcome.refused.isEmpty && !outcome.hasChanged)
        #expect(store.writes.filter { $0 == .pins }.count == writes)
        #expect(store.read(.pins, maximumBytes: .max) == .bytes(full))
        #expect(cut != full)
        #expect(try client.launch().policyInForce.listDigest == Envelope.digest(of: full))
    }

    @Test(
        "two processes on one folder: the one that was given less does not overwrite the signature that the other has"
    )
    func twoProcessesOnOneFolder() async throws {
        let store = MemoryStore()
        let client = try TestClient(store: store)
        let signers = client.server.publish { $0.pinsKeys + [$0.newKey()] }
        let full = try client.publish(signedBy: signers)
        let network = SimulatedServer(client.server.repository)
        _ = try network.publish { try $0.republishList(signedBy: [signers[0]]) }
        let slow = try client.launch(over: network)
        let fast = try client.launch()
        network.interference = { request, answer in
            if request.address.hasSuffix("pins.json") { #expect(await fast.refresh().isSuccess) }
            return answer
        }
        #expect(await slow.refresh().isSuccess)
        #expect(store.read(.pins, maximumBytes: .max) == .bytes(full))
        #expect(slow.policyInForce.listDigest == Envelope.digest(of: full))
    }

    @Test("an app update with a new root replaces lost keys: what the old root had signed is dropped")
    func appUpdateWithANewRootReplacesLostKeysWhatTheOldRootHadSignedIsDropped() async throws {
        let (_, store, _) = try await Self.filled()
        let renewed = try RepositorySimulator(
            at: TestClient.start, seed: 99, domains: [try TestClient.entry(7)])
        let pinning = try Pinning(
            root: .bytes(renewed.roots[0]), list: .bytes(renewed.lists[0]), refreshFrom: nil, state: .store(store),
            configuration: try TestClient().configuration)
        #expect(pinning.version == 1)
        #expect(pinning.policyInForce.listDigest == Envelope.digest(of: renewed.lists[0]))
        #expect(await pinning.kinds() == [.stateDamaged, .stateDamaged])
    }

    @Test("an installation's place is kept; one that cannot be kept enforces only what all installations do")
    func installationsPlaceIsKeptOneThatCannotBeKeptEnforcesOnlyWhatAllInstallationsDo() throws {
        let faulty = FaultyStore(faults: [.writing])
        for (store, enforces) in [(MemoryStore() as any StateStore, true), (faulty, false)] {
            let client = try TestClient(store: store)
            var simulator = client.server.repository
            // Nearly every place is below 99; the chosen randomness gives one that is.
            try simulator.publishList { $0.domains[0].rollout = 99 }
            let pinning = try Pinning(
                root: .bytes(client.root), list: .bytes(simulator.lists[1]), refreshFrom: nil, state: .store(store),
                configuration: client.configuration)
            let decision = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            #expect(decision.isEnforced == enforces)
        }
    }
}

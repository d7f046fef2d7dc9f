// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Counters of keys that several instances see at once", .runsPostgreSQL)
struct AssertionCounterTests {
    private static func report(_ use: AssertionUse) throws -> AcceptedReport {
        let report = try ReportText.report(ReportText.body())
        return AcceptedReport(
            report: report, group: ReportGroup(report, .attested), receivedAt: TurnedClock.start, networks: nil,
            isSample: false, isListed: true,
            attestation: ReportAttestation(.attested, of: AttestedInstallation.name, use: use), body: report.document)
    }

    private static func key(_ id: UInt8) -> StoredAttestedKey {
        StoredAttestedKey(
            keyID: [UInt8](repeating: id, count: 32), name: AttestedInstallation.name, publicKey: [4],
            environment: "production", appID: AttestedInstallation.appID, digest: [])
    }

    @Test(
        "of two assertions with one counter one is taken, whichever instances they come to", arguments: TestedStore.all)
    func ofTwoAssertionsWithOneCounterOneIsTakenWhicheverInstancesTheyComeTo(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let stores = [try open(), try open()]
            let keys = (1...8).map { Self.key($0) }
            try await stores[0].write { store in
                for key in keys {
                    let isNew = try store.register(key, at: TurnedClock.start)
                    #expect(isNew)
                }
                let isNew = try store.register(keys[0], at: TurnedClock.start)
                #expect(!isNew)
            }
            // Each instance has each counter of each key once, in an order of its own: who waits for whom crosswise would
            // never end.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, store) in stores.enumerated() {
                    let intake = ReportIntake(store: store, instance: "\(number)", clock: TurnedClock())
                    group.addTask {
                        for counter in 1...10 as ClosedRange<UInt32> {
                            let order = number == 0 ? keys : keys.reversed()
                            let reports = try order.map { key in
                                try Self.report(AssertionUse(keyID: key.keyID, counter: counter, network: [1]))
                            }
                            try await intake.store(reports)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await stores[1].read { store in
                try store.connection.rows(
                    "SELECT attestation, COUNT(*) FROM report GROUP BY attestation ORDER BY attestation", []
                ).map { "\(try $0.text(0)) \(try $0.integer(1))" }
            }
            // An instance that was overtaken finds greater counters, and takes fewer; never is one taken twice.
            let taken = Int(rows.first?.split(separator: " ").last ?? "") ?? 0
            #expect(rows.count == 2)
            #expect((8...80).contains(taken))
            let counters = try await stores[0].read { store in
                try store.connection.rows("SELECT DISTINCT counter FROM attested_key", []).map { try $0.integer(0) }
            }
            #expect(counters == [10])
        }
    }

    @Test(
        "one counter, two stores on one database, at the same moment: one is attested, and both are stored",
        .needsPostgreSQL)
    func oneCounterTwoStoresOnOneDatabaseAtTheSameMomentOneIsAttestedAndBothAreStored() async throws {
        try await TestedStore.postgreSQL.withDatabase { open in
            let (first, second) = (try open(), try open())
            let key = Self.key(7)
            try await first.write { store in _ = try store.register(key, at: TurnedClock.start) }
            let (added, hasAdded) = AsyncStream.makeStream(of: Void.self)
            let mayGoOn = DispatchSemaphore(value: 0)
            let early = try Self.report(AssertionUse(keyID: key.keyID, counter: 5, network: [1]))
            let late = try Self.report(AssertionUse(keyID: key.keyID, counter: 5, network: [2]))
            async let one: Void = first.append { store in
                try store.add([early], countedBy: "1")
                hasAdded.yield()
                mayGoOn.wait()
            }
            for await _ in added { break }
            // The second one has it wait for the first, which has not committed, and then finds the counter taken.
            let intake = ReportIntake(store: second, instance: "2", clock: TurnedClock())
            async let two: Void = intake.store([late])
            do {
                defer { mayGoOn.signal() }
                await #expect(throws: ReportsMustWait.self) {
                    try await second.append { try $0.add([late], countedBy: "2") }
                }
            }
            try await one
            try await two
            #expect(try await AttestedService.states(first) == ["attested 0 1", "unattested 5 1"])
        }
    }

    @Test("two requests with one assertion in one batch are two, and one of them is attested")
    func twoRequestsWithOneAssertionInOneBatchAreTwoAndOneOfThemIsAttested() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let key = Self.key(9)
            try await store.write { store in _ = try store.register(key, at: TurnedClock.start) }
            let shared = AssertionUse(keyID: key.keyID, counter: 1, network: [1])
            let again = AssertionUse(keyID: key.keyID, counter: 1, network: [1])
            // An array of two reports is one body with one assertion.
            let reports = try [shared, shared, again].map { try Self.report($0) }
            try await store.append { try $0.add(reports, countedBy: "a") }
            let states = try await AttestedService.states(store)
            #expect(states == ["attested 0 2", "unattested 5 1"] || states == ["attested 0 1", "unattested 5 2"])
        }
    }
}

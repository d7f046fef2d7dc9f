// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The keys that were heard of a host in the last hour", .runsPostgreSQL)
struct AttestedWitnessTests {
    private static let host = "example.com"

    /// A report of a key: the number of the key, that of its network, and seconds after the beginning.
    private struct Heard {
        let key: UInt8
        let network: UInt8
        let seconds: Int64
    }

    /// What is heard one second after the last of some reports, which come in batches.
    private static func hosts(
        _ batches: [[Heard]], after seconds: Int64 = 1, on tested: TestedStore
    ) async throws -> [String: AttestedHost] {
        var found: [[String: AttestedHost]] = []
        let (results, told) = AsyncStream.makeStream(of: [String: AttestedHost].self)
        try await tested.withDatabase { open in
            let store = try open()
            for batch in batches {
                let reports = try batch.map { heard in
                    let use = AssertionUse(keyID: [heard.key], counter: 1, network: [heard.network])
                    return try StoreMoveTests.report(
                        Self.host, at: TurnedClock.start.advanced(by: heard.seconds),
                        attestation: ReportAttestation(.attested, of: "com.example.app", use: use))
                }
                try await store.write { try $0.addAttestations(reports, "a") }
            }
            let last = (batches.last?.last?.seconds ?? 0) + seconds
            told.yield(try await store.read { try $0.attestedHosts(at: TurnedClock.start.advanced(by: last)) })
            told.finish()
        }
        for await hosts in results { found.append(hosts) }
        return try #require(found.first)
    }

    @Test("an office of 64 installations takes no place of three others in three networks", arguments: TestedStore.all)
    func officeOf64InstallationsTakesNoPlaceOfThreeOthersInThreeNetworks(on tested: TestedStore) async throws {
        let office = (0..<64).map { Heard(key: $0, network: 0, seconds: 0) }
        let others = (1...3).map { Heard(key: 100 + $0, network: $0, seconds: 60) }
        let hosts = try await Self.hosts([office, others], on: tested)
        #expect(hosts == [Self.host: AttestedHost(keys: 8 + 3, networks: 4)])
    }

    @Test("one key that reports 64 times in a body, and each time anew, is one key", arguments: TestedStore.all)
    func oneKeyThatReports64TimesInABodyIsOneKey(on tested: TestedStore) async throws {
        let loud = (0..<64).map { _ in Heard(key: 1, network: 1, seconds: 0) }
        let others = (2...3).map { Heard(key: $0, network: $0, seconds: 0) }
        let hosts = try await Self.hosts([loud + others, loud], on: tested)
        #expect(hosts == [Self.host: AttestedHost(keys: 3, networks: 3)])
    }

    @Test("a key that reports again is heard again, by its last report", arguments: TestedStore.all)
    func keyThatReportsAgainIsHeardAgainByItsLastReport(on tested: TestedStore) async throws {
        let minute: Int64 = 60
        let reports = [(1, 5), (1, 50), (2, 66), (3, 67)].map { key, minutes in
            [Heard(key: key, network: key, seconds: minutes * minute)]
        }
        #expect(try await Self.hosts(reports, on: tested) == [Self.host: AttestedHost(keys: 3, networks: 3)])
        #expect(
            try await Self.hosts(reports, after: 43 * minute, on: tested)
                == [Self.host: AttestedHost(keys: 2, networks: 2)])
    }

    @Test("keys that were heard by a clock two days ahead are no alarm once it is right", arguments: TestedStore.all)
    func keysThatWereHeardByAClockTwoDaysAheadAreNoAlarmOnceItIsRight(on tested: TestedStore) async throws {
        let day: Int64 = 86_400
        let ahead = (1...3).map { Heard(key: $0, network: $0, seconds: 2 * day) }
        #expect(try await Self.hosts([ahead], after: 1, on: tested).count == 1)
        #expect(try await Self.hosts([ahead], after: -2 * day, on: tested).isEmpty)
    }
}

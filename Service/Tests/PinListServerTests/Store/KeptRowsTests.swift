// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import Logging
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// Rows that a service writes only after months, or for devices that are not here. Each is made by the functions of the
/// store, in a database of the test's own; and for a release in the one that `scripts/release-fixtures` fills, which
/// later versions have to read.
@Suite("Seals and attested keys that earlier services kept", .runsPostgreSQL)
struct KeptRowsTests {
    /// The name of the database of a release that is made, and the folder of its file; `nil` in an ordinary run.
    private static let fixture: (database: String, folder: String)? = {
        let environment = ProcessInfo.processInfo.environment
        guard let database = environment["TUMBLER_FIXTURE_DATABASE"] else { return nil }
        return (database, environment["TUMBLER_FIXTURE_FOLDER"] ?? "")
    }()

    private static func withStore(
        _ tested: TestedStore, _ body: (any ServiceStore) async throws -> Void
    ) async throws {
        guard let fixture = Self.fixture else { return try await tested.withDatabase { try await body(try $0()) } }
        try await body(try StoreLocation.open(database: fixture.database, in: fixture.folder, for: .serving))
    }

    /// The stores: one where a fixture is made, because that says which.
    static let stores: [TestedStore] = Self.fixture == nil ? TestedStore.all : [.sqlite]

    // MARK: The months of the audit log

    @Test("months that are over are sealed, and the older one goes", arguments: Self.stores)
    func monthsThatAreOverAreSealed(on tested: TestedStore) async throws {
        try await Self.withStore(tested) { store in
            if Self.fixture == nil {
                for day in ["2025-07-03", "2025-07-30", "2025-10-01", "2025-10-20"] {
                    let time = try Timestamp("\(day)T12:00:00Z")
                    try await store.write { try $0.log("note", day, by: "test", at: time) }
                }
            }
            await Retention(
                store: store, limits: .init(auditDays: 400), clock: TurnedClock(TurnedClock.start),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ).look()
            guard Self.fixture == nil else { return }
            try await Self.expectSeals(store)
        }
    }

    @Test(
        "the seals of that day hold the log together, and prove what is gone", arguments: KeptDatabase.released,
        TestedStore.all)
    func sealsOfThatDayHoldTheLogTogetherAndProveWhatIsGone(fixture: String, on tested: TestedStore) async throws {
        try await KeptDatabase.with(fixture, on: tested) { try await Self.expectSeals(try $0.open()) }
    }

    private static func expectSeals(_ store: any ServiceStore) async throws {
        let (seals, log) = try await store.read { (try $0.auditSeals(), try $0.auditEntries(from: 1, limit: 1_000)) }
        #expect(seals.map(\.period.description) == ["2025-07", "2025-10"])
        #expect(seals.map { [$0.first, $0.last, $0.entry] } == [[1, 2, 5], [3, 4, 6]])
        #expect(log.first?.number == 3)
        #expect(log.prefix(4).map(\.action).suffix(2) == ["seal", "seal"])
        let gone = try #require(seals.first?.head)
        var chain = AuditChain(seals: seals, wanted: gone)
        for entry in log { try chain.append(entry) }
        try chain.finish()
        #expect(chain.hasWanted && chain.count == log.last?.number)
        // What is sealed may go, and nothing else.
        await #expect(throws: StoreError.self) {
            try await store.write { try $0.connection.execute("DELETE FROM audit WHERE number >= 5", []) }
        }
        try await store.write { try $0.removeAudit(before: TurnedClock.start, limit: 100) }
        #expect(try await store.read { try $0.oldestAuditNumber() } == 5)
    }

    // MARK: Keys of installations

    private static let list = "com.example.hybrid"
    private static let host = "cdn.example.com"
    private static let app = "TEAMID1234.com.example.app"
    private static let secret = [UInt8](repeating: 7, count: 32)

    @Test("keys of installations, and what they signed, are kept", arguments: Self.stores)
    func keysOfInstallationsAndWhatTheySignedAreKept(on tested: TestedStore) async throws {
        try await Self.withStore(tested) { store in
            let authority = try SimulatedAttestationAuthority(at: TurnedClock.start)
            let forms: [SimulatedAttestedKey.Form] = [.plain, .extended(category: 4, version: "4.2")]
            let keys = forms.map { SimulatedAttestedKey(under: authority, appID: Self.app, form: $0) }
            try await store.write { try Self.register(keys, in: $0) }
            try await store.append { try Self.report(by: keys, in: $0) }
            guard Self.fixture == nil else { return }
            try await Self.expectKeys(store)
        }
    }

    private static func register(_ keys: [SimulatedAttestedKey], in store: StoreTransaction) throws {
        let challenge = Array(SHA256.hash(data: Array("a challenge".utf8)))
        for key in keys {
            var stored = StoredAttestedKey(
                keyID: key.keyID, name: Self.list, publicKey: key.x963, environment: "production", appID: key.appID,
                digest: Array(SHA256.hash(data: try key.attestation(clientDataHash: challenge))))
            if case .extended(let category, let version) = key.form {
                (stored.category, stored.bundleVersion) = (category, version)
                stored.receipt = [0x30, 0x80, 0, 0]
            }
            #expect(try store.register(stored, at: TurnedClock.start))
        }
        _ = try store.attestationSecret(of: TurnedClock.start.hour / 24, orNew: Self.secret)
    }

    /// Two reports of the first key, one of the other one, and one that nobody signed.
    private static func report(by keys: [SimulatedAttestedKey], in store: StoreTransaction) throws {
        let later = TurnedClock.start.advanced(by: 600)
        for (key, counter, network) in [(keys[0], 1, 1), (keys[0], 2, 1), (keys[1], 1, 2)]
            as [(SimulatedAttestedKey, UInt32, UInt8)]
        {
            let use = AssertionUse(keyID: key.keyID, counter: counter, network: [network])
            let attestation = ReportAttestation(.attested, of: Self.list, use: use)
            try store.add([try StoreMoveTests.report(Self.host, at: later, attestation: attestation)], countedBy: "a")
        }
        let unsigned = ReportAttestation(.unattested, of: Self.list, step: 5)
        try store.add([try StoreMoveTests.report(Self.host, at: later, attestation: unsigned)], countedBy: "b")
    }

    @Test(
        "keys of that day, and what they signed, are there, and an assertion of that day counts no second time",
        arguments: KeptDatabase.released, TestedStore.all)
    func keysOfThatDayAndWhatTheySignedAreThereAndAnAssertionOfThatDayCountsNoSecondTime(
        fixture: String, on tested: TestedStore
    ) async throws {
        try await KeptDatabase.with(fixture, on: tested) { try await Self.expectKeys(try $0.open()) }
    }

    private static func expectKeys(_ store: any ServiceStore) async throws {
        let start = TurnedClock.start
        let later = start.advanced(by: 600)
        let rows = try await store.read { store in
            try store.connection.rows(
                "SELECT key_id, first_at, last_at, receipt FROM attested_key ORDER BY category", []
            )
            .map { (try $0.blob(0), try $0.integer(1), try $0.integer(2), try $0.optionalBlob(3)) }
        }
        #expect(rows.count == 2)
        #expect(rows.allSatisfy { $0.1 == start.secondsSince1970 && $0.2 == later.secondsSince1970 })
        #expect(Set(rows.map(\.3)) == [nil, [0x30, 0x80, 0, 0]])
        for (keyID, _, _, receipt) in rows {
            let key = try #require(try await store.read { try $0.attestedKey(keyID) })
            #expect(Array(SHA256.hash(data: key.publicKey)) == keyID)
            #expect(key.name == Self.list && key.appID == Self.app && key.environment == "production")
            #expect(key.digest.count == 32)
            #expect(key.category == (receipt == nil ? nil : 4))
            #expect(key.bundleVersion == (receipt == nil ? nil : "4.2"))
            let known = try #require(key.known)
            #expect(known.counter == (receipt == nil ? 2 : 1))
            // A counter that was used is used up, and the next one is not.
            let uses = [known.counter, known.counter + 1].map {
                AssertionUse(keyID: keyID, counter: $0, network: [1])
            }
            #expect(try await store.write { store in try uses.map { try store.use($0, at: later) } } == [false, true])
        }
        #expect(try await store.read { try $0.attestationSecret(of: start.hour / 24) } == Self.secret)
        let (hosts, rates) = try await store.read {
            (try $0.attestedHosts(at: later), try $0.attestationRates(of: [Self.list], at: later))
        }
        #expect(hosts[Self.host] == AttestedHost(keys: 2, networks: 2))
        let rate = try #require(rates[Self.list])
        #expect([rate.attested, rate.unattested] == [3, 1])
        #expect(try await store.read { try $0.attestedKeyCounts(of: [Self.list]) } == [Self.list: 2])
        #expect(
            try await store.lines(
                """
                SELECT attestation, COALESCE(attestation_step, 0), COUNT(*) FROM report WHERE attestation <> 'not asked'
                GROUP BY attestation, attestation_step ORDER BY attestation
                """) == ["attested 0 3", "unattested 5 1"])
    }
}

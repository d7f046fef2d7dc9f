// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer

@Suite("Reports in a store", .runsPostgreSQL)
struct StoredReportTests {
    private static func accepted(
        host: String = "example.com", leaf: Int = 1, networks: Int? = nil, at time: Timestamp = TurnedClock.start
    ) throws -> AcceptedReport {
        let report = try ReportText.report(
            chain: SketchedChain.chain(leafKey: leaf),
            [("noted-hostname", .string(host)), ("app-vendor-id", .string("SECRET-ID"))])
        let day = time.secondsSince1970 / 86_400
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time,
            networks: networks.map { NetworkCounter.Count(day: day, networks: BoundedCount($0, isMore: false)) },
            isSample: false, isListed: true, body: report.document)
    }

    @Test("what the last probe of the host saw is evidence", arguments: TestedStore.all)
    func probed(on tested: TestedStore) async throws {
        let chain = SketchedChain.chain(organisation: "Acme Corp", commonName: "Acme CA")
        let report = try ReportText.report(chain: chain)
        let pin = try #require(ReadableCertificate(chain[0])?.pin.description)
        let accepted = AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil, isSample: false,
            isListed: true,
            body: report.document)
        @Sendable func probe(_ name: String, _ pin: String, isOK: Bool, after seconds: Int64) -> StoredProbe {
            StoredProbe(
                name: name, host: "example.com",
                at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds), isOK: isOK,
                result: Array(#"{"path":[{"pin":"\#(pin)"}]}"#.utf8))
        }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add([accepted], countedBy: "a") }
            func cause() async throws -> LikelyCause? {
                try await store.read { try $0.groups(GroupFilter(), newest: [:]).first?.cause }
            }
            let before = try await cause()
            #expect(before?.evidence.contains { $0.contains("Your probe") } == false)
            try await store.write { try $0.add([probe("a", "sha256/other", isOK: true, after: 1)]) }
            let other = try await cause()
            #expect(other?.evidence.contains { $0.contains("saw another key at the host, of another") } == true)
            try await store.write { try $0.add([probe("b", pin, isOK: false, after: 2)]) }
            let seen = try await cause()
            #expect(seen?.kind == .rotation)
        }
    }

    @Test("500 reports at once take far fewer transactions, and each is there once", arguments: TestedStore.all)
    func batches(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = GatedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 {
                    group.addTask { try await intake.store([try Self.accepted()]) }
                }
                // The first one is being written while all the others come.
                await store.untilWriting()
                while await intake.waitingCount < 500 { await Task.yield() }
                store.open()
                try await group.waitForAll()
            }
            let written = await intake.written
            #expect(written.reports == 500)
            #expect(written.batches <= 2)
            let groups = try await open().read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.map(\.count) == [500])
            let stored = try await open().read { try $0.hostRates(listed: [], at: TurnedClock.start) }
            #expect(stored.map(\.lastHour) == [500])
        }
    }

    @Test("what does not fit is refused at once, and there is room again when it is written")
    func congested() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            let one = try Self.accepted()
            let most = Array(repeating: one, count: ReportIntake.mostWaiting)
            async let stored: Void = intake.store(most)
            await store.untilWriting()
            await #expect(throws: ReportIntake.Congestion.self) { try await intake.store([one]) }
            store.open()
            try await stored
            try await intake.store([one])
            #expect(await intake.written.reports == Int64(ReportIntake.mostWaiting) + 1)
        }
    }

    @Test("a batch that cannot be stored is refused to all who wait for it; the next one is stored")
    func failing() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            let one = try Self.accepted()
            store.failure = StoreError(.full, "the disk is full")
            await #expect(throws: StoreError.self) { try await intake.store([one]) }
            store.failure = nil
            try await intake.store([one])
            #expect(await intake.written.reports == 1)
        }
    }

    @Test("bodies are kept of the first 16 of a group, and never an app's vendor id", arguments: TestedStore.all)
    func bodies(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let reports = try (0..<20).map { _ in try Self.accepted() }
            try await store.write { try $0.add(reports, countedBy: "a") }
            try await store.write { try $0.add(reports, countedBy: "a") }
            let bodies = try await store.read { store in
                try store.connection.rows("SELECT body FROM report_body", []).map { try $0.blob(0) }
            }
            #expect(bodies.count == 16)
            #expect(bodies.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("SECRET-ID") })
        }
    }

    @Test("networks of a day never shrink, and two instances that count the same are not added up; leaves are told")
    func counts() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for (instance, networks, leaf) in [("a", 3, 1), ("a", 2, 1), ("b", 5, 2)] {
                let report = try Self.accepted(leaf: leaf, networks: networks)
                try await store.write { try $0.add([report], countedBy: instance) }
            }
            let group = try #require(try await store.read { try $0.groups(GroupFilter(), newest: [:]) }.first)
            #expect(group.networks == BoundedCount(5, isMore: false))
            #expect(group.leaves == BoundedCount(2, isMore: false))
            #expect(group.leafPin == nil)
            let stored = try await store.read { store in
                try store.connection.rows("SELECT instance, networks FROM group_network ORDER BY instance", [])
                    .map { "\(try $0.text(0)) \(try $0.integer(1))" }
            }
            #expect(stored == ["a 3", "b 5"])
        }
    }

    @Test("two instances that add the same groups at once lose nothing", arguments: TestedStore.all)
    func instances(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let intakes = [
                ReportIntake(store: try open(), instance: "a"), ReportIntake(store: try open(), instance: "b"),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        try await intakes[number % 2].store([
                            try Self.accepted(host: number % 3 == 0 ? "a.example" : "b.example")
                        ])
                    }
                }
                try await group.waitForAll()
            }
            let groups = try await open().read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.map { "\($0.host) \($0.count)" }.sorted() == ["a.example 20", "b.example 40"])
        }
    }

    @Test(
        "beyond the bound of groups all is one group, and hosts that strangers invent take no room either",
        arguments: TestedStore.all)
    func overflow(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add([try Self.accepted(host: "known.example")], countedBy: "a") }
            _ = try await store.write { store in
                try store.connection.execute(
                    """
                    WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < ?)
                    INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, issuer, is_validated,
                        first_at, last_at, count)
                    SELECT 'made ' || n, 'pin', 'x', 'x', '', '', '', '', 0, 0, 0, 1 FROM made
                    """, [.integer(Int64(ReportGroup.mostGroups) - 1)])
            }
            let reports = try (0..<30).map { try Self.accepted(host: "invented\($0).example") }
            try await store.write { try $0.add(reports, countedBy: "a") }
            try await store.write { try $0.add([try Self.accepted(host: "known.example")], countedBy: "a") }
            let overflow = try await store.read { store in
                try store.connection.rows(
                    "SELECT kind, host, count FROM report_group WHERE reason = ?", [.text(ReportGroup.overflowReason)]
                ).map { "\(try $0.text(0)) \(try $0.text(1)) \(try $0.integer(2))" }
            }
            #expect(overflow == ["pin  30"])
            let rates = try await store.read { try $0.hostRates(listed: [], at: TurnedClock.start) }
            #expect(rates.map { "\($0.host) \($0.lastHour)" } == ["* 30.0", "known.example 2.0"])
        }
    }
}

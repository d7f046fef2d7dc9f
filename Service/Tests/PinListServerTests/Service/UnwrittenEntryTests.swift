// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The entries of a leaked token in the audit log")
struct UnwrittenEntryTests {
    private static func entries(_ store: any ServiceStore) async throws -> [AuditEntry] {
        try await store.read { try $0.auditEntries(from: 1, limit: 5_000) }
    }

    @Test(
        "a thousand refusals a day are written, one line says how many were not, and a publication still gets through")
    func thousandRefusalsADayAreWrittenOneLineSaysHowManyWereNot() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (clock, unwritten) = (TurnedClock(), UnwrittenEntries())
            let publisher = Publisher(store: store, anchors: repository.anchors, unwritten: unwritten)
            let now = clock.now
            try await store.write { store in
                for _ in 0..<AuditQuota.maximumPerDay - 1 {
                    try store.log(Publisher.refusedAction, "before", by: "leaked", at: now)
                }
            }
            func refuse(_ actor: String) async throws {
                await #expect(throws: PublicationError.self) {
                    try await publisher.publish(
                        array: Array("{}".utf8), name: "com.example.app", by: actor, at: clock.now)
                }
            }
            for _ in 0..<50 { try await refuse("leaked") }
            try await refuse("other")
            #expect(try await Self.entries(store).count == AuditQuota.maximumPerDay + 1)
            let changes = try await publisher.publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "leaked", at: clock.now)
            #expect(changes.count == 2)
            let recorder = UnwrittenEntryRecorder(
                entries: unwritten, store: store, clock: clock, logger: RunningService.silent)
            // Not before the day is over.
            await recorder.record(before: clock.now.hour / 24)
            #expect(try await Self.entries(store).count == AuditQuota.maximumPerDay + 3)
            clock.turn(by: 86_400)
            for _ in 0..<2 { await recorder.record(before: clock.now.hour / 24) }
            let last = try #require(try await Self.entries(store).last)
            #expect(try await Self.entries(store).count == AuditQuota.maximumPerDay + 4)
            #expect("\(last.actor) \(last.action)" == "service not-written")
            #expect(last.detail == "leaked: 49 further entries publish-refused of 2026-11-21 were not written")
            // On another day the token has room again.
            try await refuse("leaked")
            #expect(try await Self.entries(store).last?.action == Publisher.refusedAction)
        }
    }

    @Test("an instance that ends says what it did not write; what cannot be stored is kept until it can")
    func instanceThatEndsSaysWhatItDidNotWriteWhatCannotBeStoredIsKeptUntilItCan() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (clock, unwritten) = (TurnedClock(), UnwrittenEntries())
            for _ in 0..<3 { unwritten.add("publish-refused", by: "leaked", at: clock.now) }
            let broken = UnwrittenEntryRecorder(
                entries: unwritten, store: AbsentStore(StoreError(.full, "no room")), clock: clock,
                logger: RunningService.silent)
            await broken.record(before: .max)
            await UnwrittenEntryRecorder(
                entries: unwritten, store: store, clock: clock, logger: RunningService.silent
            ).record(before: .max)
            let entries = try await Self.entries(store)
            #expect(entries.map(\.action) == [UnwrittenEntries.action])
            #expect(entries.first?.detail.hasPrefix("leaked: 3 further entries") == true)
        }
    }

    @Test("a token of scope operate acknowledges, silences and ends silences a thousand times a day each, and no more")
    func tokenOfScopeOperateAcknowledges() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let token = try await service.token(.operate)
                let (id, now) = (try #require(AccessToken.id(of: token)), service.clock.now)
                try await service.store.write { store in
                    for action in [
                        AlarmHandling.acknowledgedAction, AlarmHandling.silencedAction, AlarmHandling.unsilencedAction,
                    ] {
                        for _ in 0..<AuditQuota.maximumPerDay { try store.log(action, "before", by: id, at: now) }
                    }
                }
                let fields: HTTPHeaders = ["Authorization": "Bearer \(token)"]
                for (deed, body) in [
                    ("acknowledge", #"{"key": "silence:a"}"#),
                    ("silence", #"{"what": "silence", "seconds": 60, "because": "x"}"#),
                    ("unsilence", #"{"what": "silence"}"#),
                ] {
                    let answer = try await service.ask(.POST, "/v1/alarms/\(deed)", fields, Array(body.utf8))
                    #expect(answer.status == 429, "\(deed)")
                    #expect(answer.code == "too-many", "\(deed)")
                    #expect(answer.headers["retry-after"] == ["86400"], "\(deed)")
                }
                let count = try await service.store.read { try $0.newestAuditEntry()?.number }
                #expect(count == Int64(3 * AuditQuota.maximumPerDay))
            }
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("The use of the database's room")
struct StoreRoomTests {
    private static let sizes: [String: Int64] = [
        "report": 8_000_000, "report_group": 1_000_000, "inquiry": 2_000_000, "report_hour": 1_000_000,
        "list": 3_000_000, "root": 500_000, "publication": 500_000, "audit": 1_500_000, "audit_seal": 250_000,
        "evidence": 250_000, "token": 100_000, "later": 900_000,
    ]

    @Test("every table that is moved belongs to a part, and all parts together are all there is")
    func everyTableThatIsMovedBelongsToAPartAndAllPartsTogetherAreAllThereIs() {
        let room = StoreRoom(sizes: Self.sizes, limit: 2_048_000_000)
        #expect(
            room.parts.map { "\($0.part.rawValue) \($0.bytes)" } == [
                "reports 9000000", "counts 3000000", "lists 4000000", "auditLog 2000000", "other 1000000",
            ])
        #expect(room.parts.reduce(0) { $0 + $1.bytes } == room.total)
        #expect(
            room.sentence
                == "The database takes 19 MB of 2048 MB: reports 9 MB, counts 3 MB, lists 4 MB, audit log 2 MB, "
                + "other 1 MB.")
        // Only reports and counts are deleted for room.
        for (table, _, _) in StoreMove.tables {
            let part = StoreRoom.Part(of: table)
            #expect(StoreRoom.forgotten.contains(table) == (part == .reports || part == .counts), "\(table)")
        }
    }

    @Test("on SQLite counts are among the reports, and that is said; an instance without the turn looks as well")
    func onSQLiteCountsAreAmongTheReportsAndThatIsSaid() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let clock = TurnedClock()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: clock.now)
            _ = try await store.write {
                try $0.takeLease("retention", for: "other", at: clock.now, seconds: Retention.lease)
            }
            let seen = NIOLockedValueBox<StoreRoom?>(nil)
            await Retention(
                store: store, limits: .init(), clock: clock, logger: RunningService.silent,
                seen: { room in seen.withLockedValue { $0 = room } }
            ).look()
            let room = try #require(seen.withLockedValue { $0 })
            #expect(room.at == clock.now)
            #expect(room.parts.map(\.part) == [.reports, .lists, .auditLog, .other])
            #expect(room.sentence.contains("reports and counts "))
            let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock)
            _ = try await parts.lists.reload(from: store)
            let overview = try await parts.overview()
            func status(_ names: [String]?, _ room: StoreRoom?) throws -> String {
                String(
                    decoding: try StatusDocument(overview, [], in: StatusScope(overview, names), room: room).bytes(),
                    as: UTF8.self)
            }
            let bytes = Dictionary(uniqueKeysWithValues: room.parts.map { ($0.part, $0.bytes) })
            let text = try status(nil, room)
            #expect(text.contains("\"at\":\"\(clock.now)\""))
            #expect(text.contains("\"lists\":\(bytes[.lists] ?? -1)"))
            #expect(text.contains("\"limit\":2048000000"))
            let database = try #require(text.range(of: "\"database\":{"))
            #expect(!text[database.upperBound...].prefix { $0 != "}" }.contains("\"counts\":"))
            #expect(try status(nil, StoreRoom(sizes: Self.sizes, limit: 1)).contains("\"counts\":3000000"))
            // A token that publishes sees what is about its names.
            #expect(try !status(["com.example.app"], room).contains("database"))
            #expect(try !status(nil, nil).contains("database"))
            let metrics = ServiceMetrics.text(overview, parts.reportCounters.current, (0, 0), room)
            #expect(
                metrics.contains("tumbler_database_bytes{table=\"list\",part=\"lists\"} \(room.sizes["list"] ?? -1)\n"))
            #expect(metrics.contains("tumbler_database_limit_bytes 2048000000\n"))
            let page = NowPage(alarms: [], hosts: [], lists: [], unmeasured: [], room: room.sentence)
            #expect(
                String(decoding: try Dashboard().render(page, in: Story.frame), as: UTF8.self).contains(room.sentence))
        }
    }
}

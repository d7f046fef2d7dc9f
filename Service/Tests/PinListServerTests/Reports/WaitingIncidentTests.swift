// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("Incidents with large envelopes")
struct WaitingIncidentTests {
    /// An incident with an envelope of so many bytes, none of which says anything.
    private static func incident(_ count: Int) throws -> AcceptedReport {
        var report = try ReportText.report(
            """
            {"date-time": "2026-11-21T00:00:00Z", "tumbler": {"list-name": "com.example.app", "list-version": 1,
             "reason": "equivocation"}}
            """)
        report.envelope = Array(repeating: 0, count: count)
        return try self.accepted(report)
    }

    private static func accepted(_ report: CollectedReport) throws -> AcceptedReport {
        AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil, isSample: false,
            isListed: true, body: report.document)
    }

    @Test("are charged for them while they wait, and keep no other report waiting")
    func areChargedForThemWhileTheyWaitAndKeepNoOtherReportWaiting() async throws {
        let (incident, maximum) = (try Self.incident(4_194_304), ReportIntake.maximumWaitingEnvelopeBytes / 4_194_304)
        let plain = try Self.accepted(ReportText.report(ReportText.body()))
        try await TestedStore.sqlite.withDatabase { open in
            let store = GatedStore(try open())
            let intake = ReportIntake(store: store, instance: "a")
            async let first: Void = intake.store(Array(repeating: incident, count: maximum))
            await store.untilWriting()
            await #expect(throws: ReportIntake.CongestionError.self) { try await intake.store([incident]) }
            async let other: Void = intake.store([plain])
            store.open()
            _ = try await (first, other)
            // A stored report waits no more.
            try await intake.store([incident])
            #expect(intake.written.reports == Int64(maximum) + 2)
        }
    }

    @Test("are looked at while there is room for them, and room is given back")
    func areLookedAtWhileThereIsRoomForThemAndRoomIsGivenBack() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let watch = EquivocationWatch(
                store: try open(), lists: ServedLists(anchors: repository.anchors),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let large = try Self.incident(EquivocationWatch.maximumBytes + 1).report
            await #expect(throws: EquivocationWatch.CongestionError.self) {
                try await watch.look(at: large, TurnedClock.start)
            }
            let whole = try Self.incident(EquivocationWatch.maximumBytes).report
            for _ in 0..<3 { try await watch.look(at: whole, TurnedClock.start) }
        }
    }
}

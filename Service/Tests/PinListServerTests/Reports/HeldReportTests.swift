// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOConcurrencyHelpers
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Reports that wait for another instance", .runsPostgreSQL)
struct HeldReportTests {
    private static func accepted(_ host: String) throws -> AcceptedReport {
        let report = try ReportText.report(chain: [], [("noted-hostname", .string(host))])
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil, isSample: false,
            isListed: true, body: report.document)
    }

    /// The hosts of groups, each with the number of its reports.
    private static func groups(in store: any ServiceStore) async throws -> [String] {
        try await store.read { try $0.groups(GroupFilter(), newest: [:]) }.map { "\($0.host) \($0.count)" }.sorted()
    }

    @Test(
        "keep no other report waiting, a body waits as a whole, and all are stored once when the other one is done",
        arguments: TestedStore.all)
    func keepNoOtherReportWaitingABodyWaitsAsAWhole(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = CrowdedStore(try open())
            let intake = ReportIntake(store: store, instance: "a", clock: TurnedClock())
            let (known, new) = (try Self.accepted("known.example"), try Self.accepted("new.example"))
            try await intake.store([known])
            store.isCrowded = true
            async let alone: Void = intake.store([new])
            async let mixed: Void = intake.store([known, new])
            do {
                defer { store.isCrowded = false }
                while intake.waitingCount < 3 { await Task.yield() }
                for _ in 0..<10 { try await intake.store([known]) }
                #expect(intake.waitingCount == 3)
                #expect(try await Self.groups(in: store) == ["known.example 11"])
            }
            _ = try await (alone, mixed)
            #expect(try await Self.groups(in: store) == ["known.example 12", "new.example 2"])
            #expect(intake.waitingCount == 0)
            #expect(intake.written.reports == 14)
        }
    }

    @Test(
        "are given back to their senders before these give up, however seldom they were tried, and nothing of them stays"
    )
    func areGivenBackToTheirSendersBeforeTheseGiveUpHoweverSeldomTheyWereTried() async throws {
        #expect(ReportIntake.maximumHold < FetchRequest.firstByteSeconds)
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let clock = TurnedClock()
            let intake = ReportIntake(store: store, instance: "a", clock: clock, pause: .zero)
            let one = try Self.accepted("a.example")
            store.failure = ReportsMustWait(at: [0])
            let held = Task { try await intake.store([one, one]) }
            func untilTried(_ times: Int) async {
                let end = store.writes + times
                while store.writes < end { await Task.yield() }
            }
            await untilTried(2)
            clock.turn(by: Int64(ReportIntake.maximumHold) - 1)
            await untilTried(2)
            #expect(intake.waitingCount == 2)
            clock.turn(by: 1)
            await #expect(throws: ReportIntake.CongestionError.self) { try await held.value }
            #expect(intake.waitingCount == 0)
            store.failure = nil
            try await intake.store([one])
            #expect(try await Self.groups(in: store) == ["a.example 1"])
            #expect(intake.written.reports == 1)
        }
    }

    @Test("have a quarter of the line: what is more is given back at once")
    func haveAQuarterOfTheLineWhatIsMoreIsGivenBackAtOnce() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let intake = ReportIntake(store: store, instance: "a", clock: TurnedClock())
            let many = Array(
                repeating: try Self.accepted("a.example"), count: ReportIntake.maximumWaiting / ReportIntake.heldPart)
            store.failure = ReportsMustWait(at: [0])
            await #expect(throws: ReportIntake.CongestionError.self) { try await intake.store(many + many.prefix(1)) }
            #expect(store.writes == 1)
            async let held: Void = intake.store(many)
            while store.writes < 3 { await Task.yield() }
            store.failure = nil
            try await held
            #expect(intake.written.reports == Int64(ReportIntake.maximumWaiting / ReportIntake.heldPart))
        }
    }

    /// Where a large report has its bytes: each kind has a limit of its own.
    enum Ballast: CaseIterable, Sendable {
        case chain, envelope

        /// An eighth of all that may wait, but for some texts.
        func accepted() throws -> AcceptedReport {
            var report = try ReportText.report(chain: [])
            switch self {
            case .chain:
                report.servedChain = [Array(repeating: 0, count: ReportIntake.maximumWaitingBytes / 8 - 4_096)]
            case .envelope: report.envelope = Array(repeating: 0, count: ReportIntake.maximumWaitingEnvelopeBytes / 8)
            }
            return AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                isSample: false, isListed: true, body: [])
        }
    }

    @Test(
        "have a quarter of the memory of the line, too: large ones leave room for others", arguments: Ballast.allCases)
    func haveAQuarterOfTheMemoryOfTheLineTooLargeOnesLeaveRoomForOthers(ballast: Ballast) async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let intake = ReportIntake(store: store, instance: "a", clock: TurnedClock(), pause: .zero)
            let large = try ballast.accepted()
            let answers = NIOLockedValueBox<[Bool]>([])
            store.failure = ReportsMustWait(at: [0])
            for _ in 0..<8 {
                intake.store([large]) { result in
                    answers.withLockedValue { $0.append((try? result.get()) != nil) }
                }
            }
            // Each try takes one out: by now each of the eight was tried.
            while store.writes < 64 { await Task.yield() }
            #expect(answers.withLockedValue { $0 } == Array(repeating: false, count: 6))
            async let other: Void = intake.store(Array(repeating: large, count: 6))
            store.failure = nil
            try await other
            while intake.waitingCount > 0 { await Task.yield() }
            #expect(intake.written.reports == 8)
        }
    }

    @Test("an error that names none of them is the error of the batch, and ends")
    func errorThatNamesNoneOfThemIsTheErrorOfTheBatch() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = WrappedStore(try open())
            let intake = ReportIntake(store: store, instance: "a", clock: TurnedClock())
            let one = try Self.accepted("a.example")
            store.failure = ReportsMustWait(at: [7])
            await #expect(throws: ReportsMustWait.self) { try await intake.store([one]) }
            #expect(store.writes == 1)
        }
    }
}

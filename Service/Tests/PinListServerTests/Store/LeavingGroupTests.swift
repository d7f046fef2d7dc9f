// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Groups that leave for others", .runsPostgreSQL)
struct LeavingGroupTests {
    @Test(
        "groups of one report leave first, the oldest of them, and at most a hundred for one batch",
        arguments: TestedStore.all)
    func groupsOfOneReportLeaveFirstTheOldestOfThemAndAtMostAHundredForOneBatch(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await StoredReportTests.fill(store, ReportGroup.maximumGroups / 2, isListed: false, reports: 1)
            let reports = try (0..<130).map {
                try StoredReportTests.accepted(host: "invented\($0).example", isListed: false)
            }
            try await store.append { try $0.add(reports, countedBy: "a") }
            #expect(try await StoredReportTests.overflow(in: store) == ["pin  30"])
            let rest = try await store.read { store in
                try store.connection.rows(
                    "SELECT COUNT(*), MIN(first_at) FROM group_count WHERE instance = ?", [.text("x")]
                ).map { [try $0.integer(0), try $0.integer(1)] }
            }
            #expect(rest == [[Int64(ReportGroup.maximumGroups / 2) - 100, 101]])
        }
    }

    @Test(
        "invented groups use up the hundred of their own part: in the same batch a listed host still gets a group",
        arguments: TestedStore.all)
    func inventedGroupsUseUpTheHundredOfTheirOwnPartInTheSameBatchAListedHostStillGetsAGroup(
        on tested: TestedStore
    ) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for isListed in [false, true] {
                try await StoredReportTests.fill(store, ReportGroup.maximumGroups / 2, isListed: isListed, reports: 1)
            }
            let invented = try (0..<130).map {
                try StoredReportTests.accepted(host: "invented\($0).example", isListed: false)
            }
            let reports = invented + [try StoredReportTests.accepted(host: "known.example")]
            try await store.append { try $0.add(reports, countedBy: "a") }
            #expect(try await StoredReportTests.overflow(in: store) == ["pin  30"])
            let groups = try await store.read { try $0.groups(GroupFilter(host: "known.example"), newest: [:]) }
            #expect(groups.map(\.count) == [1])
        }
    }
}

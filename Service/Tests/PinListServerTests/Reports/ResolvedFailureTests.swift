// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Failures that a newer list has ended")
struct ResolvedFailureTests {
    private static let name = "com.example.app"

    /// The cause of 40 reports by apps that hold version 7, which came when they came, with version 8 a minute later.
    private func cause(receivedAt time: Timestamp) async throws -> LikelyCause.Kind? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(path: folder.appendingPathComponent("service.sqlite").path)
        let report = try ReportText.report(ReportText.body())
        let accepted = AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time,
            networks: NetworkCounter.Count(day: 0, networks: BoundedCount(40)), isSample: false, isListed: true,
            body: report.document)
        return try await store.write { store in
            for (version, published) in [(7, ReportText.now), (8, ReportText.now.advanced(by: 60))] {
                let list = StoredList(
                    version: Int64(version), digest: "\(version)", bytes: [], publishedAt: published)
                try store.serve(list, name: Self.name)
            }
            try store.add(Array(repeating: accepted, count: 40), countedBy: "a")
            return try store.groups(GroupFilter(), newest: [Self.name: 8]).first?.cause.kind
        }
    }

    @Test("a rotation stays one when the list that ends it is published: its apps were not behind")
    func rotationStaysOneWhenTheListThatEndsItIsPublishedItsAppsWereNotBehind() async throws {
        #expect(try await self.cause(receivedAt: ReportText.now.advanced(by: 59)) == .rotation)
    }

    @Test("who still fails with the old list after that is behind")
    func whoStillFailsWithTheOldListAfterThatIsBehind() async throws {
        #expect(try await self.cause(receivedAt: ReportText.now.advanced(by: 61)) == .staleClients)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore
internal import PinReportAnalysis

extension DashboardPages {
    static func lists(_ asked: DashboardRequest) async throws -> ListsPage {
        guard let name = asked.name?.name else { return ListsPage(publications: [], total: 0) }
        let before = asked.member(ListsPage.beforeMember).flatMap { Int64($0) }
        let length = ListsPage.pageLength
        let (stored, newer, total) = try await asked.parts.store.read { store in
            let stored = try store.publications(of: name, before: before, limit: length + 1)
            let newer = try stored.first.map { try store.publicationNumbers(of: name, after: $0.number, limit: length) }
            return (stored, newer ?? [], try store.publicationCount(of: name))
        }
        let shown = try await MissingSummaries(store: asked.parts.store, logger: asked.parts.logger).filled(
            Array(stored.prefix(length)), of: name)
        let publishers = try await asked.parts.store.read { store in
            try shown.map { try store.publisher(of: $0.digest, at: $0.publishedAt) }
        }
        return ListsPage(
            publications: zip(shown, publishers).enumerated().map { index, each in
                Self.publication(each.0, by: each.1, isServed: index == 0 && newer.isEmpty)
            },
            total: total, older: stored.count > length ? shown.last?.number : nil, newer: newer.last.map { $0 + 1 })
    }

    private static func publication(
        _ stored: StoredPublication, by publisher: String?, isServed: Bool
    ) -> ListsPage.Publication {
        let lines = stored.summary?.lines ?? []
        return ListsPage.Publication(
            what: "list", version: stored.version, digest: stored.digest, publishedAt: stored.publishedAt,
            publishedBy: publisher ?? "unknown", issuedAt: stored.summary?.issuedAt,
            expiresAt: stored.summary?.expiresAt, isServed: isServed, changes: lines.map(Self.change),
            moreChanges: (stored.summary?.count ?? 0) - lines.count)
    }

    /// A line of a difference: a sign, a blank, and what it is about.
    private static func change(_ line: String) -> ListsPage.Change {
        let kind: ListsPage.Change.Kind =
            switch line.first {
            case "+": .added
            case "-": .removed
            default: .changed
            }
        return ListsPage.Change(kind: kind, text: String(line.dropFirst(2)))
    }
}

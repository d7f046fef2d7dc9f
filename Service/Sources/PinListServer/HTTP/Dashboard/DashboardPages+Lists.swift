// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListDifference
internal import PinListMetadata

extension DashboardPages {
    static func lists(_ asked: DashboardRequest) async throws -> ListsPage {
        guard let name = asked.name?.name else { return ListsPage(publications: [], total: 0) }
        let (history, total, log) = try await asked.parts.store.read { store in
            let history = try store.history(of: name, limit: ListsPage.most.publications + 1)
            let since = history.last?.publishedAt ?? Timestamp(secondsSince1970: 0)
            return (
                history, try store.publicationCount(of: name), try store.auditEntries(of: ["publish"], since: since)
            )
        }
        // The log says who: its line of a list ends with the digest.
        var actors: [String: String] = [:]
        for entry in log { entry.detail.split(separator: " ").last.map { actors[String($0)] = entry.actor } }
        let lists = history.map { Self.list($0.bytes) }
        let publications = history.indices.prefix(ListsPage.most.publications).map { index in
            let older = lists.indices.contains(index + 1) ? lists[index + 1] : nil
            return ListsPage.Publication(
                what: "list", version: history[index].version, digest: history[index].digest,
                publishedAt: history[index].publishedAt, publishedBy: actors[history[index].digest] ?? "unknown",
                issuedAt: lists[index]?.issuedAt, expiresAt: lists[index]?.expiresAt, isServed: index == 0,
                changes: lists[index].map { Self.changes(from: older, to: $0) } ?? [])
        }
        return ListsPage(publications: publications, total: total)
    }

    /// A list that was verified when it was published.
    private static func list(_ envelope: [UInt8]) -> PinList? {
        (try? Envelope(envelope, of: .pins, limits: MetadataLimits())).flatMap { try? PinList(payload: $0.payload) }
    }

    private static func changes(from older: PinList?, to newer: PinList) -> [ListsPage.Change] {
        ListDifference(old: older, new: newer).changes.prefix(ListsPage.most.changes + 1).map { change in
            let kind: ListsPage.Change.Kind =
                switch change.kind {
                case .added: .added
                case .removed: .removed
                case .changed: .changed
                }
            return ListsPage.Change(kind: kind, text: String(change.line.dropFirst(2)))
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PinListMetadata
internal import PinListStore

/// Computes what an earlier version of the service did not keep of its publications, when it is first shown, and keeps
/// it. Never are more than two lists in memory.
struct MissingSummaries: Sendable {
    let store: any ServiceStore
    let logger: Logger

    /// The publications of a page, each with its summary.
    ///
    /// - Parameter publications: The newest first.
    /// - Throws: ``StoreError`` when they cannot be read.
    func filled(_ publications: [StoredPublication], of name: String) async throws -> [StoredPublication] {
        var filled = publications
        var last: (number: Int64, list: PinList?)?
        for index in publications.indices.reversed() where publications[index].summary == nil {
            let (number, known) = (publications[index].number, last)
            let (list, summary) = try await self.store.read { store in
                let before = try store.publications(of: name, before: number, limit: 1).first?.number
                let older =
                    try known?.number == before ? known?.list : before.flatMap { try store.publishedList($0) }
                let list = try store.publishedList(number)
                return (list, ListSummary(of: list, after: older))
            }
            last = (number, list)
            filled[index].summary = summary
            do { try await self.store.write { try $0.put(summary, of: number) } } catch {
                self.logger.storeFailed("what changed in a list is computed again the next time", error)
            }
        }
        return filled
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import PinListDifference
internal import PinListMetadata

/// What the pages show of a list: its times, and what is different from the list before it. Computed once, when it is
/// published, so that no page reads an envelope.
struct ListSummary: Hashable, Sendable {
    /// When it was issued; `nil` when it cannot be read.
    let issuedAt: Timestamp?
    /// When it expires; `nil` when it cannot be read.
    let expiresAt: Timestamp?
    /// The first lines of the difference, as `ListChange` writes them.
    let lines: [String]
    /// How many differences there are in all.
    let count: Int

    /// The most lines that are kept: those that the page shows.
    static let mostLines = 40
    /// The most characters of a line. The page shows fewer; a note of a pin may have any length.
    static let mostCharacters = 1_024

    /// Compares a list with the one before it.
    ///
    /// - Parameters:
    ///   - list: The list; `nil` when it cannot be read.
    ///   - older: The one that was served before; `nil` when there was none, or it cannot be read.
    init(of list: PinList?, after older: PinList?) {
        let changes = list.map { ListDifference(old: older, new: $0).changes } ?? []
        self.issuedAt = list?.issuedAt
        self.expiresAt = list?.expiresAt
        self.lines = changes.prefix(Self.mostLines).map { change in
            String(String.UnicodeScalarView(change.line.unicodeScalars.prefix(Self.mostCharacters)))
        }
        self.count = changes.count
    }

    /// States what was stored.
    ///
    /// - Parameter changes: What ``changes`` gave; what it cannot have given is no change.
    init(issuedAt: Timestamp?, expiresAt: Timestamp?, changes: [UInt8]) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        guard case .object(let members)? = try? JSONValue(strict: changes, mostValues: Self.mostLines + 8),
            case .array(let lines)? = members.first(where: { $0.name == "lines" })?.value,
            case .integer(let count)? = members.first(where: { $0.name == "count" })?.value
        else {
            self.lines = []
            self.count = 0
            return
        }
        self.lines = lines.compactMap { if case .string(let line) = $0 { line } else { nil } }
        self.count = max(Int(clamping: count), self.lines.count)
    }

    /// The differences as they are stored: `{"count": 41, "lines": ["+ api.example.com: …"]}`.
    var changes: [UInt8] {
        JSONValue.object([
            .init("count", .integer(Int64(self.count))), .init("lines", .array(self.lines.map { .string($0) })),
        ]).bytes
    }
}

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
                self.logger.warning("what changed in a list is computed again the next time: \(error)")
            }
        }
        return filled
    }
}

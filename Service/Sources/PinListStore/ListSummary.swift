// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListDifference
package import PinListMetadata

/// The summary of a list for the pages: its times, and its differences from the list before it. Computed once, when it
/// is published, so that no page reads an envelope.
package struct ListSummary: Hashable, Sendable {
    /// The time of issue; `nil` when it cannot be read.
    package let issuedAt: Timestamp?
    /// The time at which it expires; `nil` when it cannot be read.
    package let expiresAt: Timestamp?
    /// The first lines of the difference, as `ListChange` writes them.
    package let lines: [String]
    /// The number of differences in all.
    package let count: Int

    /// The maximum number of lines that are kept: those that the page shows.
    package static let maximumLines = 40
    /// The maximum number of characters of a line. The page shows fewer; a note of a pin may have any length.
    static let maximumCharacters = 1_024

    /// Compares a list with the one before it.
    ///
    /// - Parameters:
    ///   - list: The list; `nil` when it cannot be read.
    ///   - older: The one that was served before; `nil` when there was none, or it cannot be read.
    package init(of list: PinList?, after older: PinList?) {
        let changes = list.map { ListDifference(old: older, new: $0).changes } ?? []
        self.issuedAt = list?.issuedAt
        self.expiresAt = list?.expiresAt
        self.lines = changes.prefix(Self.maximumLines).map { change in
            String(String.UnicodeScalarView(change.line.unicodeScalars.prefix(Self.maximumCharacters)))
        }
        self.count = changes.count
    }

    /// States what was stored.
    ///
    /// - Parameter changes: The output of ``changes``; other text is no change.
    package init(issuedAt: Timestamp?, expiresAt: Timestamp?, changes: [UInt8]) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        guard case .object(let members)? = try? JSONValue(strict: changes, maximumValues: Self.maximumLines + 8),
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
    package var changes: [UInt8] {
        JSONValue.object([
            .init("count", .integer(Int64(self.count))), .init("lines", .array(self.lines.map { .string($0) })),
        ]).bytes
    }
}

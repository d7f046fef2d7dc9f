// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinReportAnalysis

@testable import ServiceParsers

/// The parts of the dashboard that strangers influence: forms, members of addresses, and texts of reports that are
/// shown.
enum DashboardText: FuzzTarget {
    static let name = "dashboard-text"

    static func check(_ bytes: [UInt8]) {
        let fields = FormBody(bytes).fields
        let filter = FailureFilter(query: fields.map { (name: $0.key, value: $0.value) }.sorted { $0.name < $1.name })
        // The members of an address are written into links, and mean the same there.
        precondition(FailureFilter(query: filter.query) == filter)
        let text = String(decoding: bytes, as: UTF8.self)
        for shown in [VisibleText.line(text), VisibleText.folded(text), VisibleText.block(text)] {
            self.checkIsText(shown.html)
        }
        for scalar in VisibleText.plain(text).unicodeScalars {
            precondition(!scalar.properties.isBidiControl && scalar.properties.generalCategory != .control)
        }
    }

    /// Tags of ours alone, and quotes within them alone: by scalars, for a mark makes another character of any of them.
    private static func checkIsText(_ html: String) {
        var rest = Array(html.unicodeScalars)[...]
        while let start = rest.firstIndex(of: "<") {
            precondition(!rest[..<start].contains { ">\"'".unicodeScalars.contains($0) })
            guard let end = rest[start...].firstIndex(of: ">") else { preconditionFailure("a tag without an end") }
            precondition(Self.tags.contains(Array(rest[start...end])))
            rest = rest[(end + 1)...]
        }
        precondition(!rest.contains { ">\"'".unicodeScalars.contains($0) })
    }

    /// All that the markup of a text is made of.
    private static let tags = [
        "<bdi>", "</bdi>", "<bdi class=\"full\">", "<span class=\"cp\">", "<span class=\"cut\">", "</span>", "<wbr>",
        "<details class=\"long\">", "</details>", "<summary>", "</summary>",
    ].map { Array($0.unicodeScalars) }
}

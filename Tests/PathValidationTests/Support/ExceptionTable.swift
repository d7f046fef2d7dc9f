// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import TestData

/// A table of docs/revocation-exceptions.md: cases of others that come out otherwise here, with reasons.
struct ExceptionTable {
    /// A row: what the name of a case says, and what becomes of it here.
    struct Row: Equatable {
        let named: String
        let answer: String
        let reason: String
    }

    /// The rows, by the name of the case.
    let rows: [String: Row]

    /// Reads the table below a heading.
    init(below heading: String) throws {
        let page = SharedData.package.appendingPathComponent("docs/revocation-exceptions.md")
        let sections = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n## ")
        let section = sections.first { $0.hasPrefix("\(heading)\n") } ?? ""
        var rows: [String: Row] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4 else { continue }
            rows[cells[0].filter { $0 != "`" }] = Row(named: cells[1], answer: cells[2], reason: cells[3])
        }
        self.rows = rows
    }
}
#endif

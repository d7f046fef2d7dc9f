// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListRepository

@Suite("docs/guides/what-lint-says.md says what lint does")
struct LintPageTests {
    @Test("the page has one row for each rule, with its severity, its reason and its remedy, and no other row")
    func pageHasOneRowForEachRuleWithItsSeverityItsReasonAndItsRemedyAndNoOtherRow() throws {
        // This file is in Service/Tests/PinListRepositoryTests.
        let checkout = (1...4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(
            contentsOf: checkout.appendingPathComponent("docs/guides/what-lint-says.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { cell in
                cell.replacing("(live)", with: "").filter { $0 != "`" }.trimmingCharacters(in: .whitespaces)
            }
        }
        let rules = LintRule.all.map { [$0.id, $0.severity.rawValue, $0.reason, $0.fix] }
        #expect(Set(rows).subtracting(rules) == [], "rows that are no rule")
        #expect(Set(rules).subtracting(rows) == [], "rules without a row")
        #expect(rows.count == rules.count)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import SimulatedInstallations

/// What the installations got when they asked for their page.
struct DrillPages: Hashable, Sendable {
    /// How many got it, by the reason.
    let allowed: [String: Int]
    /// How many were refused, or got nothing, by the reason.
    let refused: [String: Int]

    /// Reads an answer.
    init(_ answer: PopulationAnswer) {
        self.allowed = answer.allowed ?? [:]
        self.refused = (answer.refused ?? [:]).merging(answer.failed ?? [:]) { $0 + $1 }
    }

    /// Whether each of them got it because a pin matched.
    var areAllPinned: Bool { self.refused.isEmpty && Array(self.allowed.keys) == ["pin-match"] }

    /// In words: `5 get their page (pin-match 5), 3 are refused (no-matching-pin 3)`.
    var words: String {
        let parts = [("get their page", self.allowed), ("are refused", self.refused)]
        let said = parts.filter { !$0.1.isEmpty }.map { what, counts in
            let reasons = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return "\(counts.values.reduce(0, +)) \(what) (\(reasons.joined(separator: ", ")))"
        }
        return said.isEmpty ? "nobody asked" : said.joined(separator: ", ")
    }
}

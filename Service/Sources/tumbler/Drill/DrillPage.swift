// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import SimulatedInstallations

/// The page that a drill ends with: what took how long, against which goal, and what was done. Markdown.
struct DrillPage: Sendable {
    /// The record of the drill.
    let record: DrillRecord

    /// The time for which a cache may keep a list, in seconds (formats.md, section 7).
    private static let cacheSeconds: Int64 = 300

    /// The page, its last line ended.
    var text: String { self.lines.joined(separator: "\n") + "\n" }

    private var lines: [String] {
        var lines = self.heading
        lines += ["", "## How long it took", "", "| step | after | goal | |", "|---|---|---|---|"]
        lines += DrillStep.allCases.map(self.row)
        lines += ["", self.verdict]
        lines += self.harm
        lines += ["", "## Actions", "", "| after | what |", "|---|---|"]
        lines += self.record.entries.map(self.row)
        lines += ["", "## In the field", "", self.field, "", "## Next", "", self.next]
        return lines
    }

    private var heading: [String] {
        let record = self.record
        let who = record.isAutomatic ? "by --auto: the times are not those of people" : "with people"
        let stage = "\(record.installations) installations on loopback, with throw-away keys"
        return [
            "# Drill: \(record.scenario.title)", "",
            "\(record.host) of \(record.name), broken at \(record.brokenAt); a drill \(who).",
            "\(stage); nothing of the project was touched.", "",
            record.scenario.story,
        ]
    }

    private var next: String {
        "Keep this page beside those of the drills before. For each missed goal write down the cause of the delay, "
            + "who removes it, and until when. The runbook is docs/operations/\(self.record.scenario.runbook), the "
            + "drill's own page docs/operations/drill.md."
    }

    private func row(of step: DrillStep) -> String {
        let after = self.record.seconds(until: step).map(Self.duration) ?? "–"
        let goal =
            switch self.record.scenario.goal(of: step) {
            case .within(let minutes): "\(minutes) min"
            case .optional: "none"
            case .not: "not at all"
            }
        let outcome =
            switch self.record.outcome(of: step) {
            case .met: "met"
            case .right(let words): words
            case .late(let seconds): "**missed by \(Self.duration(seconds))**"
            case .missing: "**never**"
            case .wrong(let why): "**wrong**: \(why)"
            }
        return "| \(step.words) | \(after) | \(goal) | \(outcome) |"
    }

    private func row(of entry: DrillRecord.Entry) -> String {
        // A bar ends a cell, and a backtick begins code: neither comes from what a person typed.
        let words = entry.words.map { $0 == "|" ? "\\|" : $0 == "`" ? "'" : String($0) }.joined()
        return "| \(Self.duration(self.record.seconds(until: entry.time))) | \(words) |"
    }

    private var verdict: String {
        if self.record.isGood { return "Everything was repaired, and every goal was met." }
        let bad = DrillStep.allCases.filter { !self.record.outcome(of: $0).isGood }.map(\.words)
        let what =
            self.record.isOver ? "Everything was repaired." : "The drill was ended before everything was repaired."
        return "\(what) Not as it should be: \(bad.joined(separator: ", "))."
    }

    /// The lines on what an interceptor got.
    private var harm: [String] {
        guard self.record.scenario == .strangeCA else { return [] }
        return ["", "Requests that the interceptor got: \(self.record.interceptedRequests)."]
    }

    /// The text on what the drill leaves out.
    private var field: String {
        let interval = self.record.refreshInterval
        let maximum = Self.duration(interval + interval / 10 + Self.cacheSeconds)
        return
            "The installations of the drill asked for the list as soon as it was published, from a service without a "
            + "cache. Yours ask after up to \(maximum) when they run (refreshAfter, a tenth of it, and 5 min of cache), "
            + "after a refused connection within 5 min 10 s, and when they do not run at their next start."
    }

    /// A length of time, to the second: `42 s`, `6 min 10 s`, `13 h 17 min 0 s`.
    static func duration(_ seconds: Int64) -> String {
        let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60)
        if hours > 0 { return "\(hours) h \(minutes) min \(rest) s" }
        return minutes > 0 ? "\(minutes) min \(rest) s" : "\(rest) s"
    }
}

/// The results of the installations' requests for their page.
struct DrillPages: Hashable, Sendable {
    /// The numbers of installations that got it, by the reason.
    let allowed: [String: Int]
    /// The numbers that were refused, or got nothing, by the reason.
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
        return said.isEmpty ? "no installation asked" : said.joined(separator: ", ")
    }
}

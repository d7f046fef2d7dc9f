// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import PinListSimulation
import Testing

/// Scenarios as texts.
enum ScenarioText {
    /// The example of the format.
    static let example = """
        clients: 20000
        days: 90
        opened: {model: gamma-poisson, shape: 0.65, scale: 2.6d}
        session: 3m
        offline: {share: 0.02, for: 30d}
        refreshAfter: 12h
        cache: 300s
        listHost: {outage: [{from: 10d, for: 2h}], sharesFateWith: api.example.com}
        events:
          - {at: 0d, publish: {pins: [old, new]}}
          - {at: 14d, switch: new}
          - {at: 14d2h, suspend: {for: 2h}}
          - {at: 44d, publish: {pins: [new]}}
        rollout: [{at: 0d, percent: 1}, {at: 7d, percent: 10}, {at: 14d, percent: 100}]
        """

    /// A scenario of few members, and a line of its own, line 3.
    static func small(_ line: String) -> String {
        "clients: 100\nopened: {model: daily, share: 0.2}\n\(line)\n"
    }

    static func read(_ text: String, _ trace: String? = nil) throws(RepositoryError) -> Scenario {
        try Scenario(yaml: Array(text.utf8), file: "s.yaml", files: Files(trace: trace))
    }

    /// Expects that a text is refused, at a place and with some words.
    static func expectRefusal(
        _ text: String, at place: String, _ words: String..., trace: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        do {
            _ = try self.read(text, trace)
            Issue.record("it is read: \(text.prefix(200))", sourceLocation: sourceLocation)
        } catch {
            #expect(error.code == .source, sourceLocation: sourceLocation)
            let said = error.reason + " " + (error.hint ?? "")
            #expect(said.hasPrefix("s.yaml:\(place)"), "\(said)", sourceLocation: sourceLocation)
            for word in words {
                #expect(said.contains(word), "\(said)", sourceLocation: sourceLocation)
            }
        }
    }

    /// A folder with one file, `openings.txt`, or none.
    private struct Files: SourceFiles {
        let trace: String?

        func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
            guard let trace, path == "openings.txt" else { throw RepositoryError(.file, "no such file") }
            return Array(trace.utf8)
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import CertificateTransparency
@testable import PinListRepository

@Suite("A source that asks for Certificate Transparency")
struct TransparencySourceTests {
    private static let logs = #"{"log_list_timestamp": "2026-11-20T00:00:00Z", "operators": []}"#
    private static let files = ["logs.json": Self.logs]

    private static func text(_ transparency: String, logs: String = "logs: logs.json") -> String {
        SourceText.good(entry: "transparency: \(transparency)", list: logs)
    }

    private static func findings(
        _ text: String, _ files: [String: String] = Self.files, probed: ProbeMemory? = nil
    ) throws -> [LintFinding] {
        let source = try SourceText.read(text, files)
        var linter = Linter(try PinListBuilt.list(source), at: SourceText.now)
        linter.source = source
        linter.probed = probed
        return linter.findings
    }

    /// The memory of a probe of hosts, as its file has it.
    ///
    /// - Parameters:
    ///   - hosts: The policies that were satisfied at each.
    ///   - logs: The log list that they were evaluated with; `nil` for a file of before, which does not say it.
    private static func memory(_ hosts: [String: [String]?], with logs: String? = Self.logs) throws -> ProbeMemory {
        let sights = hosts.mapValues { policies -> [String: Any] in
            var sight: [String: Any] = [
                "at": "2026-11-20T00:00:00Z", "issuer": "", "issuerName": "", "pins": [String](),
            ]
            guard let policies else { return sight }
            if let logs {
                sight["satisfied"] = [Envelope.digest(of: Array(logs.utf8)): policies]
            } else {
                sight["transparency"] = policies
            }
            return sight
        }
        let data = try JSONSerialization.data(withJSONObject: ["schema": 1, "hosts": sights])
        return try #require(ProbeMemory(Array(data)))
    }

    @Test("becomes a list that names the file by digest and length, and has the rule in its entry")
    func becomesAListThatNamesTheFileByDigestAndLengthAndHasTheRuleInItsEntry() throws {
        let source = try SourceText.read(Self.text("{mode: report, policy: apple}"), Self.files)
        let list = try PinListBuilt.list(source)
        #expect(list.logs == ListedLogs(of: Array(Self.logs.utf8)))
        #expect(list.domains[0].entry.transparency == TransparencyRule(.report, .apple))
        for off in ["{mode: off}", "{mode: \"off\", policy: chrome}", "{}"] {
            let list = try PinListBuilt.list(try SourceText.read(Self.text(off), Self.files))
            #expect(list.domains[0].entry.transparency == nil)
        }
    }

    @Test("that is wrong says where and what to write")
    func thatIsWrongSaysWhereAndWhatToWrite() {
        for (text, column, word) in [
            ("{mode: enforced, policy: chrome}", 26, "write enforce"),
            ("{mode: enforce, policy: chromium}", 43, "chrome, apple"), ("{mode: enforce}", 19, "policy: chrome"),
            ("{mode: enforce, rules: chrome}", 35, "policy"), ("chrome", 19, "mode, policy"),
        ] {
            SourceText.expectRefusal(Self.text(text), Self.files, at: "tumbler.yaml:7:\(column)", word)
        }
        SourceText.expectRefusal(Self.text("{}"), at: "tumbler.yaml:3:7", "no such file")
        SourceText.expectRefusal(Self.text("{}"), ["logs.json": "{}"], at: "tumbler.yaml:3:7", "not a log list")
        SourceText.expectRefusal(Self.text("{}"), ["logs.json": ""], at: "tumbler.yaml:3:7")
    }

    @Test("enforce is refused until a probe saw the policy satisfied at every host of the entry")
    func enforceIsRefusedUntilAProbeSawThePolicySatisfiedAtEveryHostOfTheEntry() throws {
        let enforce = Self.text("{mode: enforce, policy: chrome}")
        let insufficient: [ProbeMemory?] = [
            nil, try Self.memory([:]), try Self.memory(["other.example.com": ["chrome"]]),
            try Self.memory(["api.example.com": [String]?.none]), try Self.memory(["api.example.com": ["apple"]]),
            try Self.memory(["api.example.com": []]),
        ]
        for memory in insufficient {
            let findings = try Self.findings(enforce, probed: memory)
            #expect(findings.map(\.rule.id) == ["unseen-transparency"] && findings[0].rule.severity == .error)
        }
        let seen = try Self.memory(["api.example.com": ["apple", "chrome"]])
        #expect(try Self.findings(enforce, probed: seen).isEmpty)
        #expect(try Self.findings(Self.text("{mode: report, policy: chrome}")).isEmpty)
        // A host below the entry that was probed counts as well.
        let below = enforce.replacing("pins: [", with: "includeSubdomains: true\n    pins: [")
        let one = try Self.memory(["api.example.com": ["chrome"], "a.api.example.com": []])
        #expect(try Self.findings(below, probed: one).map(\.rule.id) == ["unseen-transparency"])
        #expect(try Self.findings(enforce, probed: one).isEmpty)
    }

    @Test("what an earlier probe saw counts for the log list that it looked with, and a newer one is looked at anew")
    func whatAnEarlierProbeSawCountsForTheLogListThatItLookedWith() throws {
        let enforce = Self.text("{mode: enforce, policy: chrome}")
        let newer = Self.logs.replacing("2026-11-20", with: "2026-11-21")
        let seen = try Self.memory(["api.example.com": ["chrome"]])
        #expect(try Self.findings(enforce, probed: seen).isEmpty)
        // Neither the memory of another log list nor one of before, which names none, says anything of it.
        for memory in [seen, try Self.memory(["api.example.com": ["chrome"]], with: nil)] {
            let findings = try Self.findings(enforce, ["logs.json": newer], probed: memory)
            #expect(findings.map(\.rule.id) == ["unseen-transparency"])
            #expect(
                findings.first?.detail == "api.example.com, chrome: no probe looked with this log list", "\(findings)")
        }
        let both = try Self.memory(["api.example.com": ["chrome"]], with: newer)
        #expect(try Self.findings(enforce, ["logs.json": newer], probed: both).isEmpty)
    }

    @Test("a probe keeps what each of two log lists says, in the place of those of the probe before")
    func probeKeepsWhatEachOfTwoLogListsSaysInThePlaceOfThoseOfTheProbeBefore() throws {
        let host = try HostName("api.example.com")
        let lists = ["1", "2", "3"].compactMap { ListedLogs(of: Array($0.utf8)) }
        let (chrome, all): (Set<TransparencyRule.Policy>, Set<TransparencyRule.Policy>) = (
            [.chrome], [.chrome, .apple]
        )
        var memory = try Self.memory(["api.example.com": ["chrome"]], with: nil)
        #expect(memory.satisfiedPolicies(at: host, with: lists[0]) == nil)
        memory.keep(satisfied: [lists[0].digest: all, lists[1].digest: []], at: host)
        memory = try #require(ProbeMemory(memory.bytes))
        #expect(memory.satisfiedPolicies(at: host, with: lists[0]) == all)
        #expect(memory.satisfiedPolicies(at: host, with: lists[1])?.isEmpty == true)
        #expect(memory.satisfiedPolicies(at: host, with: nil) == nil)
        memory.keep(satisfied: [lists[1].digest: chrome, lists[2].digest: chrome], at: host)
        #expect(memory.satisfiedPolicies(at: host, with: lists[0]) == nil)
        #expect(memory.satisfiedPolicies(at: host, with: lists[2]) == chrome)
        // An address was not reached: nothing is known of the host.
        memory.keep(satisfied: nil, at: host)
        #expect(memory.satisfiedPolicies(at: host, with: lists[2]) == nil)
    }

    @Test("with a log whose private key is public is an error, at the place of the log list, for each such log")
    func withALogWhosePrivateKeyIsPublicIsAnErrorAtThePlaceOfTheLogListForEachSuchLog() throws {
        let source = try SourceText.read(Self.text("{mode: report, policy: chrome}"), Self.files)
        let traps = LogID.traps.map { id in
            TransparencyLog(
                id: id, name: "trap", operatorName: "A", previousOperators: [], kind: .rfc6962, state: .usable,
                interval: nil, key: LogKey(subjectPublicKeyInfo: []))
        }
        var linter = Linter(try PinListBuilt.list(source), at: SourceText.now)
        for count in 0...2 {
            // Read from a file it would be refused: their public keys are not here.
            var trapped = source
            trapped.logs?.logs = LogList(Array(traps.prefix(count)), timestamp: SourceText.now)
            linter.source = trapped
            let findings = linter.findings
            #expect(findings.map(\.rule.id) == [String](repeating: "trap-log", count: count))
            #expect(findings.allSatisfy { $0.rule.severity == .error && $0.position == source.logs?.position })
        }
    }

    @Test("without a log list is an error, with a stale one a warning")
    func withoutALogListIsAnErrorWithAStaleOneAWarning() throws {
        let report = "{mode: report, policy: chrome}"
        #expect(try Self.findings(Self.text(report, logs: "")).map(\.rule.id) == ["transparency-without-logs"])
        for logs in [#"{"log_list_timestamp": "2026-09-11T23:59:59Z", "operators": []}"#, #"{"operators": []}"#] {
            let findings = try Self.findings(Self.text(report), ["logs.json": logs])
            #expect(findings.map(\.rule.id) == ["logs-stale"] && findings[0].rule.severity == .warning)
        }
    }
}

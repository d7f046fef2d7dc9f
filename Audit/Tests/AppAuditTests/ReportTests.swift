// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AppAudit

@Suite("The report")
struct ReportTests {
    private func report() -> AuditReport {
        RuleFixture.report([
            (
                "Sources/A B.swift",
                Array(
                    "let a = URLSession.shared\nlet b = WKWebView() // tumbler:allow surface-wkwebview a page of the app"
                        .utf8)
            ),
            ("Info.plist", Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8)),
        ])
    }

    /// The demands of the schema of SARIF 2.1.0 on the members that are written, by hand: sections 3.13 to 3.52.
    @Test("the log is SARIF 2.1.0 in the members that it has")
    func theLogIsSARIF() throws {
        let bytes = try JSONEncoder().encode(StaticAnalysisLog(self.report(), toolVersion: "1.2.3"))
        let log = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect(Set(log.keys) == ["$schema", "version", "runs"])
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        #expect(Set(run.keys) == ["tool", "invocations", "results", "columnKind"])
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        let rules = try #require(driver["rules"] as? [[String: Any]])
        #expect(Set(rules.compactMap { $0["id"] as? String }).count == AuditRule.all.count)
        let levels: Set<String> = ["none", "note", "warning", "error"]
        for rule in rules {
            #expect(levels.contains((rule["defaultConfiguration"] as? [String: Any])?["level"] as? String ?? ""))
            for member in ["shortDescription", "fullDescription", "help"] {
                #expect(((rule[member] as? [String: Any])?["text"] as? String)?.isEmpty == false)
            }
        }
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.count == 3)
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
            #expect(levels.contains(result["level"] as? String ?? ""))
            let place = try #require(
                (result["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any])
            let uri = try #require((place["artifactLocation"] as? [String: Any])?["uri"] as? String)
            #expect(URL(string: uri) != nil && !uri.contains(" "))
            #expect((place["region"] as? [String: Any])?["startLine"] as? Int ?? 0 >= 1)
            #expect((result["partialFingerprints"] as? [String: String])?["tumblerAudit/v1"]?.count == 32)
        }
        let suppressed = results.compactMap { $0["suppressions"] as? [[String: Any]] }
        #expect(suppressed.map { $0.first?["kind"] as? String } == ["inSource"])
    }

    @Test("the JSON report has what formats.md says")
    func theJSONReportHasWhatFormatsSays() throws {
        let bytes = try JSONEncoder().encode(AuditJSON(self.report()))
        let value = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect(
            Set(value.keys) == ["version", "files", "errors", "warnings", "notes", "findings", "surfaces", "remarks"])
        #expect(value["errors"] as? Int == 1)
        #expect(value["warnings"] as? Int == 1)
        let finding = try #require((value["findings"] as? [[String: Any]])?.first)
        #expect(
            Set(finding.keys) == ["rule", "severity", "file", "line", "message", "meaning", "advice", "fingerprint"])
    }

    @Test("the text ends with the table of surfaces and the counts")
    func theTextEndsWithTheTableOfSurfaces() {
        let lines = self.report().lines
        #expect(lines.contains { $0.hasPrefix("URLSession.shared") && $0.hasSuffix("Sources/A B.swift:1") })
        #expect(lines.last == "2 files: 1 error, 1 warning, 0 notes, 1 allowed")
    }

    @Test("the exit code is 0, 1 with errors, 2 when something could not be read and nothing is worse")
    func theExitCodeSaysTheWorst() {
        let bad = ("Other.plist", Array("<plist>".utf8))
        let wrong = ("Info.plist", Array(transport("<key>NSAllowsArbitraryLoads</key><true/>").utf8))
        #expect(RuleFixture.report([("A.swift", Array("let a = 1".utf8))]).exitCode == 0)
        #expect(RuleFixture.report([wrong, bad]).exitCode == 1)
        #expect(RuleFixture.report([bad]).exitCode == 2)
    }
}

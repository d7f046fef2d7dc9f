// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import NIOHTTP1
import Testing

@Suite("The status of a service")
struct StatusCommandTests {
    private func status(
        _ answer: RecordingService.Answer, _ more: [String] = [],
        _ look: (CommandRun, RecordingService) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try folder.writeToken()
            try await RecordingService.with({ _ in answer }) { service in
                let run = try await CommandRun.tumbler(["status", "--server", service.address] + more, in: folder)
                try look(run, service)
            }
        }
    }

    @Test(
        "all is well: read on loopback without a token where the service allows it, and printed calmly")
    func allIsWellReadOnLoopbackWithoutATokenWhereTheServiceAllowsItAndPrintedCalmly() async throws {
        try await self.status(.json(200, StatusText.status())) { run, service in
            run.expectResult()
            #expect(service.requests.map(\.path) == ["/v1/status"])
            #expect(service.requests.allSatisfy { $0.method == "GET" && $0.headers["Authorization"].isEmpty })
            #expect(
                run.lines.dropFirst() == [
                    "alarms: none", "com.example.app",
                    "  list 7, published 2026-11-21T00:00:00Z, expires 2027-01-20T00:00:00Z",
                    "  root 1, expires 2029-11-20T00:00:00Z",
                    "  adoption: 93 % hold version 7, estimated from 1234 requests in 12h; 99 % by 2026-11-25T00:00:00Z",
                    "failures by host:", "  api.example.com: 3 in the last hour, usually 0.2", "failures by cause:",
                    "  3 x api.example.com no-matching-pin: corporate proxy", "probed hosts:",
                    "  ok api.example.com: pin-match, at 2026-11-21T06:00:00Z", "audit log: 12 entries, head 00ffaa",
                ], "\(run)")
        }
    }

    @Test("a service that was broken into commands no terminal by its JSON, which keeps its values")
    func serviceThatWasBrokenIntoCommandsNoTerminalByItsJSON() async throws {
        let hostile = "\u{1b}[2J\u{9b}31m\u{7f}"
        let text = StatusText.status().replacing(#"[1, 2.5, null]"#, with: "[\"\(hostile)\"]")
        try await self.status(.json(200, text), ["--json"]) { run, _ in
            #expect(run.exitCode == 0, "\(run)")
            #expect(run.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
            let value = try JSONSerialization.jsonObject(with: run.outputBytes) as? [String: Any]
            let new = value?["somethingNew"] as? [String: [String]]
            #expect(new == ["a": [hostile]])
        }
    }

    @Test(
        "control characters are escaped where JSON has strings, and its white space stays",
        arguments: [
            ("{\n\t\"a\": 1 }\r\n", "{\n\t\"a\": 1 }\r\n"), ("\"a\nb\"", "\"a\\u000ab\""),
            ("\"a\\\\\u{1b}\"\n", "\"a\\\\\\u001b\"\n"), ("\"a\\\"\t\"", "\"a\\\"\\u0009\""),
            ("\u{0}\u{9d}{}", "\\u0000\\u009d{}"), ("\"ü\"", "\"ü\""),
        ])
    func controlCharactersAreEscapedWhereJSONHasStringsAndItsWhiteSpaceStays(json: String, printed: String) {
        #expect(JSONOutput.withoutControls(Array(json.utf8)) == printed)
    }

    @Test(
        "certificates in logs are counted, and those that apps would refuse are named, without what would colour a terminal"
    )
    func certificatesInLogsAreCountedAndThoseThatAppsWouldRefuseAreNamed() async throws {
        let sightings = #"""
            "sightings": [{"name": "com.example.app", "counts": {"unknown": 1, "pinned": 2, "issuer": 0}, "unexpected": [
              {"identity": "0a", "host": "api.example.com", "key": "sha256/AA=", "issuer": "CN=\u001b[31mCA", "names": [],
               "loggedAt": "2026-11-12T00:00:00Z", "toldAt": "2026-11-13T00:00:00Z",
               "probedAt": "2026-11-20T00:00:00Z"}]}], "probes": [
            """#
        let text = StatusText.status().replacingOccurrences(of: #""probes": ["#, with: sightings)
        try await self.status(.json(200, text)) { run, _ in
            run.expectResult()
            let first = try #require(run.lines.firstIndex(of: "certificates in logs:"))
            #expect(run.lines[first + 1] == "  com.example.app: 2 pinned, 1 unknown")
            #expect(run.lines[first + 2].hasPrefix("  unknown key for api.example.com: sha256/AA=, issued by CN="))
            #expect(run.lines[first + 2].hasSuffix(", logged 2026-11-12T00:00:00Z, SERVED at 2026-11-20T00:00:00Z"))
            #expect(!run.output.contains("\u{1b}"))
        }
    }

    @Test("an alarm needs an action, even one that says nothing of itself", arguments: [StatusText.alarm, "{}"])
    func alarmNeedsAnActionEvenOneThatSaysNothingOfItself(alarm: String) async throws {
        for more in [[], ["--json"]] {
            try await self.status(.json(200, StatusText.status(alarms: alarm)), more) { run, _ in
                #expect(run.exitCode == 1, "\(run)")
                if more.isEmpty { #expect(run.lines.dropFirst().first == "alarms:") }
            }
        }
    }

    @Test("an alarm is told in the service's words, the most urgent first, with its action and the page of its runbook")
    func alarmIsToldInTheServicesWords() async throws {
        let urgent =
            #"{"key": "failure-rate:a", "kind": "failure-rate", "severity": "critical", "since": "2026-11-21T02:53:00Z", "#
            + #""detail": "A server presents a key that no list has: a, since 02:53 UTC, 60 networks", "#
            + #""action": "serve a key that the list names again", "runbook": "/runbook/failure-rate"}"#
        let notice =
            #"{"severity": "notice", "detail": "A probe did not reach the host: b", "runbook": "//evil.example/"}"#
        try await self.status(.json(200, StatusText.status(alarms: "\(notice), \(urgent)"))) { run, service in
            #expect(run.exitCode == 1, "\(run)")
            #expect(
                run.lines.dropFirst().prefix(5) == [
                    "alarms:",
                    "  critical: A server presents a key that no list has: a, since 02:53 UTC, 60 networks, "
                        + "since 2026-11-21T02:53:00Z",
                    "    what to do: serve a key that the list names again",
                    "    runbook: \(service.address)/runbook/failure-rate",
                    "  notice: A probe did not reach the host: b",
                ], "\(run)")
            #expect(!run.output.contains("evil.example"))
        }
    }

    @Test("--json is what the service said, with the token when there is one")
    func jsonIsWhatTheServiceSaidWithTheTokenWhenThereIsOne() async throws {
        try await self.status(.json(200, StatusText.status()), ["--json", "--token-file", "token"]) { run, service in
            run.expectResult()
            #expect(run.output == StatusText.status() + "\n")
            #expect(service.requests.first?.headers["Authorization"] == ["Bearer tumbler_0123456789abcdef_00ff"])
        }
    }

    @Test(
        "so many hold a version, or a newer one; not measured counts as too few",
        arguments: [
            (7, "93", StatusText.measured, Int32(0)), (7, "93.1", StatusText.measured, 1),
            (6, "99.5", StatusText.measured, 0),
            (3, "100", StatusText.measured, 0), (8, "0.1", StatusText.measured, 1), (8, "0", StatusText.measured, 0),
            (7, "0", #"{"state": "not-measured", "share": {"7": 1.0}, "why": "requests come through a cache"}"#, 1),
            (7, "0", "null", 1), (7, "0", #"{"state": "measured", "share": {"7": "all"}}"#, 1),
            (7, "0", #"{"state": "measured", "share": {"7": -5}}"#, 0),
        ])
    func soManyHoldAVersionOrANewerOneNotMeasuredCountsAsTooFew(
        version: Int, percent: String, adoption: String, exit: Int32
    ) async throws {
        let options = ["--list-version", "\(version)", "--min-adoption", percent]
        try await self.status(.json(200, StatusText.status(adoption: adoption)), options) { run, _ in
            #expect(run.exitCode == exit, "\(run)")
            #expect(run.errors.isEmpty == (exit == 0), "\(run)")
        }
    }

    @Test("the list that is meant must be known")
    func listThatIsMeantMustBeKnown() async throws {
        let options = ["--list-version", "7", "--min-adoption", "1"]
        let two = StatusText.status().replacing(#""names": ["#, with: #""names": [{"name": "com.example.other"}, "#)
        try await self.status(.json(200, two), options) { run, _ in run.expectError(2, hint: true) }
        try await self.status(.json(200, two), options + ["--name", "com.example.app"]) { run, _ in
            #expect(run.exitCode == 0, "\(run)")
        }
        try await self.status(.json(200, two), options + ["--name", "com.example.gone"]) { run, _ in
            run.expectError(2, hint: true)
        }
        for wrong in [["--list-version", "7"], ["--min-adoption", "7"], ["--name", "x"]] {
            try await self.status(.json(200, two), wrong) { run, service in
                run.expectError(64)
                #expect(service.requests.isEmpty)
            }
        }
    }

    @Test("a member that is missing or of another type is unknown, and the rest is shown")
    func memberThatIsMissingOrOfAnotherTypeIsUnknownAndTheRestIsShown() async throws {
        let odd = #"""
            {"time": 7, "names": [{"name": "com.example.app", "list": "x", "adoption": 3}, 17], "hosts": {"a": 1},
             "groups": [{"host": "api.example.com", "count": 1e400}, {"host": "www.example.com", "count": 2}], "alarms": []}
            """#
        try await self.status(.json(200, odd.replacing("1e400", with: "\"many\""))) { run, _ in
            run.expectResult()
            #expect(run.output.contains("  list none") && run.output.contains("adoption: not measured"), "\(run)")
            #expect(run.output.contains("? x api.example.com") == false, "\(run)")
            #expect(run.output.contains("2 x www.example.com"), "\(run)")
        }
    }

    @Test("text that a stranger sent in a report does not reach the terminal as it is")
    func textThatAStrangerSentInAReportDoesNotReachTheTerminalAsItIs() async throws {
        let cause = "\\u001b[31mred\\u202e" + String(repeating: "x", count: 5_000)
        let text = StatusText.status().replacing("corporate proxy", with: cause)
        try await self.status(.json(200, text)) { run, _ in
            run.expectResult()
            #expect(!run.output.contains("\u{1b}") && !run.output.contains("\u{202e}"))
            #expect(run.lines.allSatisfy { $0.count < 600 })
        }
    }

    @Test(
        "a service that cannot be asked, or answers something else, ends with 2",
        arguments: [
            RecordingService.Answer.problem(401, "unauthorized", "no"), .problem(403, "forbidden", "no"),
            .problem(503, "unavailable", "no"), .json(200, "rubbish"), .json(200, "{}"), .json(200, "[]"),
            .json(200, #"{"names": [], "alarms": "none"}"#), .says(404, [:], ""), .says(302, ["Location": "/"], ""),
            .endless, .cut,
        ])
    func serviceThatCannotBeAskedOrAnswersSomethingElseEndsWith2(answer: RecordingService.Answer) async throws {
        try await self.status(answer) { run, _ in run.expectError(2) }
    }

    @Test("away from loopback a token is needed, and no service is asked without one")
    func awayFromLoopbackATokenIsNeededAndNoServiceIsAskedWithoutOne() async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(["status", "--server", "https://nosuch.invalid"], in: folder)
            run.expectError(64, hint: true)
            #expect(run.errors.contains("--scope read"))
            try await CommandRun.tumbler(["status"], in: folder).expectError(64, hint: true)
        }
    }
}

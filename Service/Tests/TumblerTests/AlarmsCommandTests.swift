// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import Testing

@Suite("Alarms at the command line")
struct AlarmsCommandTests {
    private static let firing = """
        {"alarms": [{"key": "failure-rate:a", "kind": "failure-rate", "subject": "a", "severity": "critical",
          "since": "2026-11-21T00:00:00Z", "detail": "12 failures\\u001b[31m", "acknowledgedBy": "0123",
          "acknowledgedAt": "2026-11-21T00:01:00Z"}],
         "silences": [{"what": "silence", "upTo": "warning", "until": "2026-11-22T00:00:00Z", "by": "0123",
          "because": "a move"}]}
        """

    private func alarms(
        _ answer: RecordingService.Answer, _ arguments: [String],
        _ look: (CommandRun, RecordingService) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try folder.writeToken()
            try await RecordingService.with({ _ in answer }) { service in
                let run = try await CommandRun.tumbler(
                    ["alarms"] + arguments + ["--server", service.address], in: folder)
                try look(run, service)
            }
        }
    }

    @Test("firing alarms are listed for people, without control characters of a terminal, and ends with 1")
    func firingAlarmsAreListedForPeopleWithoutControlCharactersOfATerminalAndEndsWith1() async throws {
        for arguments in [[], ["list"]] {
            try await self.alarms(.json(200, Self.firing), arguments) { run, service in
                #expect(run.exitCode == 1, "\(run)")
                #expect(service.requests.map(\.path) == ["/v1/alarms"])
                #expect(run.lines.count == 2)
                #expect(run.lines.first?.hasPrefix("critical: failure-rate:a: 12 failures") == true)
                #expect(run.lines.first?.hasSuffix(", acknowledged by 0123") == true)
                #expect(!run.output.contains("\u{1b}"))
                #expect(
                    run.lines.last
                        == "silenced: silence up to warning until 2026-11-22T00:00:00Z, by 0123: a move")
            }
        }
        try await self.alarms(.json(200, #"{"alarms": [], "silences": []}"#), []) { run, _ in
            run.expectResult()
            #expect(run.lines == ["no alarm fires"])
        }
        try await self.alarms(.json(200, "{}"), []) { run, _ in run.expectError(2, hint: true) }
    }

    @Test("each deed is sent with the token, as the service reads it")
    func eachDeedIsSentWithTheTokenAsTheServiceReadsIt() async throws {
        for (arguments, path, body) in [
            (["acknowledge", "failure-rate:a"], "acknowledge", #"{"key":"failure-rate:a"}"#),
            (
                ["silence", "probe-unreached", "--for", "4h", "--because", "a move", "--up-to", "critical"], "silence",
                #"{"because":"a move","seconds":14400,"upTo":"critical","what":"probe-unreached"}"#
            ),
            (
                ["silence", "failure-rate:a", "--for", "7d", "--because", "x"], "silence",
                #"{"because":"x","seconds":604800,"what":"failure-rate:a"}"#
            ),
            (["unsilence", "silence"], "unsilence", #"{"what":"silence"}"#),
        ] {
            try await self.alarms(.says(204, [:], ""), arguments + ["--token-file", "token"]) { run, service in
                run.expectResult()
                let request = try #require(service.requests.first)
                #expect(request.method == "POST" && request.path == "/v1/alarms/\(path)")
                #expect(request.headers["Authorization"] == ["Bearer tumbler_0123456789abcdef_00ff"])
                #expect(String(decoding: request.body, as: UTF8.self) == body)
            }
        }
    }

    @Test("an alarm that ended meanwhile is said, and so is a silence without an end or a token")
    func alarmThatEndedMeanwhileIsSaidAndSoIsASilenceWithoutAnEndOrAToken() async throws {
        try await self.alarms(.problem(404, "not-found", "no"), ["acknowledge", "x", "--token-file", "token"]) {
            run, _ in
            run.expectError(1, hint: true)
        }
        try await self.alarms(.problem(403, "wrong-scope", "no"), ["unsilence", "x", "--token-file", "token"]) {
            run, _ in
            run.expectError(1, hint: true)
        }
        try await self.alarms(.says(204, [:], ""), ["acknowledge", "x"]) { run, service in
            run.expectError(64, hint: true)
            #expect(run.errors.contains("--scope operate"))
            #expect(service.requests.isEmpty)
        }
        for length in ["8d", "59s", "for ever", "0h"] {
            try await self.alarms(
                .says(204, [:], ""), ["silence", "x", "--for", length, "--because", "y", "--token-file", "token"]
            ) { run, service in
                run.expectError(64)
                #expect(service.requests.isEmpty)
            }
        }
    }
}

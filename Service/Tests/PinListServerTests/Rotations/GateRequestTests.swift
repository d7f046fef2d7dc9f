// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import PinRotation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Answers of the gate, handed in")
struct GateRequestTests {
    private static let path = "/v1/lists/com.example.app/gates"
    private static let certificate = String(repeating: "c", count: 64)
    private static let text = """
        {"host": "api.example.com", "notedHostname": "example.com", "verdict": "safe",
         "matched": {"pin": "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "position": "leaf"},
         "refusing": {"share": 0.004, "measured": true, "period": "24h", "requests": 18211},
         "reason": "few refuse it", "certificate": "\(certificate)"}
        """

    @Test("an answer is one line of the audit log, with who asked, the certificate and what was measured")
    func answerIsOneLineOfTheAuditLogWithWhoAskedTheCertificateAndWhatWasMeasured() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let unknown = """
                    {"host": "api.example.com", "notedHostname": null, "verdict": "unknown", "matched": null,
                     "refusing": {"share": null, "measured": false, "period": "48h", "requests": 12},
                     "reason": "no list covers it\\nand that is that", "certificate": "\(Self.certificate)"}
                    """
                var actors: [String?] = []
                for (scope, body) in [(AccessToken.Scope.publish, Self.text), (.probe, unknown)] {
                    let token = try await service.token(scope, ["com.example.app"])
                    let answer = try await service.ask(
                        .POST, Self.path, ["Authorization": "Bearer \(token)"], Array(body.utf8))
                    #expect(answer.status == 204)
                    #expect(answer.body.isEmpty)
                    actors.append(AccessToken.id(of: token))
                }
                let entries = try await service.store.read { try $0.auditEntries(from: 1, limit: 9) }
                #expect(entries.map(\.action) == ["gate", "gate"])
                #expect(entries.map(\.actor) == actors)
                #expect(
                    entries.first?.detail
                        == "com.example.app: api.example.com safe, certificate \(Self.certificate), "
                        + "refusing: 0.4 % of 18211 requests in 24h: few refuse it")
                #expect(entries.last?.detail.contains("unknown, certificate") == true)
                #expect(entries.last?.detail.contains("refusing: not measured: ") == true)
                #expect(entries.last?.detail.contains("\n") == false)
            }
        }
    }

    @Test(
        "what is not such an answer to the letter is refused, and leaves nothing in the log",
        arguments: [
            ("\"verdict\": \"safe\"", "\"verdict\": \"fine\""), ("\"verdict\": \"safe\",", ""),
            ("\"notedHostname\": \"example.com\",", ""), ("0.004", "1.5"), ("0.004", "-0.1"), ("0.004", "null"),
            ("0.004", "\"0.004\""), ("true", "false"), ("24h", "24"), ("24h", "0h"), ("18211", "-1"),
            ("18211", "1.5"), ("18211", "18211, \"extra\": 1"), ("\"leaf\"", "\"top\""), ("sha256/", "sha1/"),
            ("\"reason\"", "\"verdict\": \"unsafe\", \"reason\""), ("\"reason\"", "\"extra\": 1, \"reason\""),
            (GateRequestTests.certificate, "CC"),
            (GateRequestTests.certificate, String(repeating: "C", count: 64)), ("api.example.com", "a..b"),
            (GateRequestTests.text, ""), (GateRequestTests.text, "[]"), (GateRequestTests.text, "{}"),
            (GateRequestTests.text, "null"), (GateRequestTests.text, GateRequestTests.text + "x"),
        ])
    func whatIsNotSuchAnAnswerToTheLetterIsRefusedAndLeavesNothingInTheLog(_ part: String, _ replacement: String) {
        let body = Self.text.replacing(part, with: replacement)
        #expect(body != Self.text)
        #expect(throws: Problem.self) { try GateRoute.record(Array(body.utf8)) }
        #expect(throws: Never.self) { try GateRoute.record(Array(Self.text.utf8)) }
    }

    @Test(
        "a refusal says what the member must be, and names no type of ours",
        arguments: [
            (
                "\"verdict\": \"safe\"", "\"verdict\": \"fine\"",
                "verdict is invalid: safe, unsafe or unknown"
            ),
            ("18211", "-1", "refusing.requests is invalid: a whole number from 0"),
        ])
    func refusalSaysWhatTheMemberMustBeAndNamesNoTypeOfOurs(_ part: String, _ replacement: String, _ detail: String)
        throws
    {
        let body = Self.text.replacing(part, with: replacement)
        let problem = #expect(throws: Problem.self) { try GateRoute.record(Array(body.utf8)) }
        #expect(problem?.detail == detail)
    }

    @Test(
        "a token that leaked lengthens the audit log by a thousand answers a day, and another token is not kept waiting"
    )
    func tokenThatLeakedLengthensTheAuditLogByAThousandAnswersADay() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let leaked = try await service.token(.probe, ["com.example.app"])
                let other = try await service.token(.probe, ["com.example.app"])
                let (id, now) = (try #require(AccessToken.id(of: leaked)), service.clock.now)
                try await service.store.write { store in
                    for _ in 0..<AuditQuota.maximumPerDay - 1 {
                        try store.log(GateRoute.action, "before", by: id, at: now)
                    }
                }
                func hand(_ token: String) async throws -> RunningService.Answer {
                    try await service.ask(
                        .POST, Self.path, ["Authorization": "Bearer \(token)"], Array(Self.text.utf8))
                }
                service.clock.turn(by: 3_600)
                #expect(try await hand(leaked).status == 204)
                let answer = try await hand(leaked)
                #expect(answer.status == 429)
                #expect(answer.code == "too-many")
                #expect(answer.headers["retry-after"] == ["\(23 * 3_600)"])
                #expect(try await hand(other).status == 204)
                service.clock.turn(by: 23 * 3_600)
                #expect(try await hand(leaked).status == 204)
                let count = try await service.store.read { try $0.newestAuditEntry()?.number }
                #expect(count == Int64(AuditQuota.maximumPerDay) + 2)
            }
        }
    }

    @Test("a token that may neither publish nor probe the name is refused; a large or encoded body is not read")
    func tokenThatMayNeitherPublishNorProbeTheNameIsRefusedALargeOrEncodedBodyIsNotRead() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(try open()) { service in
                let token = try await service.token(.probe, ["com.example.app"])
                for (secret, status) in [
                    (nil, 401), (token + "0", 401), (try await service.token(.read), 403),
                    (try await service.token(.probe, ["com.example.other"]), 403),
                ] as [(String?, Int)] {
                    let fields: HTTPHeaders = secret.map { ["Authorization": "Bearer \($0)"] } ?? [:]
                    let answer = try await service.ask(.POST, Self.path, fields, Array(Self.text.utf8))
                    #expect(answer.status == status)
                }
                let fields: HTTPHeaders = ["Authorization": "Bearer \(token)"]
                let padded = Self.text + String(repeating: " ", count: GateRecord.maximumLength)
                let large = try? await service.ask(.POST, Self.path, fields, Array(padded.utf8))
                #expect(large == nil || large?.status == 413)
                let packed = try await service.ask(.POST, Self.path, fields + [("Content-Encoding", "gzip")], [1])
                #expect(packed.status == 415)
                #expect(try await service.ask(.GET, Self.path, fields).status == 405)
                #expect(try await service.actions() == [])
            }
        }
    }
}

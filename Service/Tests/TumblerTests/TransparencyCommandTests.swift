// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("Was this certificate logged?")
struct TransparencyCommandTests {
    private struct Printed: Decodable, Equatable {
        struct Timestamp: Decodable, Equatable {
            let log: String?
            let `operator`: String?
            let timestamp: String?
            let status: String
        }

        let policy: String
        let satisfied: Bool
        let detail: String
        let scts: [Timestamp]
    }

    private struct PrintedWithTransparency: Decodable {
        let id: PrintedIdentifier?
        let verdict: String
        let reason: String
        let enforced: Bool
        let transparency: Printed?
    }

    private func withChain(_ body: (URL, LoggedChain) async throws -> Void) async throws {
        let chain = try LoggedChain()
        try await withTemporaryFolder { folder in
            try chain.write(into: folder)
            try await body(folder, chain)
        }
    }

    private func ct(_ arguments: [String], in folder: URL) async throws -> CommandRun {
        try await CommandRun.tumbler(["ct"] + arguments + ["--at", LoggedChain.time], in: folder)
    }

    @Test("a line for each timestamp, then the policy's verdict, in text and as JSON")
    func lineForEachTimestampThenThePolicysVerdictInTextAndAsJSON() async throws {
        try await self.withChain { folder, chain in
            let run = try await self.ct(["chain.pem", "--logs", "logs.json"], in: folder)
            run.expectResult()
            let ids = chain.logs.map { Base64.encode($0.id) }
            #expect(
                run.lines == [
                    "valid  2027-01-15T07:00:00Z  \(ids[0])  A", "valid  2027-01-15T07:00:00Z  \(ids[1])  B",
                    "chrome: satisfied: 2 logs of 2 operators count",
                ])
            let json = try await self.ct(
                ["chain.pem", "--logs", "logs.json", "--json", "--policy", "apple"], in: folder)
            json.expectResult()
            let printed = try json.decoded(as: Printed.self)
            #expect(printed.policy == "apple" && printed.satisfied)
            #expect(
                printed.scts
                    == zip(ids, ["A", "B"]).map {
                        Printed.Timestamp(
                            log: $0, operator: $1, timestamp: "2027-01-15T07:00:00Z", status: "valid")
                    })
        }
    }

    @Test("with a list that lacks one of the logs the policy is not satisfied: 1, and why")
    func withAListThatLacksOneOfTheLogsThePolicyIsNotSatisfied1AndWhy() async throws {
        try await self.withChain { folder, _ in
            let run = try await self.ct(["chain.pem", "--logs", "one-log.json", "--json"], in: folder)
            #expect(run.exitCode == 1 && run.errors.isEmpty, "\(run)")
            let printed = try run.decoded(as: Printed.self)
            #expect(!printed.satisfied && printed.scts.map(\.status) == ["valid", "unknown-log"])
            #expect(printed.scts[1].operator == nil && printed.detail.hasPrefix("1 log of the 2 "))
        }
    }

    @Test("with roots the validated path is evaluated, and a chain that does not validate is not")
    func withRootsTheValidatedPathIsEvaluatedAndAChainThatDoesNotValidateIsNot() async throws {
        try await self.withChain { folder, _ in
            let run = try await self.ct(["leaf.pem", "--logs", "logs.json", "--roots", "roots.pem"], in: folder)
            run.expectResult()
            try folder.write(try LoggedChain().root.pem, as: "others.pem")
            try await self.ct(["leaf.pem", "--logs", "logs.json", "--roots", "others.pem"], in: folder).expectError(1)
        }
    }

    @Test("an undecidable question is 2: no issuer, no list, a list that is refused, no such file")
    func undecidableQuestionIs2NoIssuerNoListAListThatIsRefusedNoSuchFile() async throws {
        try await self.withChain { folder, _ in
            try await self.ct(["leaf.pem", "--logs", "logs.json"], in: folder).expectError(2, hint: true)
            try await self.ct(["chain.pem", "--logs", "missing.json"], in: folder).expectError(2)
            try await self.ct(["missing.pem", "--logs", "logs.json"], in: folder).expectError(2, hint: true)
            try await self.ct(["logs.json", "--logs", "logs.json"], in: folder).expectError(2)
            try folder.write(#"{"operators": [{"name": 1}]}"#, as: "wrong.json")
            try await self.ct(["chain.pem", "--logs", "wrong.json"], in: folder).expectError(2, hint: true)
            try folder.write(String(repeating: " ", count: 4_194_305), as: "large.json")
            try await self.ct(["chain.pem", "--logs", "large.json"], in: folder).expectError(2)
        }
    }

    @Test("a certificate without timestamps is not logged: 1")
    func certificateWithoutTimestampsIsNotLogged1() async throws {
        try await self.withChain { folder, chain in
            try folder.write(try chain.root.pem + chain.root.pem, as: "unlogged.pem")
            let run = try await self.ct(["unlogged.pem", "--logs", "logs.json"], in: folder)
            #expect(run.exitCode == 1 && run.lines.count == 1, "\(run)")
            #expect(run.lines.first?.hasPrefix("chrome: not satisfied: ") == true)
        }
    }

    @Test("a command without a list, or with a policy that there is not, was called wrongly")
    func commandWithoutAListOrWithAPolicyThatThereIsNotWasCalledWrongly() async throws {
        try await self.withChain { folder, _ in
            try await self.ct(["chain.pem"], in: folder).expectError(64)
            try await self.ct(["chain.pem", "--logs", "logs.json", "--policy", "firefox"], in: folder).expectError(64)
            let evaluate = ["evaluate", "--host", "api.example.com", "--chain", "chain.pem"]
            for options in [["--logs", "logs.json"], ["--transparency", "chrome"]] {
                try await CommandRun.tumbler(evaluate + options, in: folder).expectError(64)
            }
        }
    }

    @Test("a stale list is a note, and evaluated all the same")
    func staleListIsANoteAndEvaluatedAllTheSame() async throws {
        try await self.withChain { folder, _ in
            let run = try await self.ct(["chain.pem", "--logs", "old.json"], in: folder)
            #expect(run.exitCode == 0 && run.lines.last?.hasPrefix("chrome: satisfied") == true, "\(run)")
            #expect(run.errorLines.count == 1 && run.errors.hasPrefix("tumbler: note: old.json: "), "\(run)")
        }
    }

    @Test("evaluate refuses a certificate that matches its pin and was not logged as the policy asks")
    func evaluateRefusesACertificateThatMatchesItsPinAndWasNotLoggedAsThePolicyAsks() async throws {
        try await self.withChain { folder, chain in
            let arguments = [
                "evaluate", "--host", "api.example.com", "--chain", "chain.pem", "--roots", "roots.pem", "--at",
                LoggedChain.time, "--json",
            ]
            let pin = try Pin(publicKeyOf: chain.leaf.der).description
            for (pins, reason, enforced) in [([], "not-pinned", false), (["--pin", pin], "pin-match", true)] {
                let satisfied = try await CommandRun.tumbler(
                    arguments + pins + ["--logs", "logs.json", "--transparency", "chrome"], in: folder)
                satisfied.expectResult()
                let allowed = try satisfied.decoded(as: PrintedWithTransparency.self)
                #expect(allowed.verdict == "allow" && allowed.reason == reason && allowed.enforced == enforced)
                #expect(allowed.transparency?.satisfied == true)
                let refused = try await CommandRun.tumbler(
                    arguments + pins + ["--logs", "one-log.json", "--transparency", "chrome"], in: folder)
                #expect(refused.exitCode == 1 && refused.errors.isEmpty, "\(refused)")
                let blocked = try refused.decoded(as: PrintedWithTransparency.self)
                #expect(blocked.verdict == "block" && blocked.reason == "transparency" && blocked.enforced)
                #expect(blocked.transparency?.satisfied == false)
            }
            let other = Pin(kind: .publicKey, hashing: [1]).description
            let mismatch = try await CommandRun.tumbler(
                arguments + ["--pin", other, "--logs", "logs.json", "--transparency", "chrome"], in: folder)
            let decision = try mismatch.decoded(as: PrintedWithTransparency.self)
            #expect(decision.reason == "no-matching-pin" && decision.transparency == nil)
        }
    }

    @Test("a batch reads a list once for each path; a line asks for itself, or as the command does")
    func batchReadsAListOnceForEachPathALineAsksForItselfOrAsTheCommandDoes() async throws {
        try await self.withChain { folder, chain in
            struct Question: Encodable {
                let id: Int
                let host = "api.example.com"
                let chain: [String]
                let roots: [String]
                let at = LoggedChain.time
                var logs: String?
                var transparency: String?
            }
            let asked: [(String?, String?)] = [
                ("logs.json", "chrome"), ("one-log.json", "chrome"), (nil, nil), ("logs.json", nil), (nil, "apple"),
                ("logs.json", "firefox"), ("missing.json", "chrome"), ("logs.json", "apple"),
            ]
            let lines = try asked.enumerated().map { index, question in
                String(
                    decoding: try JSONEncoder().encode(
                        Question(
                            id: index, chain: [try chain.leaf.pem], roots: [try chain.root.pem], logs: question.0,
                            transparency: question.1)), as: UTF8.self)
            }
            try folder.write(lines.joined(separator: "\n"), as: "questions")
            for (options, expected) in [
                ([], "not-pinned"), (["--logs", "one-log.json", "--transparency", "apple"], "transparency"),
            ] {
                let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions"] + options, in: folder)
                #expect(run.exitCode == 0)
                let answers = try run.decodedLines(as: PrintedWithTransparency.self)
                #expect(
                    answers.map(\.reason) == [
                        "not-pinned", "transparency", expected, "malformed", "malformed", "malformed", "malformed",
                        "not-pinned",
                    ])
                #expect(
                    answers.map { $0.transparency?.policy } == [
                        "chrome", "chrome", options.last, nil, nil, nil, nil, "apple",
                    ])
            }
        }
    }

    @Test("a server is asked for its chain", .needsOpenSSL)
    func serverIsAskedForItsChain() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await self.withChain { folder, chain in
            try folder.write(try chain.leaf.keyPEM, as: "leaf.key")
            let options = ["-cert", "leaf.pem", "-key", "leaf.key", "-cert_chain", "roots.pem"]
            try await withOpenSSLServer(openssl, options, in: folder) { port in
                let run = try await self.ct(["127.0.0.1:\(port)", "--logs", "logs.json"], in: folder)
                run.expectResult()
                #expect(run.lines.count == 3, "\(run)")
            }
        }
    }
}

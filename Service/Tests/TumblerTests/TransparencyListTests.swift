// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("Commands and a list that names a log list")
struct TransparencyListTests {
    private struct Printed: Decodable {
        struct Transparency: Decodable {
            let policy: String
            let satisfied: Bool
        }

        let verdict: String
        let reason: String
        let enforced: Bool
        let transparency: Transparency?
    }

    /// A chain, its log lists, and a signed list whose entry has the leaf's pin and a rule.
    private func withList(
        _ rule: TransparencyRule, naming logs: String?, _ body: (URL, LoggedChain) async throws -> Void
    ) async throws {
        let chain = try LoggedChain()
        try await withTemporaryFolder { folder in
            try chain.write(into: folder)
            let entry = PinnedDomain(
                try HostName("api.example.com"), pins: [KnownPin(try Pin(publicKeyOf: chain.leaf.der))],
                transparency: rule)
            var lists = try ServedLists(
                in: folder, at: try Timestamp("2027-01-10T00:00:00Z"), domains: [entry])
            let file = try logs.map { Array(try folder.contents(of: $0)) }
            try lists.repository.publishList { list in
                list.domains = [PinList.Domain(entry)]
                list.logs = file.flatMap { ListedLogs(of: $0) }
            }
            try lists.store()
            try folder.write(Data(lists.repository.lists[1]), as: "bundled.json")
            try await body(folder, chain)
        }
    }

    private func evaluate(_ more: [String], in folder: URL) async throws -> CommandRun {
        try await CommandRun.tumbler(
            [
                "evaluate", "--host", "api.example.com", "--chain", "chain.pem", "--roots", "roots.pem", "--list",
                "bundled.json", "--root", "root.json", "--at", LoggedChain.time, "--json",
            ] + more, in: folder)
    }

    @Test("evaluate evaluates what the entry asks for with the log list that the list names")
    func evaluateEvaluatesWhatTheEntryAsksForWithTheLogListThatTheListNames() async throws {
        for (rule, logs, code, verdict, reason) in [
            (TransparencyRule(.enforce, .chrome), "logs.json", Int32(0), "allow", "pin-match"),
            (TransparencyRule(.enforce, .apple), "logs.json", 0, "allow", "pin-match"),
            (TransparencyRule(.enforce, .chrome), "one-log.json", 1, "block", "transparency"),
            (TransparencyRule(.report, .chrome), "one-log.json", 0, "allow", "transparency"),
        ] {
            try await self.withList(rule, naming: logs) { folder, _ in
                let run = try await self.evaluate(["--logs", logs], in: folder)
                #expect(run.exitCode == code && run.errors.isEmpty, "\(run)")
                let printed = try run.decoded(as: Printed.self)
                #expect(printed.verdict == verdict && printed.reason == reason && printed.enforced)
                #expect(printed.transparency?.policy == rule.policy.rawValue)
            }
        }
    }

    @Test(
        "evaluate with another log list than the list names is 2; without one nothing is evaluated, and that is a note")
    func evaluateWithAnotherLogListThanTheListNamesIs2WithoutOneNothingIsEvaluatedAndThatIsANote() async throws {
        try await self.withList(TransparencyRule(.enforce, .chrome), naming: "logs.json") { folder, chain in
            for more in [["--logs", "one-log.json"], ["--logs", "one-log.json", "--transparency", "apple"]] {
                try await self.evaluate(more, in: folder).expectError(2, hint: true)
            }
            let run = try await self.evaluate([], in: folder)
            #expect(run.exitCode == 0 && run.errors.hasPrefix("tumbler: note: "), "\(run)")
            #expect(try run.decoded(as: Printed.self).transparency == nil)
            let line = """
                {"id": 1, "host": "api.example.com", "chain": \(try Self.json([chain.leaf.pem])), "roots": \
                \(try Self.json([chain.root.pem])), "at": "\(LoggedChain.time)", "list": "bundled.json", "root": \
                "root.json", "logs": "LOGS"}
                """
            try folder.write(
                ["one-log.json", "logs.json"].map { line.replacing("LOGS", with: $0) }.joined(separator: "\n"),
                as: "questions")
            let batch = try await CommandRun.tumbler(["evaluate", "--batch", "questions"], in: folder)
            let answers = try batch.decodedLines(as: Printed.self)
            #expect(batch.exitCode == 0 && answers.map(\.reason) == ["malformed", "pin-match"], "\(batch)")
            #expect(answers.last?.transparency?.satisfied == true)
        }
    }

    private static func json(_ texts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    }

    @Test("publish uploads the log list before the list that names it; one that is another file is 2")
    func publishUploadsTheLogListBeforeTheListThatNamesItOneThatIsAnotherFileIs2() async throws {
        try await self.withList(TransparencyRule(.report, .chrome), naming: "logs.json") { folder, _ in
            try folder.writeToken()
            let done = RecordingService.Answer.json(200, #"{"name": "com.example.app", "changes": ["list 2"]}"#)
            try await RecordingService.with({ _ in done }) { service in
                let words = ["publish", "bundled.json", "--server", service.address, "--token-file", "token"]
                try await CommandRun.tumbler(words + ["--logs", "one-log.json"], in: folder).expectError(2, hint: true)
                #expect(service.requests.isEmpty)
                try await CommandRun.tumbler(words + ["--logs", "logs.json"], in: folder).expectResult()
                let digest = Envelope.digest(of: Array(try folder.contents(of: "logs.json")))
                let base = "/v1/lists/com.example.app"
                #expect(service.requests.map(\.method) == ["PUT", "PUT"])
                #expect(service.requests.map(\.path) == ["\(base)/logs/\(digest).json", base])
                #expect(service.requests.first?.body == Array(try folder.contents(of: "logs.json")))
            }
            try await RecordingService.with({ _ in .problem(422, "malformed", "no") }) { service in
                let words = ["publish", "bundled.json", "--server", service.address, "--token-file", "token"]
                try await CommandRun.tumbler(words + ["--logs", "logs.json"], in: folder).expectError(1)
                #expect(service.requests.count == 1)
            }
        }
    }

    @Test("a project: the list is built with the file, which is kept and exported before the list", .needsOpenSSL)
    func projectTheListIsBuiltWithTheFileWhichIsKeptAndExportedBeforeTheList() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let signer = try await OpenSSLSigner(openssl, in: folder)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("root"), withIntermediateDirectories: true)
            let text = "logs: logs.json\n" + ProjectText.good + "    transparency: {mode: report, policy: chrome}\n"
            try folder.write(text, as: "tumbler.yaml")
            let first = #"{"log_list_timestamp": "2026-11-20T00:00:00Z", "operators": []}"#
            try folder.write(first, as: "logs.json")
            try folder.write(try await signer.root(), as: "root/1.json")
            let build = ["build", "-o", "list.json", "--at", "2026-11-21T00:00:00Z"]
            try await CommandRun.tumbler(build, in: folder).expectResult()
            let payload = try folder.contents(of: "list.json")
            let digest = Envelope.digest(of: Array(first.utf8))
            #expect(try PinList(payload: Array(payload)).logs?.digest == digest)
            try folder.write(try await signer.envelope("pins", payload), as: "pins.json")
            let paths = ["logs/\(digest).json", "pins.json", "root/1.json"].map { "v1/lists/com.example.app/\($0)" }
            let export = try await CommandRun.tumbler(["export", "out"], in: folder)
            export.expectResult()
            #expect(export.lines == paths)
            #expect(try folder.text(of: "out/\(paths[0])") == first)
            // The next log list takes nothing away from the list that is out.
            try folder.write(first.replacing("11-20", with: "11-21"), as: "logs.json")
            try FileManager.default.removeItem(at: folder.appendingPathComponent("out"))
            #expect(try await CommandRun.tumbler(["export", "out"], in: folder).lines == paths)
            try FileManager.default.removeItem(at: folder.appendingPathComponent("logs"))
            try await CommandRun.tumbler(["export", "other"], in: folder).expectError(2, hint: true)
        }
    }
}

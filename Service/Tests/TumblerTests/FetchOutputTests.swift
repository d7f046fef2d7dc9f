// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("The output of fetch")
struct FetchOutputTests {
    @Test("--decision --json has the members of the formats, in place of the body")
    func decisionJsonHasTheMembersOfTheFormatsInPlaceOfTheBody() async throws {
        try await FetchScene.with { scene in
            try scene.ship([try FetchScene.entry(FetchScene.host, scene.pin)])
            let run = try await scene.fetch(FetchScene.bundled + ["--decision", "--json"])
            run.expectResult()
            #expect(try run.members() == [PrintedDecision.members])
            let decision = try run.decoded(as: PrintedDecision.self)
            let pins = try scene.pki.path.map { "\(try $0.pin)" }
            #expect(decision.host == FetchScene.host)
            #expect(decision.notedHostname == FetchScene.host)
            #expect(decision.verdict == "allow")
            #expect(decision.enforced)
            #expect(decision.reason == "pin-match")
            #expect(decision.matched == .init(pin: pins[0], index: 0))
            #expect(decision.path == pins)
            #expect(scene.server.counts.requests == 1)
        }
    }

    @Test("a refusal with --decision is a result, with what was seen; the exit code says that it is one")
    func refusalWithDecisionIsAResultWithWhatWasSeenTheExitCodeSaysThatItIsOne() async throws {
        try await FetchScene.with { scene in
            let run = try await scene.fetch(["--pin", "\(FetchScene.strangePin)", "--decision", "--json"])
            #expect(run.exitCode == 1)
            #expect(run.errors.isEmpty)
            let decision = try run.decoded(as: PrintedDecision.self)
            #expect(decision.verdict == "block")
            #expect(decision.reason == "no-matching-pin")
            #expect(decision.path == (try scene.pki.path.map { "\(try $0.pin)" }))
            let text = try await scene.fetch(["--pin", "\(FetchScene.strangePin)", "--decision"])
            #expect(text.exitCode == 1)
            #expect(text.lines.first?.hasPrefix("\(FetchScene.host): block (no-matching-pin)") == true)
            #expect(text.output.contains("Seen, leaf first:"))
        }
    }

    @Test("each host on the way has a decision of its own, in order")
    func eachHostOnTheWayHasADecisionOfItsOwnInOrder() async throws {
        try await FetchScene.with { scene in
            try scene.ship([
                try FetchScene.entry(FetchScene.host, scene.pin),
                try FetchScene.entry(FetchScene.otherHost, FetchScene.strangePin),
            ])
            let run = try await scene.fetch(
                "https://\(FetchScene.host)/redirect?https://\(FetchScene.otherHost)/",
                FetchScene.bundled + ["--decision", "--json"])
            #expect(run.exitCode == 1)
            let decisions = try run.decodedLines(as: PrintedDecision.self)
            #expect(decisions.map(\.host) == [FetchScene.host, FetchScene.otherHost])
            #expect(decisions.map(\.verdict) == ["allow", "block"])
        }
    }

    /// Runs `body` beside a server of plain HTTP, with a list in the folder that says nothing of it.
    private func withPlainServer(_ body: (URL, _ base: String) async throws -> Void) async throws {
        try await HTTPServer.serving { base in
            try await withTemporaryFolder { folder in
                _ = try ServedLists(in: folder)
                try await body(folder, base)
            }
        }
    }

    private static let python = ConditionTrait.enabled(if: HTTPServer.python != nil, "python3 is not installed")

    @Test("--connect-to keeps the name and the port of the URL in what the server is told", Self.python)
    func connectToKeepsTheNameAndThePortOfTheURLInWhatTheServerIsTold() async throws {
        try await self.withPlainServer { folder, base in
            let port = try #require(base.split(separator: ":").last)
            for (name, options) in [
                ("www.example.com", ["--connect-to", "www.example.com:80:127.0.0.1:\(port)"]),
                ("www.example.com:8080", ["--connect-to", "WWW.example.com:8080:127.0.0.1:\(port)"]),
                ("127.0.0.1:\(port)", ["--connect-to", "other.example.com::127.0.0.2:9"]),
            ] {
                let run = try await CommandRun.tumbler(
                    ["fetch", "http://\(name)/headers"] + FetchScene.bundled + options, in: folder)
                #expect(run.exitCode == 0, "\(run)")
                let headers = try JSONDecoder().decode([String: String].self, from: run.outputBytes)
                #expect(headers["host"] == name)
            }
        }
    }

    @Test("a page that is not there is printed as curl does; with --fail it is a failure", Self.python)
    func pageThatIsNotThereIsPrintedAsCurlDoesWithFailItIsAFailure() async throws {
        try await self.withPlainServer { folder, base in
            let arguments = ["fetch", "\(base)/busy"] + FetchScene.bundled
            #expect(try await CommandRun.tumbler(arguments, in: folder).exitCode == 0)
            let failed = try await CommandRun.tumbler(arguments + ["--fail"], in: folder)
            #expect(failed.exitCode == 2)
            #expect(failed.errors.contains("503"))
        }
    }

    @Test("an answer that breaks off is a failure, and the part that came is printed", Self.python)
    func answerThatBreaksOffIsAFailureAndThePartThatCameIsPrinted() async throws {
        try await self.withPlainServer { folder, base in
            let run = try await CommandRun.tumbler(["fetch", "\(base)/cut"] + FetchScene.bundled, in: folder)
            #expect(run.exitCode == 2)
            #expect(run.output == "only this")
        }
    }

    private static let endless = #""$0" fetch BASE/endless --bundled bundled.json --root root.json"#

    @Test(
        "a body without end is printed as it arrives; a reader that has enough ends the command silently", Self.python)
    func bodyWithoutEndIsPrintedAsItArrives() async throws {
        try await self.withPlainServer { folder, base in
            let line =
                "env --default-signal=PIPE \(Self.endless.replacing("BASE", with: base)) 2>notes | head -c 200000"
            let run = try await CommandRun.shell(line, in: folder)
            #expect(run.exitCode == 0)
            #expect(run.outputBytes.count == 200_000)
            #expect(try folder.text(of: "notes").split(separator: "\n").allSatisfy { $0.contains("note: ") })
        }
    }

    @Test("with the signal ignored it is one clear line", Self.python)
    func withTheSignalIgnoredItIsOneClearLine() async throws {
        try await self.withPlainServer { folder, base in
            let fetch = Self.endless.replacing("BASE", with: base)
            let run = try await CommandRun.shell(
                "(env --ignore-signal=PIPE \(fetch) 2>notes; echo $? >code) | head -c 20 >/dev/null", in: folder)
            #expect(run.exitCode == 0)
            #expect(try folder.text(of: "code") == "2\n")
            #expect(try folder.text(of: "notes").contains("tumbler: error: the result cannot be written"))
        }
    }

    @Test("a full disk and a closed output are errors, not silence", Self.python, arguments: [">/dev/full", ">&-"])
    func fullDiskAndAClosedOutputAreErrorsNotSilence(redirection: String) async throws {
        try await self.withPlainServer { folder, base in
            let run = try await CommandRun.shell(
                "\(Self.endless.replacing("BASE", with: base)) \(redirection)", in: folder)
            #expect(run.exitCode == 2)
            #expect(run.errors.contains("tumbler: error: the result cannot be written"))
        }
    }
}

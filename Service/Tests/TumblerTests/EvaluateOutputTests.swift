// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The output of evaluate", .needsOpenSSL)
struct EvaluateOutputTests {
    private func withChain(_ body: (OpenSSL, URL, TestChain, _ pins: [String]) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            try await body(openssl, folder, chain, try await openssl.pins(ofCertificates: chain.path, in: folder))
        }
    }

    private func evaluate(_ chain: TestChain, _ options: [String], in folder: URL) async throws -> CommandRun {
        let arguments = ["evaluate", "--host", TestChain.host, "--chain", chain.file, "--roots", chain.root]
        return try await CommandRun.tumbler(arguments + options, in: folder)
    }

    private func pin(_ byte: UInt8) -> String { "sha256/\(Data(repeating: byte, count: 32).base64EncodedString())" }

    @Test("JSON has the members of formats.md, section 4, and detail where the chain is refused")
    func jsonHasTheMembersOfFormatsMdSection4AndDetailWhereTheChainIsRefused() async throws {
        try await self.withChain { _, folder, chain, pins in
            let accepted = try await self.evaluate(chain, ["--json", "--pin", pins[1]], in: folder)
            #expect(try accepted.members() == [PrintedDecision.members])
            #expect(
                try accepted.decoded()
                    == PrintedDecision(
                        host: TestChain.host, notedHostname: TestChain.host, verdict: "allow", enforced: true,
                        reason: "pin-match", matched: .init(pin: pins[1], index: 1), path: pins, detail: nil))

            let mismatched = try await self.evaluate(chain, ["--json", "--pin", self.pin(7)], in: folder)
            #expect(try mismatched.members() == [PrintedDecision.members])
            #expect(
                try mismatched.decoded()
                    == PrintedDecision(
                        host: TestChain.host, notedHostname: TestChain.host, verdict: "block", enforced: true,
                        reason: "no-matching-pin", matched: nil, path: pins, detail: nil))

            let unpinned = try await self.evaluate(chain, ["--json"], in: folder)
            #expect(try unpinned.members() == [PrintedDecision.members])
            #expect(
                try unpinned.decoded()
                    == PrintedDecision(
                        host: TestChain.host, notedHostname: nil, verdict: "allow", enforced: false,
                        reason: "not-pinned", matched: nil, path: pins, detail: nil))

            let late = ["--json", "--pin", pins[0], "--at", "2099-01-01T00:00:00Z"]
            let refused = try await self.evaluate(chain, late, in: folder)
            #expect(try refused.members() == [PrintedDecision.members.union(["detail"])])
            let decision = try refused.decoded(as: PrintedDecision.self)
            #expect(decision.path.isEmpty && decision.reason == "chain-invalid" && decision.detail != nil)
        }
    }

    @Test("the same question has the same bytes for an answer, its members in order")
    func sameQuestionHasTheSameBytesForAnAnswerItsMembersInOrder() async throws {
        try await self.withChain { _, folder, chain, pins in
            let first = try await self.evaluate(chain, ["--json", "--pin", pins[0]], in: folder)
            let second = try await self.evaluate(chain, ["--json", "--pin", pins[0]], in: folder)
            #expect(first.outputBytes == second.outputBytes)
            let places = try PrintedDecision.members.sorted().map { member in
                try #require(first.output.range(of: "\"\(member)\":")).lowerBound
            }
            #expect(places == places.sorted())
        }
    }

    @Test("text shows the verdict, then what was expected and what was seen, certificate by certificate")
    func textShowsTheVerdictThenWhatWasExpectedAndWhatWasSeenCertificateByCertificate() async throws {
        try await self.withChain { _, folder, chain, pins in
            let subjects = ["CN=api.example.com"] + ["issuing", "policy", "root"].map { "CN=good \($0), O=Example" }
            let refused = try await self.evaluate(chain, ["--pin", self.pin(7), "--pin", self.pin(8)], in: folder)
            #expect(refused.exitCode == 1 && refused.errors.isEmpty, "\(refused)")
            let lines = refused.lines
            #expect(lines.first?.hasPrefix("\(TestChain.host): block (no-matching-pin)") == true)
            let expected = try #require(lines.firstIndex { $0.contains("Expected") })
            let seen = try #require(lines.firstIndex { $0.contains("Seen") })
            let trimmed = lines.map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(Array(trimmed[(expected + 1)..<seen]) == [self.pin(7), self.pin(8)])
            #expect(Array(trimmed[(seen + 1)...]) == zip(pins, subjects).map { "\($0)  \($1)" })
            #expect(!refused.output.contains("<- matches"))

            let accepted = try await self.evaluate(chain, ["--pin", pins[2]], in: folder)
            #expect(accepted.exitCode == 0 && accepted.errors.isEmpty, "\(accepted)")
            let marked = accepted.lines.filter { $0.hasSuffix("<- matches") }
            #expect(marked.count == 1 && marked.first?.contains(pins[2]) == true)
        }
    }

    @Test("a host from outside does not reach the terminal as it is")
    func hostFromOutsideDoesNotReachTheTerminalAsItIs() async throws {
        try await self.withChain { _, folder, chain, _ in
            let host = "a\u{1b}[2J\nb\r\u{9b}\u{202e}c"
            let arguments = ["evaluate", "--host", host, "--chain", chain.file, "--roots", chain.root]
            let run = try await CommandRun.tumbler(arguments, in: folder)
            #expect(run.exitCode == 1 && run.errors.isEmpty, "\(run)")
            let forbidden = run.output.unicodeScalars.filter {
                [.control, .format].contains($0.properties.generalCategory) && $0 != "\n"
            }
            #expect(forbidden.isEmpty && run.lines.first?.contains("host-invalid") == true, "\(run)")
        }
    }

    @Test("a pin in every written form")
    func pinInEveryWrittenForm() async throws {
        try await self.withChain { openssl, folder, chain, pins in
            let base64 = String(pins[0].dropFirst("sha256/".count))
            let line = #""$0" x509 -in \#(chain.presented[0]) -outform DER | "$0" dgst -sha256 -binary | "$0" base64"#
            let whole = "cert-sha256/\(try await openssl.shell(line, in: folder))"
            // Twice the same is no contradiction.
            let twice = try await self.evaluate(chain, ["--pin", pins[0], "--pin", base64], in: folder)
            #expect(twice.exitCode == 0, "\(twice)")
            for form in [pins[0], base64, "pin-sha256=\"\(base64)\"", "sha256//\(base64)", " \(pins[0]) ", whole] {
                let run = try await self.evaluate(chain, ["--json", "--pin", self.pin(9), "--pin", form], in: folder)
                #expect(run.exitCode == 0, "\(run)")
                let matched = try run.decoded(as: PrintedDecision.self).matched
                #expect(matched == PrintedDecision.Match(pin: form == whole ? whole : pins[0], index: 0), "\(run)")
            }
        }
    }

    @Test(
        "a pin that is none is a mistake of the caller, and never a pin that matches nothing",
        arguments: ["", "x", "sha256/", "sha256/AAAA", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "SHA256/x", "sha256/\n"])
    func pinThatIsNoneIsAMistakeOfTheCallerAndNeverAPinThatMatchesNothing(pin: String) async throws {
        try await withTemporaryFolder { folder in
            let pins = ["--pin", self.pin(1), "--pin", pin]
            let arguments = ["evaluate", "--host", TestChain.host, "--chain", "missing.pem"] + pins
            try await CommandRun.tumbler(arguments, in: folder).expectError(64)
        }
    }
}

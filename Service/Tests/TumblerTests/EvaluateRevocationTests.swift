// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Would the app accept a certificate that was taken back?", .needsOpenSSL)
struct EvaluateRevocationTests {
    private func withChain(_ body: (URL, TestChain, (String) -> TestAuthority) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            try await body(folder, chain) { TestAuthority(name: "good-\($0)", openssl: openssl, folder: folder) }
        }
    }

    private func evaluate(_ chain: TestChain, _ options: [String], in folder: URL) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["evaluate", "--host", TestChain.host, "--chain", chain.file, "--roots", chain.root, "--json"] + options,
            in: folder)
    }

    @Test("one that openssl's CA took back is refused, with its list; another one of the same CA is not")
    func oneThatOpensslsCATookBackIsRefusedWithItsList() async throws {
        try await self.withChain { folder, chain, authority in
            let issuing = authority("issuing")
            let serial = try await issuing.serial(of: "good-leaf.pem")
            try await issuing.writeList("revoked.pem", [.init(serial: serial)])
            try await issuing.writeList("others.pem", [.init(serial: "0A1B")])
            let refused = try await self.evaluate(chain, ["--crl", "revoked.pem"], in: folder)
            #expect(refused.exitCode == 1)
            let decision = try refused.decoded(as: PrintedDecision.self)
            #expect(decision.reason == "revoked" && decision.verdict == "block")
            #expect(decision.detail?.contains("keyCompromise") == true)
            #expect(decision.detail?.contains("2026-01-01T00:00:00Z") == true)
            let other = try await self.evaluate(chain, ["--crl", "others.pem"], in: folder)
            #expect(other.exitCode == 0)
            let both = try await self.evaluate(chain, ["--crl", "others.pem", "revoked.pem"], in: folder)
            #expect(both.exitCode == 1)
        }
    }

    @Test("required refuses what no list covers, and takes a chain that is covered to its anchor")
    func requiredRefusesWhatNoListCoversAndTakesAChainThatIsCoveredToItsAnchor() async throws {
        try await self.withChain { folder, chain, authority in
            for name in ["issuing", "policy", "root"] { try await authority(name).writeList("\(name).crl") }
            let all = ["--crl", "issuing.crl", "policy.crl", "root.crl"]
            #expect(try await self.evaluate(chain, all + ["--revocation", "required"], in: folder).exitCode == 0)
            for options in [["--crl", "issuing.crl"], []] {
                let run = try await self.evaluate(chain, options + ["--revocation", "required"], in: folder)
                #expect(run.exitCode == 1)
                #expect(try run.decoded(as: PrintedDecision.self).reason == "revocation-unknown")
            }
        }
    }

    @Test("a file that is no list is exit code 2, with its name")
    func fileThatIsNoListIsExitCode2WithItsName() async throws {
        try await self.withChain { folder, chain, _ in
            try folder.write("hello", as: "hello.txt")
            for file in ["hello.txt", "missing.crl", chain.file] {
                let run = try await self.evaluate(chain, ["--crl", file], in: folder)
                #expect(run.exitCode == 2)
                #expect(run.errors.contains(file), "\(run)")
            }
        }
    }

    @Test("a batch takes lists as paths and as base64, for each line its own; what is no list is malformed")
    func batchTakesListsAsPathsAndAsBase64ForEachLineItsOwn() async throws {
        struct Line: Encodable {
            let id: Int
            var host = TestChain.host
            let chain: [String]
            let roots: [String]
            let crls: [String]?
            let revocation: String?
        }
        try await self.withChain { folder, chain, authority in
            let issuing = authority("issuing")
            let serial = try await issuing.serial(of: "good-leaf.pem")
            try await issuing.writeList("revoked.pem", [.init(serial: serial)])
            try await issuing.openssl.run(
                ["crl", "-in", "revoked.pem", "-outform", "DER", "-out", "revoked.der"], in: folder)
            let der = try Data(contentsOf: folder.appendingPathComponent("revoked.der")).base64EncodedString()
            let cases: [([String]?, String?, String)] = [
                (["revoked.pem"], nil, "revoked"), (["revoked.der"], "if-known", "revoked"), ([der], nil, "revoked"),
                (nil, nil, "not-pinned"), ([], "required", "revocation-unknown"),
                (nil, "required", "revocation-unknown"),
                ([], nil, "not-pinned"), (["hello"], nil, "malformed"), ([der], "soft", "malformed"),
            ]
            let lines = try cases.enumerated().map { number, one in
                try JSONEncoder().encode(
                    Line(
                        id: number, chain: try chain.presentedTexts(), roots: try chain.rootTexts(), crls: one.0,
                        revocation: one.1))
            }
            try folder.write(
                lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined(), as: "questions.jsonl")
            let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
            #expect(run.exitCode == 0)
            #expect(try run.decodedLines(as: BatchAnswerLine.self).map(\.reason) == cases.map(\.2))
        }
    }
}

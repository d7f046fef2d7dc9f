// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Linting sources and lists")
struct LintCommandTests {
    private struct Finding: Decodable, Equatable {
        let rule: String
        let severity: String
        let subject: String
        let allowed: Bool
        let file: String?
        let line: Int?
    }

    private static func findings(_ arguments: [String], in folder: URL) async throws -> [Finding] {
        try (try await CommandRun.tumbler(["lint", "--json"] + arguments, in: folder)).decoded()
    }

    @Test("no findings, an error, an allowed one, and warnings that count")
    func noFindingsAnErrorAnAllowedOneAndWarningsThatCount() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let good = try await CommandRun.tumbler(["lint", "--strict"], in: folder)
            good.expectResult()
            #expect(good.lines == ["errors: 0, warnings: 0"])

            try folder.write(ProjectText.withoutBackup, as: "tumbler.yaml")
            let bad = try await CommandRun.tumbler(["lint"], in: folder)
            #expect(bad.exitCode == 1 && bad.errors.isEmpty)
            #expect(bad.lines.first?.hasPrefix("tumbler.yaml:4:13: error: no-backup-pin: api.example.com: ") == true)
            #expect(bad.lines.dropFirst().first?.hasPrefix("    fix: ") == true)
            #expect(bad.lines.last == "errors: 1, warnings: 0")
            #expect(try await CommandRun.tumbler(["lint", "--allow", "no-backup-pin"], in: folder).exitCode == 0)

            try folder.write("validFor: 100d\n" + ProjectText.good, as: "tumbler.yaml")
            #expect(try await CommandRun.tumbler(["lint"], in: folder).exitCode == 0)
            #expect(try await CommandRun.tumbler(["lint", "--strict"], in: folder).exitCode == 1)
        }
    }

    @Test("as JSON, with places for a source and without for a list")
    func asJSONWithPlacesForASourceAndWithoutForAList() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.withoutBackup, as: "tumbler.yaml")
            let found = try await Self.findings(["--allow", "no-backup-pin"], in: folder)
            let expected = Finding(
                rule: "no-backup-pin", severity: "error", subject: "api.example.com", allowed: true,
                file: "tumbler.yaml", line: 4)
            #expect(found == [expected])
            let build = ["build", "-o", "list.json", "--allow", "no-backup-pin"]
            try await CommandRun.tumbler(build, in: folder).expectResult()
            let ofList = try await Self.findings(["list.json"], in: folder)
            #expect(ofList.map(\.rule) == ["no-backup-pin"] && ofList.first?.file == nil)
        }
    }

    @Test("against what is published: a pin that goes too early, from a file and over HTTP")
    func againstWhatIsPublishedAPinThatGoesTooEarlyFromAFileAndOverHTTP() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let day = ["--at", "2026-11-21T00:00:00Z"]
            let built = try await CommandRun.tumbler(["build", "-o", "old.json"] + day, in: folder)
            built.expectResult()
            // Not the first one: what went out before it is not known here.
            try folder.write(
                try folder.text(of: "old.json").replacing("\"version\":1", with: "\"version\":8"), as: "old.json")
            let next = ProjectText.good.replacing(ProjectText.pin("a"), with: ProjectText.pin("c"))
            try folder.write(next, as: "tumbler.yaml")
            let published = ["--published", "old.json"]
            let early = try await Self.findings(published + ["--at", "2026-12-20T23:59:59Z"], in: folder)
            #expect(early.map(\.rule) == ["propagation", "lists-missing"])
            #expect(try await Self.findings(published + ["--at", "2026-12-21T00:00:00Z"], in: folder).isEmpty)

            let list = try folder.text(of: "old.json")
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(list.utf8.count)\r\nConnection: close\r\n\r\n\(list)"
            try await LoopbackPort.with(.says(answer)) { port in
                let address = ["--published", "http://127.0.0.1:\(port)/v1/lists/com.example.app"]
                let found = try await Self.findings(address + day, in: folder)
                #expect(found.map(\.rule) == ["propagation", "lists-missing"])
            }
        }
    }

    @Test("a published address that is not https, not there, or answers something else")
    func publishedAddressThatIsNotHttpsNotThereOrAnswersSomethingElse() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            func run(_ address: String) async throws -> CommandRun {
                try await CommandRun.tumbler(["lint", "--published", address], in: folder)
            }
            try await run("http://pins.example.com/x").expectError(64)
            try await LoopbackPort.with(.closed) { try await run("http://127.0.0.1:\($0)/x").expectError(2) }
            try await LoopbackPort.with(.says("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")) {
                let missing = try await run("http://127.0.0.1:\($0)/x")
                missing.expectError(2, hint: true)
                #expect(missing.errors.contains("404"))
            }
            let away = "HTTP/1.1 302 Found\r\nLocation: http://pins.example.com/\r\nContent-Length: 0\r\n\r\n"
            try await LoopbackPort.with(.says(away)) {
                let redirected = try await run("http://127.0.0.1:\($0)/x")
                redirected.expectError(2)
                #expect(redirected.errors.contains("redirects"), "\(redirected)")
            }
        }
    }

    @Test("--live looks at what a host serves", .needsOpenSSL)
    func liveLooksAtWhatAHostServes() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let pins = try await openssl.pins(ofCertificates: chain.path, in: folder)
            try await withOpenSSLServer(openssl, chain.serverOptions, in: folder) { port in
                let live = [
                    "--live", "--roots", chain.root, "--connect-to", "api.example.com:127.0.0.1:\(port)",
                    "--connect-to", "reports.example.net:127.0.0.1:\(port)",
                ]
                try folder.write(ProjectText.good, as: "tumbler.yaml")
                // The certificate is not for the host that reports go to.
                let cut = try await Self.findings(live, in: folder)
                #expect(cut.map(\.rule) == ["would-cut-off", "not-observed"])
                let matching = ProjectText.good.replacing(ProjectText.pin("a"), with: pins[0])
                try folder.write(matching, as: "tumbler.yaml")
                let open = try await Self.findings(live, in: folder)
                #expect(open.map(\.rule) == ["not-observed"])
                try folder.write("denied: [\"\(pins[1])\"]\n" + matching, as: "tumbler.yaml")
                let denied = try await Self.findings(live, in: folder)
                #expect(denied.map(\.rule) == ["denied-key-served", "not-observed"])
            }
        }
    }
}

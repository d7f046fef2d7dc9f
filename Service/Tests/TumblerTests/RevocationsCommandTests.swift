// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import Testing

/// `tumbler revocations`: formats.md, section 8.
@Suite("What did issuers take back?", .needsOpenSSL)
struct RevocationsCommandTests {
    /// What `--json` prints.
    private struct Printed: Decodable {
        struct Certificate: Decodable {
            let of: [String]
            let subject, state: String
            let serial, issuer, since, reason, until, detail: String?
        }
        struct Entry: Decodable, Equatable {
            let issuer: String
            let serials: [String]
            let note: String?
        }

        let at: String
        let certificates: [Certificate]
        let lists: Int
        let revoked: [Entry]
        let troubles: [String]

        var states: [String] { self.certificates.map(\.state) }
    }

    /// A chain of openssl's, of whose leaf the issuer has a list, `issuing.crl`; those above have `policy.crl` and `root.crl`.
    private func withChain(
        revoking isRevoked: Bool = true, _ body: (URL, TestChain, TestAuthority, OpenSSL) async throws -> Void
    ) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let issuing = TestAuthority(name: "good-issuing", openssl: openssl, folder: folder)
            let serial = try await issuing.serial(of: "good-leaf.pem")
            try await issuing.writeList("issuing.crl", isRevoked ? [.init(serial: serial)] : [])
            for name in ["policy", "root"] {
                try await TestAuthority(name: "good-\(name)", openssl: openssl, folder: folder).writeList("\(name).crl")
            }
            try await body(folder, chain, issuing, openssl)
        }
    }

    private static let all = ["--crl", "issuing.crl", "policy.crl", "root.crl"]

    private func revocations(_ chain: TestChain, _ options: [String], in folder: URL) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["revocations", "--certificates", chain.file, "--roots", chain.root] + options, in: folder)
    }

    /// A project whose host has the pin of the issuer.
    private func makeProject(_ issuer: String, server: String? = nil, in folder: URL) throws {
        let source = ProjectText.good.replacing(ProjectText.pin("a"), with: issuer)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("project"), withIntermediateDirectories: true)
        try folder.write(source + (server.map { "server: \($0)\n" } ?? ""), as: "project/tumbler.yaml")
    }

    @Test("what is revoked is lines for tumbler.yaml with since when and why, and exit code 1; nothing revoked is 0")
    func whatIsRevokedIsLinesForTumblerYamlWithSinceWhenAndWhy() async throws {
        try await self.withChain { folder, chain, issuing, openssl in
            let pin = try await openssl.pins(ofCertificates: ["good-issuing.pem"], in: folder)[0]
            let serial = try await issuing.serial(of: "good-leaf.pem").lowercased()
            let der = (serial.first?.hexDigitValue ?? 0) >= 8 ? "00\(serial)" : serial
            let note = "keyCompromise since 2026-01-01T00:00:00Z"
            let run = try await self.revocations(chain, Self.all, in: folder)
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.errors.isEmpty, "\(run)")
            #expect(
                run.lines.filter { !$0.hasPrefix("#") } == [
                    "revoked:", "  - {issuer: \"\(pin)\", serials: [\"\(der)\"], note: \"\(note)\"}",
                ], "\(run)")
            #expect(run.lines.contains { $0.hasPrefix("# ") && $0.contains("api.example.com: revoked (\(note))") })
            let printed = try await self.revocations(chain, Self.all + ["--json"], in: folder)
            let answer: Printed = try printed.decoded()
            #expect(printed.exitCode == 1)
            #expect(answer.states == ["revoked", "good", "good"])
            #expect(answer.revoked == [Printed.Entry(issuer: pin, serials: [der], note: note)])
            #expect(answer.certificates[0].serial == der && answer.certificates[0].issuer == pin)
            #expect(answer.lists == 3 && answer.troubles.isEmpty)
        }
        try await self.withChain(revoking: false) { folder, chain, _, _ in
            let run = try await self.revocations(chain, Self.all, in: folder)
            run.expectResult()
            #expect(run.lines == ["# 3 certificates, 3 revocation lists: 0 revoked, 3 good, 0 not decidable"])
        }
    }

    @Test("--write adds the lines once and nothing else; what is there already is not printed again")
    func writeAddsTheLinesOnceAndNothingElse() async throws {
        try await self.withChain { folder, chain, _, openssl in
            let pin = try await openssl.pins(ofCertificates: ["good-issuing.pem"], in: folder)[0]
            try self.makeProject(pin, in: folder)
            let before = try folder.text(of: "project/tumbler.yaml")
            let options = Self.all + ["-C", "project"]
            let run = try await self.revocations(chain, options + ["--write"], in: folder)
            #expect(run.exitCode == 1, "\(run)")
            let after = try folder.text(of: "project/tumbler.yaml")
            let added = run.lines.filter { !$0.hasPrefix("#") }
            #expect(added.count == 2)
            #expect(after == before + added.map { $0 + "\n" }.joined())
            let lint = try await CommandRun.tumbler(["lint", "-C", "project"], in: folder)
            #expect(!lint.errors.contains("revoked"), "\(lint)")
            for more in [[], ["--write"]] {
                let again = try await self.revocations(chain, options + more, in: folder)
                #expect(again.exitCode == 1)
                #expect(again.lines.allSatisfy { $0.hasPrefix("# ") }, "\(again)")
                #expect(try folder.text(of: "project/tumbler.yaml") == after)
            }
            // Without a project there is nothing to write to, and no host is asked.
            try await self.revocations(chain, Self.all + ["--write"], in: folder).expectError(2, hint: true)
        }
    }

    @Test(
        "what no list covers is not decidable: a list that is missing, that ended, or of another key of the same name")
    func whatNoListCoversIsNotDecidable() async throws {
        try await self.withChain(revoking: false) { folder, chain, issuing, openssl in
            // Another authority of the same name.
            try await openssl.makeCertificate(
                "other-issuing", subject: "/O=Example/CN=good issuing",
                extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"], in: folder)
            let serial = try await issuing.serial(of: "good-leaf.pem")
            try await TestAuthority(name: "other-issuing", openssl: openssl, folder: folder).writeList(
                "other.crl", [.init(serial: serial)])
            for lists in [[], ["policy.crl", "root.crl"], ["other.crl", "policy.crl", "root.crl"]] {
                let run = try await self.revocations(
                    chain, (lists.isEmpty ? [] : ["--crl"] + lists) + ["--json"], in: folder)
                #expect(run.exitCode == 2, "\(run)")
                let answer: Printed = try run.decoded()
                #expect(answer.states[0] == "unknown" && answer.certificates[0].detail != nil)
                #expect(answer.revoked.isEmpty)
            }
            let later = Timestamp(secondsSince1970: TestPKI.now + 40 * 86_400)
            let ended = try await self.revocations(chain, Self.all + ["--at", later.description], in: folder)
            #expect(ended.exitCode == 2 && ended.output.contains("it ended at"), "\(ended)")
            // Who issued it is not known.
            let alone = try await CommandRun.tumbler(
                ["revocations", "--certificates", "good-leaf.pem", "--roots", chain.root] + Self.all, in: folder)
            #expect(alone.exitCode == 2 && alone.errors.contains("is not at hand"), "\(alone)")
        }
    }

    @Test(
        "a list at an address that is given is fetched with three redirects, and no more; what cannot be had is exit code 2"
    )
    func listAtAnAddressThatIsGivenIsFetchedWithThreeRedirects() async throws {
        try await self.withChain { folder, chain, _, _ in
            let list = try folder.text(of: "issuing.crl")
            try await RecordingService.with({ request in
                switch request.path {
                case "/list": .says(200, ["Content-Type": "application/pkix-crl"], list)
                case "/1": .says(302, ["Location": "/list"], "")
                case "/2": .says(301, ["Location": "/1"], "")
                case "/3": .says(307, ["Location": "/2"], "")
                case "/4": .says(308, ["Location": "/3"], "")
                case "/file": .says(302, ["Location": "file:///etc/passwd"], "")
                case "/text": .says(200, [:], "hello")
                case "/endless": .endless
                case "/cut": .cut
                default: .says(404, [:], "")
                }
            }) { server in
                let others = ["policy.crl", "root.crl"]
                for path in ["list", "1", "3"] {
                    let run = try await self.revocations(
                        chain, ["--crl", "\(server.address)/\(path)"] + others, in: folder)
                    #expect(run.exitCode == 1 && run.errors.isEmpty, "\(run)")
                }
                for (path, words) in [
                    ("4", "over 3 redirects"), ("file", "not an http or https URL"), ("missing", "answers 404"),
                    ("text", "neither DER nor PEM"), ("endless", "over 32 MiB"), ("cut", "warning"),
                ] {
                    let address = "\(server.address)/\(path)"
                    let run = try await self.revocations(chain, ["--crl", address] + others, in: folder)
                    #expect(run.exitCode == 2, "\(run)")
                    #expect(run.errors.contains(address) && run.errors.contains(words), "\(run)")
                }
            }
            let secret = try await self.revocations(
                chain, ["--crl", "http://user:secret@127.0.0.1:1/issuing.crl", "policy.crl", "root.crl"], in: folder)
            #expect(secret.exitCode == 2 && secret.errors.contains("address 1 of --crl: not an http"), "\(secret)")
            #expect(!secret.errors.contains("secret") && !secret.output.contains("secret"), "\(secret)")
            try await self.revocations(chain, ["--crl", "missing.crl"], in: folder).expectError(2)
        }
    }

    @Test("a list is fetched over https from a server under the anchors of --cacert, and from no other")
    func listIsFetchedOverHTTPSFromAServerUnderTheAnchorsOfCacert() async throws {
        try await self.withChain { folder, chain, _, _ in
            let (pki, other) = (try TestPKI(["localhost"]), try TestPKI(["localhost"], name: "other"))
            try folder.write(try pki.root.pem, as: "tls.pem")
            try folder.write(try other.root.pem, as: "other.pem")
            try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
                server.files = ["/issuing.crl": Array(try folder.contents(of: "issuing.crl"))]
                let address = "https://localhost:\(server.port)/issuing.crl"
                let options = ["--crl", address, "policy.crl", "root.crl"]
                let run = try await self.revocations(chain, options + ["--cacert", "tls.pem", "--json"], in: folder)
                #expect(run.exitCode == 1 && run.errors.isEmpty, "\(run)")
                let answer: Printed = try run.decoded()
                #expect(answer.states == ["revoked", "good", "good"] && answer.lists == 3)
                #expect(server.counts.requests == 1)
                // The list is as good, and the connection is another's.
                for anchors in [["--cacert", "other.pem"], []] {
                    let run = try await self.revocations(chain, options + anchors, in: folder)
                    #expect(run.exitCode == 2, "\(run)")
                    #expect(run.errors.contains(address) && run.errors.contains("--cacert FILE"), "\(run)")
                }
                #expect(server.counts.requests == 1)
                let none = try await self.revocations(chain, options + ["--cacert", "missing.pem"], in: folder)
                #expect(none.exitCode == 2, "\(none)")
            }
        }
    }

    @Test("a server of lists that says nothing is waited for as long as --max-time says")
    func serverOfListsThatSaysNothingIsWaitedForAsLongAsMaxTimeSays() async throws {
        try await self.withChain { folder, chain, _, _ in
            try await RecordingService.with({ _ in .silence }) { server in
                let address = "\(server.address)/list"
                let run = try await self.revocations(
                    chain, ["--crl", address, "policy.crl", "root.crl", "--max-time", "0.3"], in: folder)
                #expect(run.exitCode == 2, "\(run)")
                #expect(run.errors.contains("\(address): ") && run.errors.contains(" within 0.3 s"), "\(run)")
            }
        }
    }

    @Test("a list that many certificates name, and that is given twice, is fetched once")
    func listThatManyCertificatesNameAndThatIsGivenTwiceIsFetchedOnce() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
            try await openssl.makeCertificate("ca", subject: "/CN=ca", extensions: extensions, in: folder)
            try await TestAuthority(name: "ca", openssl: openssl, folder: folder).writeList("ca.crl")
            let list = try folder.text(of: "ca.crl")
            try await RecordingService.with({ _ in .says(200, [:], list) }) { server in
                let address = "\(server.address)/list"
                let shouted = address.replacing("http:", with: "HTTP:")
                let leaves = (0..<5).map { "leaf\($0)" }
                for (number, leaf) in leaves.enumerated() {
                    let point = number % 2 == 0 ? address : shouted
                    try await openssl.makeCertificate(
                        leaf, subject: "/CN=\(leaf)", issuedBy: "ca",
                        extensions: ["crlDistributionPoints=URI:\(point)"], in: folder)
                }
                let run = try await CommandRun.tumbler(
                    ["revocations", "--roots", "ca.pem", "--crl", address, shouted, "--json", "--certificates"]
                        + leaves.map { "\($0).pem" }, in: folder)
                #expect(run.exitCode == 0, "\(run)")
                let answer: Printed = try run.decoded()
                #expect(answer.states == leaves.map { _ in "good" })
                #expect(answer.lists == 1)
                #expect(server.requests.map(\.path) == ["/list"])
            }
        }
    }

    @Test("no certificate leads to this machine: the address of a list in it is not asked where it is local")
    func noCertificateLeadsToThisMachine() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await RecordingService.with({ _ in .says(200, [:], "") }) { server in
                let port = server.address.split(separator: ":").last ?? ""
                let authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
                try await openssl.makeCertificate("ca", subject: "/CN=ca", extensions: authority, in: folder)
                let points = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"].map {
                    "URI:http://\($0):\(port)/list"
                }
                try await openssl.makeCertificate(
                    "leaf", subject: "/CN=leaf", issuedBy: "ca",
                    extensions: [
                        "crlDistributionPoints=\((points + ["URI:ldap://ca.example/"]).joined(separator: ","))"
                    ],
                    in: folder)
                let run = try await CommandRun.tumbler(
                    ["revocations", "--certificates", "leaf.pem", "--roots", "ca.pem"], in: folder)
                #expect(run.exitCode == 2, "\(run)")
                #expect(run.output.contains("is at no public address, and is not asked"), "\(run)")
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test("the certificates of logs that the service keeps, page by page, with their issuers")
    func certificatesOfLogsThatTheServiceKeepsPageByPage() async throws {
        try await self.withChain { folder, chain, _, openssl in
            func der(_ name: String) async throws -> String {
                try await openssl.run("x509 -in \(name).pem -outform DER -out \(name).der", in: folder)
                return try folder.contents(of: "\(name).der").base64EncodedString()
            }
            let (leaf, issuer) = (try await der("good-leaf"), try await der("good-issuing"))
            let identities = ["0a", "0b"].map { String(repeating: $0, count: 32) }
            func page(_ identity: String, _ issuer: String?, next: String?) -> String {
                let issuer = issuer.map { ", \"issuerDER\": \"\($0)\"" } ?? ""
                let next = next.map { ", \"next\": \"\($0)\"" } ?? ""
                return #"{"name": "com.example.app", "certificates": [{"identity": "\#(identity)", "#
                    + #""names": ["api.example.com"], "der": "\#(leaf)"\#(issuer)}]\#(next)}"#
            }
            let first = page(identities[0], issuer, next: identities[0])
            let second = page(identities[1], nil, next: nil)
            try folder.writeToken()
            try await RecordingService.with({ request in
                request.path.hasSuffix("/sightings")
                    ? .json(200, first)
                    : request.path.hasSuffix("/sightings?after=\(identities[0])")
                        ? .json(200, second) : .says(404, [:], "")
            }) { service in
                let run = try await CommandRun.tumbler(
                    [
                        "revocations", "--sightings", "--name", "com.example.app", "--server", service.address,
                        "--token-file", "token", "--roots", chain.root, "--crl", "issuing.crl", "--json",
                    ], in: folder)
                #expect(run.exitCode == 1, "\(run)")
                let answer: Printed = try run.decoded()
                #expect(answer.states == ["revoked"])
                #expect(answer.certificates[0].of.count == 2)
                #expect(service.requests.map(\.path).count == 2)
            }
            for answer in [RecordingService.Answer.json(200, "{}"), .problem(403, "wrong-scope", "no"), .cut] {
                try await RecordingService.with({ _ in answer }) { service in
                    try await CommandRun.tumbler(
                        [
                            "revocations", "--sightings", "--name", "com.example.app", "--server", service.address,
                            "--token-file", "token", "--roots", chain.root,
                        ], in: folder
                    ).expectError(2)
                }
            }
            try await self.revocations(chain, ["--sightings"], in: folder).expectError(64, hint: true)
        }
    }
}

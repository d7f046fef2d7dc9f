// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

@Suite("A static host that answers 304 by the SHA-256 of the list", .needsOpenSSL)
struct ServerSnippetTests {
    private static let base = "v1/lists/com.example.app"

    /// Runs a test with a project whose list is exported, and with the snippet.
    private func withSnippet(
        _ flag: String,
        _ body: (URL, _ snippet: String, _ release: (String) async throws -> String) async throws -> Void
    ) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let signer = try await OpenSSLSigner(openssl, in: folder)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("root"), withIntermediateDirectories: true)
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            try folder.write(try await signer.root(), as: "root/1.json")
            func release(_ time: String) async throws -> String {
                try await CommandRun.tumbler(["build", "-o", "list.json", "--at", time], in: folder).expectResult()
                let list = try await signer.envelope("pins", try folder.contents(of: "list.json"))
                try folder.write(list, as: "pins.json")
                return SHA256.hash(data: try folder.contents(of: "pins.json")).map { String(format: "%02x", $0) }
                    .joined()
            }
            _ = try await release("2026-11-21T00:00:00Z")
            let run = try await CommandRun.tumbler(["export", "out", flag], in: folder)
            run.expectResult()
            try await body(folder, run.output, release)
        }
    }

    @Test(
        "the list is there under its digest, the link leads to it, and later exports keep it so",
        arguments: ["--nginx", "--caddy"])
    func listIsThereUnderItsDigestTheLinkLeadsToItAndLaterExportsKeepItSo(flag: String) async throws {
        try await self.withSnippet(flag) { folder, snippet, release in
            #expect(snippet.contains("\(folder.resolvingSymlinksInPath().path)") || snippet.contains(folder.path))
            let link = folder.appendingPathComponent("out/\(Self.base)/current").path
            var digests: [String] = []
            for time in ["2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-24T00:00:00Z"] {
                let digest = try await release(time)
                try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == digest)
                let list = try folder.contents(of: "pins.json")
                #expect(try folder.contents(of: "out/\(Self.base)/\(digest)/pins.json") == list)
                #expect(try folder.contents(of: "out/\(Self.base)/\(digest)/\(digest)").isEmpty)
                digests.append(digest)
            }
            // The list before stays for requests that are under way; older ones go.
            let left = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/out/\(Self.base)")
            #expect(Set(left) == ["current", "pins.json", "root", digests[1], digests[2]])
        }
    }

    @Test("without --nginx and --caddy there is no link; a path that a server would misread is refused")
    func withoutNginxAndCaddyThereIsNoLink() async throws {
        try await self.withSnippet("--nginx") { folder, _, _ in
            try await CommandRun.tumbler(["export", "plain"], in: folder).expectResult()
            let plain = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/plain/\(Self.base)")
            #expect(Set(plain) == ["pins.json", "root"])
            for name in ["a b", "a;b", "a$b", "a{b"] {
                try await CommandRun.tumbler(["export", name, "--nginx"], in: folder).expectError(64, hint: true)
                #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path))
            }
            try await CommandRun.tumbler(["export", "out", "--nginx", "--caddy"], in: folder).expectError(64)
        }
    }

    /// The status, type, cache field, entity tag and encoding of a server's answer. Its body goes into the file `body`.
    private static func answer(
        to path: String, _ header: String, at socket: String, in folder: URL
    ) async throws -> String {
        let line =
            "curl -s -o body --unix-socket \(socket) --retry 20 --retry-connrefused --retry-delay 1 "
            + "-H 'Accept-Encoding: gzip' -H '\(header)' "
            + "-w '%{http_code} %{content_type} %header{cache-control} %header{etag} %header{content-encoding}' "
            + "http://a.example/\(Self.base)/\(path)"
        return try await CommandRun.shell(line, in: folder).output
    }

    @Test(
        "nginx with the snippet: the digest is the entity tag, 304 for who holds the list, and a new list at once",
        .wants(.nginx), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func nginxWithTheSnippet() async throws {
        try await self.withSnippet("--nginx") { folder, snippet, release in
            try folder.write(snippet, as: "snippet.conf")
            let socket = "\(folder.path)/s"
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/t;"
            }
            try folder.write(
                """
                daemon off; master_process off; error_log stderr warn; pid \(folder.path)/pid;
                events { }
                http {
                    access_log off; \(places.joined(separator: " "))
                    gzip on; gzip_types application/json; gzip_min_length 1;
                    server { listen unix:\(socket); include \(folder.path)/snippet.conf; }
                }
                """, as: "nginx.conf")
            func get(_ path: String, _ header: String = "X-Nothing: 1") async throws -> String {
                try await Self.answer(to: path, header, at: socket, in: folder)
            }
            let nginx = URL(fileURLWithPath: "/usr/sbin/nginx")
            let arguments = ["-c", "\(folder.path)/nginx.conf", "-p", folder.path]
            try await withRunningProcess(nginx, arguments, in: folder) { _ in
                while !FileManager.default.fileExists(atPath: "\(folder.path)/pid") { await Task.yield() }
                var before = "0"
                for time in ["2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"] {
                    let digest = try await release(time)
                    try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
                    let tag = "\"\(digest)\""
                    let list = "application/json public, max-age=300 \(tag) "
                    #expect(try await get("pins.json") == "200 \(list)")
                    #expect(try folder.contents(of: "body") == folder.contents(of: "pins.json"))
                    for held in [tag, "W/\(tag)", "\"\(digest)-gzip\"", "\"x\", \(tag)"] {
                        #expect(try await get("pins.json", "If-None-Match: \(held)") == "304 \(list)", "\(held)")
                    }
                    for other in ["\"\(before)\"", "\"0\(digest)\"", digest, "\"\""] {
                        #expect(try await get("pins.json", "If-None-Match: \(other)") == "200 \(list)", "\(other)")
                    }
                    before = digest
                }
                let root = try await get("root/1.json")
                #expect(root.hasPrefix("200 application/json public, max-age=31536000, immutable "), "\(root)")
                #expect(try await get("root/2.json").hasPrefix("404 text/html public, max-age=60 "))
                for path in ["current/pins.json", "\(before)/\(before)", "other.json", ""] {
                    #expect(try await get(path).hasPrefix("404 "), "\(path)")
                }
            }
        }
    }

    @Test(
        "Caddy with the snippet: 304 to the holder of the list, by its digest or Caddy's tag, and a new list at once",
        .wants(.caddy), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/caddy")))
    func caddyWithTheSnippet() async throws {
        try await self.withSnippet("--caddy") { folder, snippet, release in
            try folder.write(snippet, as: "snippet")
            let socket = "\(folder.path)/s"
            try folder.write(
                """
                {
                    admin off
                    auto_https off
                    storage file_system \(folder.path)/storage
                }
                http://a.example {
                    bind unix/\(socket)
                    import \(folder.path)/snippet
                }
                """, as: "Caddyfile")
            func get(_ path: String, _ header: String = "X-Nothing: 1") async throws -> String {
                try await Self.answer(to: path, header, at: socket, in: folder)
            }
            let run = "exec env HOME=. XDG_CONFIG_HOME=config caddy run --adapter caddyfile --config Caddyfile 2>&1"
            try await withRunningProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", run], in: folder) { caddy in
                var said = ""
                while !said.contains("serving initial configuration") {
                    let line = await caddy.nextLine()
                    said = try #require(line, "Caddy ended: \(said)")
                }
                var before = "0"
                for time in ["2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"] {
                    let digest = try await release(time)
                    try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
                    let whole = try await get("pins.json")
                    let tag = try #require(whole.split(separator: " ").last.map(String.init))
                    #expect(whole == "200 application/json public, max-age=300 \(tag) ")
                    #expect(try folder.contents(of: "body") == folder.contents(of: "pins.json"))
                    let quoted = "\"\(digest)\""
                    for held in [quoted, "W/\(quoted)", "\"\(digest)-gzip\"", "\"x\", \(quoted)", tag] {
                        let answer = try await get("pins.json", "If-None-Match: \(held)")
                        #expect(answer.hasPrefix("304  public, max-age=300 "), "\(held): \(answer)")
                    }
                    for other in ["\"\(before)\"", "\"0\(digest)\"", digest, "\"\""] {
                        #expect(try await get("pins.json", "If-None-Match: \(other)") == whole, "\(other)")
                    }
                    before = digest
                }
                let root = try await get("root/1.json")
                #expect(root.hasPrefix("200 application/json public, max-age=31536000, immutable "), "\(root)")
                for path in ["root/2.json", "current/pins.json", "\(before)/\(before)", "other.json", ""] {
                    let answer = try await get(path)
                    #expect(answer.hasPrefix("404 ") && answer.contains("public, max-age=60"), "\(path): \(answer)")
                }
            }
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

/// From an authority that takes a certificate back to the end of a connection, with openssl as the authority.
@Suite("A certificate is revoked", .needsOpenSSL)
struct RevocationStoryTests {
    private struct Scene {
        let folder: URL
        let chain: TestChain
        let issuing: TestAuthority
        let server: LoopbackServer
        /// Serves the lists of the authorities, and what `release --export` wrote.
        let site: RecordingService

        /// Runs a command that looks at the server.
        func look(_ command: [String]) async throws -> CommandRun {
            try await CommandRun.tumbler(
                command + [
                    "-C", "project", "--roots", self.chain.root, "--connect-to", "::127.0.0.1:\(self.server.port)",
                    "--crl", "\(self.site.address)/issuing.crl", "\(self.site.address)/policy.crl",
                    "\(self.site.address)/root.crl",
                ], in: self.folder)
        }

        func release() async throws {
            let run = try await CommandRun.tumbler(
                ["release", "-C", "project", "--yes", "--export", "site"], in: self.folder)
            #expect(run.exitCode == 0, "\(run)")
        }

        /// The installation of an app that ships the project's list.
        func app() throws -> Pinning {
            try Pinning(
                root: .bytes(Array(try self.folder.contents(of: "project/root/1.json"))),
                list: .bytes(Array(try self.folder.contents(of: "project/pins.json"))),
                refreshFrom: URL(string: "\(self.site.address)/v1/lists/com.example.app"), state: .store(MemoryStore()),
                configuration: PinningConfiguration(fetcher: HTTPClientFetcher(), reportSender: NoNetwork()))
        }

        func client(_ app: Pinning) throws -> PinnedHTTPClient {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(self.folder.appendingPathComponent(self.chain.root).path)
            var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
            configuration.dnsOverride = [TestChain.host: "127.0.0.1"]
            return try PinnedHTTPClient(by: app, configuration: configuration)
        }

        func text(_ path: String, _ client: PinnedHTTPClient) async throws -> String {
            let request = HTTPClientRequest(url: "https://\(TestChain.host):\(self.server.port)\(path)")
            let response = try await client.execute(request, timeout: .minutes(10))
            return String(buffer: try await response.body.collect(upTo: 65_536))
        }
    }

    /// A project that pins the issuer, and a server with a certificate of it.
    private func with(_ body: (Scene) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let authorities = ["issuing", "policy", "root"].map {
                TestAuthority(name: "good-\($0)", openssl: openssl, folder: folder)
            }
            for authority in authorities { try await authority.writeList("\(authority.name.dropFirst(5)).crl") }
            let issuer = try await openssl.pins(ofCertificates: ["good-issuing.pem"], in: folder)[0]
            let setUp = try await CommandRun.tumbler(
                [
                    "init", "project", "--name", "com.example.app", "--insecure-plaintext", "--domain",
                    "\(TestChain.host)=\(issuer),\(ProjectText.pin("b"))",
                ], in: folder)
            #expect(setUp.exitCode == 0, "\(setUp)")
            var identity = try LoopbackServer.Identity(try TestPKI([TestChain.host]).chain)
            identity.chain = try chain.presented.flatMap {
                try NIOSSLCertificate.fromPEMFile(folder.appendingPathComponent($0).path)
            }
            identity.key = try NIOSSLPrivateKey(file: folder.appendingPathComponent(chain.key).path, format: .pem)
            try await LoopbackServer.with(identity) { server in
                try await RecordingService.with({ request in
                    let path = String(request.path.dropFirst())
                    let text = (try? folder.text(of: path)) ?? (try? folder.text(of: "site/\(path)"))
                    return text.map { .says(200, [:], $0) } ?? .says(404, [:], "")
                }) { site in
                    try await body(
                        Scene(folder: folder, chain: chain, issuing: authorities[0], server: server, site: site))
                }
            }
        }
    }

    @Test("revocations finds it, release puts it out, and the open connection of an app ends")
    func revocationsFindsItReleasePutsItOutAndTheOpenConnectionOfAnAppEnds() async throws {
        try await self.with { scene in
            let app = try scene.app()
            let client = try scene.client(app)
            // Nothing is revoked yet, and the app has a request running.
            let before = try await scene.look(["revocations", "--write"])
            before.expectResult()
            let running = Task { try await scene.text("/wait", client) }
            await scene.server.untilWaiting(1)

            let serial = try await scene.issuing.serial(of: "good-leaf.pem")
            try await scene.issuing.writeList("issuing.crl", [.init(serial: serial)])
            let found = try await scene.look(["revocations", "--write"])
            #expect(found.exitCode == 1, "\(found)")
            // The host serves it, so that apps would be locked out of it.
            #expect(found.errors.contains("Serve another certificate first, then tumbler release --live"), "\(found)")
            #expect(try scene.folder.text(of: "project/tumbler.yaml").contains("\nrevoked:\n  - {issuer: "))
            try await scene.release()
            #expect(scene.server.counts.open == 1)
            #expect(await app.refresh().hasChanged)
            await scene.server.untilOpen(0)
            let refusal = await #expect(throws: PinningError.self) { try await running.value }
            #expect(refusal?.decision.reason == .revoked)
            // Nor does a new one begin.
            let next = await #expect(throws: PinningError.self) { try await scene.text("/", client) }
            #expect(next?.decision.reason == .revoked)
            try await client.shutdown()
        }
    }

    @Test("probe says of a certificate that it is revoked, and ends with 1; a list that cannot be had is a warning")
    func probeSaysOfACertificateThatItIsRevokedAndEndsWith1() async throws {
        struct Report: Decodable {
            struct Revoked: Decodable {
                let index: Int
                let issuer, serial, since, reason: String?
            }
            struct Host: Decodable {
                let ok: Bool
                let verdict: String?
                let revoked: [Revoked]
                let notes: [String]
            }

            let hosts: [Host]
        }
        try await self.with { scene in
            let before = try await scene.look(["probe", "--json", "--within", "1d"])
            #expect(before.exitCode == 0, "\(before)")
            #expect(try before.decoded(as: Report.self).hosts.map(\.revoked.count) == [0])
            let serial = try await scene.issuing.serial(of: "good-leaf.pem")
            try await scene.issuing.writeList("issuing.crl", [.init(serial: serial)])
            let after = try await scene.look(["probe", "--json", "--within", "1d"])
            #expect(after.exitCode == 1, "\(after)")
            let host = try #require(try after.decoded(as: Report.self).hosts.first)
            #expect(!host.ok && host.verdict == "allow")
            #expect(host.revoked.map(\.index) == [0])
            #expect(host.revoked.map(\.reason) == ["keyCompromise"])
            #expect(host.revoked.map(\.since) == ["2026-01-01T00:00:00Z"])
            let lines = try await scene.look(["probe", "--within", "1d"])
            #expect(lines.exitCode == 1 && lines.output.hasPrefix("REVOKED"), "\(lines)")
            #expect(lines.output.contains("tumbler revocations --write"), "\(lines)")
            try FileManager.default.removeItem(at: scene.folder.appendingPathComponent("issuing.crl"))
            let without = try await scene.look(["probe", "--json", "--within", "1d"])
            #expect(without.exitCode == 2 && without.errors.contains("answers 404"), "\(without)")
            let notes = try #require(try without.decoded(as: Report.self).hosts.first).notes
            #expect(notes.contains { $0.contains("no revocation list covers it") }, "\(notes)")
        }
    }
}

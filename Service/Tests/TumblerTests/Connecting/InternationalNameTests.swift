// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

/// Commands that are given a host in Unicode, and a server whose certificate has its name as in the DNS.
@Suite("Hosts written in Unicode, to a server that has the name of the DNS")
struct InternationalNameTests {
    private static let typed = "bücher.example"
    private static let name = "xn--bcher-kva.example"

    /// Runs `body` beside such a server, with its anchor in `anchors.pem`, and with the options that lead to it.
    private func withServer(
        _ body: (URL, TestPKI, LoopbackServer, _ options: [String]) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.name])
        try await withTemporaryFolder { folder in
            try folder.write(try pki.root.pem, as: "anchors.pem")
            try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
                let place = "\(Self.typed):443:127.0.0.1:\(server.port)"
                try await body(folder, pki, server, ["--cacert", "anchors.pem", "--connect-to", place])
            }
        }
    }

    @Test("probe finds the host of the list, by its name in Unicode")
    func probeFindsTheHostOfTheListByItsNameInUnicode() async throws {
        try await self.withServer { folder, pki, server, options in
            let pins = [KnownPin(try pki.leaf.pin), KnownPin(ProbeScene.backup)]
            let entry = PinnedDomain(try HostName(Self.name), pins: pins)
            _ = try ServedLists(in: folder, at: Timestamp(secondsSince1970: TestPKI.now), domains: [entry])
            let probe = ["probe", "bundled.json", "--root", "root.json", "--json", "--host", Self.typed]
            let run = try await CommandRun.tumbler(probe + options, in: folder)
            #expect(run.exitCode == 0, "\(run)")
            let report: PrintedProbe = try run.decoded()
            #expect(report.hosts.map(\.host) == [Self.name], "it is one host, however it is written")
            #expect(report.hosts.map(\.reason) == ["pin-match"])
            #expect(Set(server.indicatedNames) == [Self.name])
        }
    }

    @Test("fetch asks it, and decides by its pins")
    func fetchAsksItAndDecidesByItsPins() async throws {
        try await self.withServer { folder, pki, server, options in
            let fetch = ["fetch", "https://\(Self.typed)/", "--pin"]
            let right = try await CommandRun.tumbler(fetch + [try pki.leaf.pin.description] + options, in: folder)
            right.expectResult()
            #expect(right.output == "hello")
            let wrong = try await CommandRun.tumbler(fetch + [ProjectText.pin("a")] + options, in: folder)
            wrong.expectError(1)
            #expect(Set(server.indicatedNames) == [Self.name])
            #expect(server.counts.requests == 1)
        }
    }

    @Test("a service is asked at it with --server")
    func serviceIsAskedAtItWithServer() async throws {
        try await self.withServer { folder, _, server, options in
            try folder.writeToken()
            server.files["/v1/status"] = Array(StatusText.status().utf8)
            let status = ["status", "--server", "https://\(Self.typed)", "--token-file", "token"]
            let run = try await CommandRun.tumbler(status + options, in: folder)
            run.expectResult()
            #expect(run.output.contains("list 7, published 2026-11-21T00:00:00Z"), "\(run)")
            #expect(Set(server.indicatedNames) == [Self.name])
        }
    }
}

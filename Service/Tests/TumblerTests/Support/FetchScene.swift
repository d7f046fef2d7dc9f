// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

/// A server of HTTPS on loopback whose authority only these tests trust, and what `fetch` is told about it.
struct FetchScene {
    /// The name that is asked for.
    static let host = "api.example.com"
    /// Another name of the certificate.
    static let otherHost = "www.example.com"
    /// A pin that nothing matches.
    static let strangePin = Pin(kind: .publicKey, hashing: [1, 2, 3])

    let folder: URL
    let pki: TestPKI
    let server: LoopbackServer

    /// Runs `body` beside such a server, with its anchor in `anchors.pem` of a folder.
    static func with(_ body: (FetchScene) async throws -> Void) async throws {
        let pki = try TestPKI([Self.host, Self.otherHost])
        try await withTemporaryFolder { folder in
            try folder.write(try pki.root.pem, as: "anchors.pem")
            try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
                try await body(FetchScene(folder: folder, pki: pki, server: server))
            }
        }
    }

    /// The pin of the server's key.
    var pin: Pin { get throws { try self.pki.leaf.pin } }

    /// An entry that enforces.
    static func entry(_ host: String, _ pin: Pin) throws -> PinnedDomain {
        PinnedDomain(try HostName(host), pins: [KnownPin(pin)])
    }

    /// Puts `root.json` and `bundled.json` into the folder, as an app ships them.
    @discardableResult
    func ship(_ domains: [PinnedDomain]) throws -> ServedLists {
        try ServedLists(in: self.folder, at: Timestamp(secondsSince1970: TestPKI.now), domains: domains)
    }

    /// The options that name them.
    static let bundled = ["--bundled", "bundled.json", "--root", "root.json"]

    /// Runs `tumbler fetch`, which finds every host at this server.
    func fetch(_ url: String, _ options: [String]) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["fetch", url, "--cacert", "anchors.pem", "--connect-to", "::127.0.0.1:\(self.server.port)"] + options,
            in: self.folder)
    }

    /// The same for the first page.
    func fetch(_ options: [String]) async throws -> CommandRun {
        try await self.fetch("https://\(Self.host)/", options)
    }
}

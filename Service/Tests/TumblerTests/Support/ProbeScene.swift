// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing
import X509

/// Servers of TLS on loopback under one authority that only these tests trust, and a list whose hosts they are.
struct ProbeScene {
    /// The host of most tests.
    static let host = "api.example.com"

    /// A pin that no server presents.
    static let backup = Pin(kind: .publicKey, hashing: [1, 2, 3])

    /// Chains that do not validate, and what is said of each.
    static let invalidChains: [(words: String, chain: @Sendable (TestPKI) throws -> [TestCertificate])] = [
        ("expired", { [try ProbeScene.leaf(by: $0.intermediate, key: $0.leaf, ending: -3), $0.intermediate] }),
        (
            "another server",
            { [try ProbeScene.leaf(by: $0.intermediate, name: "www.example.com", key: $0.leaf), $0.intermediate] }
        ),
        ("no path to an anchor", { _ in try TestPKI([ProbeScene.host], name: "stranger").chain }),
    ]

    let folder: URL
    let pki: TestPKI
    let server: LoopbackServer

    /// Runs `body` beside a server for ``host``, with the anchors in `anchors.pem` of a folder.
    ///
    /// - Parameters:
    ///   - chain: What is served; a good chain by default.
    static func with(
        _ chain: (TestPKI) throws -> [TestCertificate] = { $0.chain }, _ body: (ProbeScene) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.host])
        try await withTemporaryFolder { folder in
            try folder.write(try pki.root.pem, as: "anchors.pem")
            try await LoopbackServer.with(LoopbackServer.Identity(try chain(pki))) { server in
                try await body(ProbeScene(folder: folder, pki: pki, server: server))
            }
        }
    }

    /// A leaf for ``host``, other than the usual one.
    static func leaf(
        by issuer: TestCertificate, name: String = Self.host, key: TestCertificate? = nil, ending days: Int64 = 90
    ) throws -> TestCertificate {
        try .server(by: issuer, key: key?.key) { form in
            form.around(TestPKI.now)
            form.notAfter = TestPKI.now + days * 86_400 + 3_600
            form.notBefore = min(form.notBefore, form.notAfter - 86_400)
            form.names = [.dnsName(name)]
        }
    }

    /// The entry that matches the good chain's leaf, with a backup.
    func entry(
        _ host: String = Self.host, _ pins: [Pin]? = nil, mode: PinnedDomain.Mode = .enforce
    ) throws -> PinnedDomain {
        let pins = try pins ?? [self.pki.leaf.pin, Self.backup]
        return PinnedDomain(try HostName(host), includeSubdomains: true, mode: mode, pins: pins.map { KnownPin($0) })
    }

    /// Writes `bundled.json` and its `root.json`, issued now.
    func publish(_ domains: [PinnedDomain]? = nil, _ edit: (inout PinList) -> Void = { _ in }) throws {
        var lists = try ServedLists(
            in: self.folder, at: Timestamp(secondsSince1970: TestPKI.now), domains: domains ?? [try self.entry()])
        let list = try lists.repository.publishList(edit)
        try self.folder.write(Data(list), as: "bundled.json")
    }

    /// Runs `tumbler probe`, which finds every host at this server: a minute from now, so that the last of the whole
    /// days has begun at any time of day.
    func probe(_ more: [String] = [], at port: Int? = nil) async throws -> CommandRun {
        let time = Timestamp(secondsSince1970: TestPKI.now + 60)
        return try await CommandRun.tumbler(
            [
                "probe", "bundled.json", "--root", "root.json", "--roots", "anchors.pem", "--connect-to",
                "::127.0.0.1:\(port ?? self.server.port)", "--previous", "previous.json",
            ] + (more.contains("--at") ? [] : ["--at", time.description]) + more, in: self.folder)
    }

    /// The same with `--json`: what was printed, and how it ended.
    func report(_ more: [String] = [], at port: Int? = nil) async throws -> (PrintedProbe, Int32) {
        let run = try await self.probe(["--json"] + more, at: port)
        return (try run.decoded(), run.exitCode)
    }
}

/// The output of `probe --json`.
struct PrintedProbe: Decodable, Equatable {
    struct List: Decodable, Equatable {
        let name: String
        let version: Int64
    }

    struct Certificate: Decodable, Equatable {
        let pin: String
        let subject: String
        let issuer: String
        let notAfter: String
    }

    struct Host: Decodable, Equatable {
        /// Every host has all of them.
        static let members: Set = [
            "host", "notedHostname", "mode", "ok", "verdict", "reason", "matched", "refusedBy", "refusing", "path",
            "daysLeft", "issuerChanged", "error", "notes", "addresses", "transparency",
            "revoked",
        ]

        /// The result at one address.
        struct Address: Decodable, Equatable {
            let address: String
            let verdict: String?
            let reason: String?
            let pin: String?
            let refusedBy: [Int64]
            let error: String?
        }

        let host: String
        let notedHostname: String?
        let mode: String?
        let ok: Bool
        let verdict: String?
        let reason: String?
        let matched: PrintedDecision.Match?
        let path: [Certificate]
        let daysLeft: Int?
        let issuerChanged: Bool?
        let error: String?
        let notes: [String]
        let addresses: [Address]
    }

    let at: String
    let list: List
    let hosts: [Host]
}

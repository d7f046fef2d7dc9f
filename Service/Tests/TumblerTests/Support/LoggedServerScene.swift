// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// A server of TLS on loopback whose certificate two logs signed, or none of them, and a list that asks for that.
struct LoggedServerScene {
    static let host = "api.example.com"
    static let backup = Pin(kind: .publicKey, hashing: [1, 2, 3])

    let folder: URL
    let pki: LoggedPKI
    let server: LoopbackServer
    /// When its log lists were made.
    let yesterday = Timestamp(secondsSince1970: TestPKI.now - 86_400)

    /// Runs `body` beside such a server, with its anchor in `anchors.pem` of a folder.
    static func with(logged: Bool, _ body: (LoggedServerScene) async throws -> Void) async throws {
        let pki = try LoggedPKI(Self.host)
        try await withTemporaryFolder { folder in
            try folder.write(try pki.pki.root.pem, as: "anchors.pem")
            let leaf = logged ? pki.logged : pki.unlogged
            try await LoopbackServer.with(LoopbackServer.Identity([leaf, pki.pki.intermediate])) { server in
                try await body(LoggedServerScene(folder: folder, pki: pki, server: server))
            }
        }
    }

    /// Shows new connections the certificate with timestamps, or that without.
    func serve(logged: Bool) throws {
        self.server.identity = try LoopbackServer.Identity(
            [logged ? self.pki.logged : self.pki.unlogged, self.pki.pki.intermediate])
    }

    /// The log list of both logs, or of one.
    func logs(_ count: Int = 2) -> [UInt8] {
        SigningLog.list(of: Array(self.pki.logs.prefix(count)), at: self.yesterday.description)
    }

    /// The options of every command that looks at the server.
    var connecting: [String] { ["--connect-to", "::127.0.0.1:\(self.server.port)"] }

    /// Puts `root.json`, `bundled.json` and `logs.json` into the folder, as an app ships them.
    @discardableResult
    func ship(_ rule: TransparencyRule, naming logs: [UInt8]? = nil) throws -> ServedLists {
        let entry = PinnedDomain(
            try HostName(Self.host), pins: [KnownPin(try self.pki.logged.pin), KnownPin(Self.backup)],
            transparency: rule)
        var lists = try ServedLists(
            in: self.folder, at: Timestamp(secondsSince1970: TestPKI.now), domains: [entry])
        let file = logs ?? self.logs()
        try lists.repository.publishList { $0.logs = ListedLogs(of: file) }
        try lists.store()
        try self.folder.write(Data(lists.repository.lists[1]), as: "bundled.json")
        try self.folder.write(Data(file), as: "logs.json")
        return lists
    }

    /// Runs `tumbler fetch` of the first page.
    func fetch(_ options: [String]) async throws -> CommandRun {
        try await CommandRun.tumbler(
            ["fetch", "https://\(Self.host)/", "--cacert", "anchors.pem"] + self.connecting + options, in: self.folder)
    }

    /// Makes a folder `project` whose source and whose signed list ask for a policy.
    func makeProject(_ rule: TransparencyRule) throws {
        let lists = try self.ship(rule)
        let project = self.folder.appendingPathComponent("project")
        for name in ["root", "logs", "lists"] {
            try FileManager.default.createDirectory(
                at: project.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        let text = """
            name: com.example.app
            reportTo: [https://reports.example.net/v1]
            logs: logs.json
            domains:
              - domain: \(Self.host)
                transparency: {mode: \(rule.mode.rawValue), policy: \(rule.policy.rawValue)}
                pins:
                  - {pin: "\(try self.pki.logged.pin)", note: current}
                  - {pin: "\(Self.backup)", note: backup}

            """
        try project.write(text, as: "tumbler.yaml")
        try project.write(Data(self.logs()), as: "logs.json")
        try project.write(Data(self.logs()), as: "logs/\(Envelope.digest(of: self.logs())).json")
        try project.write(Data(lists.repository.roots[0]), as: "root/1.json")
        try project.write(Data(lists.repository.lists[0]), as: "lists/1.json")
        try project.write(Data(lists.repository.lists[1]), as: "pins.json")
    }

    /// Asks the gate for a certificate that the server does not show yet.
    func gate(_ leaf: TestCertificate) async throws -> CommandRun {
        try self.folder.write(try leaf.pem + (try self.pki.pki.intermediate.pem), as: "chain.pem")
        return try await CommandRun.tumbler(
            ["gate", Self.host, "-C", "project", "--certificate", "chain.pem", "--roots", "anchors.pem"],
            in: self.folder)
    }

    /// Runs a command about the project that looks at the server.
    func look(_ words: [String]) async throws -> CommandRun {
        try await CommandRun.tumbler(
            words + ["-C", "project", "--roots", "anchors.pem"] + self.connecting, in: self.folder)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

/// A project with one entry, which includes its subdomains. The entry's own host has a server, and so has one below it.
/// Both present the old key until they are told otherwise.
struct RotatedProject {
    /// The host below the entry.
    static let below = "www.\(ProbeScene.host)"

    /// The folder, the authority, and the server of the entry's own host.
    let scene: ProbeScene

    /// The server of the host below.
    let server: LoopbackServer

    /// A certificate with the key that comes.
    let new: TestCertificate

    /// A certificate with the key that goes.
    var old: TestCertificate { self.scene.pki.leaf }

    /// The time on a day of the rotation. Certificates hold for 90 days.
    static func time(_ day: Int64) -> String { ProbeScene.time(-day) }

    /// Runs `body` with a project whose list was made on day 0.
    static func with(_ body: (RotatedProject) async throws -> Void) async throws {
        try await ProbeScene.with { scene in
            let new = try ProbeScene.leaf(by: scene.pki.intermediate)
            let below = try self.chain(scene.pki.leaf, self.below, scene)
            try await LoopbackServer.with(below) { server in
                try await scene.makeProject(["\(try scene.pki.leaf.pin)", ProjectText.pin("b")], daysAgo: 0)
                let source = try scene.folder.text(of: "project/tumbler.yaml")
                try scene.folder.write(
                    source.replacing("    pins:\n", with: "    includeSubdomains: true\n    pins:\n"),
                    as: "project/tumbler.yaml")
                try await body(RotatedProject(scene: scene, server: server, new: new))
            }
        }
    }

    private static func chain(
        _ key: TestCertificate, _ host: String, _ scene: ProbeScene
    ) throws -> LoopbackServer.Identity {
        let leaf = try ProbeScene.leaf(by: scene.pki.intermediate, name: host, key: key)
        return try LoopbackServer.Identity([leaf, scene.pki.intermediate])
    }

    /// The entry's own host presents a key from now on.
    func serve(_ key: TestCertificate) throws {
        self.scene.server.identity = try Self.chain(key, ProbeScene.host, self.scene)
    }

    /// The host below presents a key from now on.
    func serveBelow(_ key: TestCertificate) throws {
        self.server.identity = try Self.chain(key, Self.below, self.scene)
    }

    /// The address of the entry's own host.
    var place: String { "127.0.0.1:\(self.scene.server.port)" }

    /// Runs a command on a day.
    ///
    /// - Parameter places: The addresses of the entry's own host; that of its server by default.
    private func run(_ words: [String], day: Int64, at places: [String]?) async throws -> CommandRun {
        var words = words + ["-C", "project", "--at", Self.time(day), "--roots", "anchors.pem"]
        for place in places ?? [self.place] { words += ["--connect-to", "\(ProbeScene.host):443:\(place)"] }
        words += ["--connect-to", "\(Self.below):443:127.0.0.1:\(self.server.port)"]
        return try await CommandRun.tumbler(words, in: self.scene.folder)
    }

    /// Runs `tumbler rotate` for the entry; what is released goes into the folder `www`.
    func rotate(
        _ command: String, day: Int64, at places: [String]? = nil, _ more: [String] = []
    ) async throws -> CommandRun {
        let export = ["next", "abort"].contains(command) ? ["--export", "www"] : []
        return try await self.run(["rotate", command, ProbeScene.host] + export + more, day: day, at: places)
    }

    /// Runs `tumbler probe`.
    func probe(day: Int64, at places: [String]? = nil, _ more: [String] = []) async throws -> CommandRun {
        try await self.run(["probe"] + more, day: day, at: places)
    }

    /// Plans the rotation and announces the new key, on day 0.
    func announce() async throws {
        let planned = try await self.rotate("plan", day: 0, ["--pin", "\(try self.new.pin)"])
        #expect(planned.exitCode == 0, "\(planned)")
        let announced = try await self.rotate("next", day: 0, ["--yes"])
        #expect(announced.exitCode == 0, "\(announced)")
    }

    /// Goes on until the new key may be served, on day 31.
    func makeReady() async throws {
        let ready = try await self.rotate("next", day: 31)
        #expect(ready.lines == ["\(ProbeScene.host): announced, now ready"], "\(ready)")
    }

    /// The plan and the source, as they are written.
    var files: [String] {
        get throws {
            try ["rotations/\(ProbeScene.host).yaml", "tumbler.yaml"].map {
                try self.scene.folder.text(of: "project/\($0)")
            }
        }
    }
}

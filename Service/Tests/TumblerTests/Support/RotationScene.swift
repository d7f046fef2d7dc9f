// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOSSL
import PinListRepository
import PinRotation
import PinningTesting
import Testing

/// A rotation with all that takes part: a project, the service, the pinned host, and its operator, by one clock.
struct RotationScene {
    static let name = "com.example.app"
    static let host = InstalledApps.host

    /// The certificate of the key that comes, and its pin.
    let new: TestCertificate
    /// The service, whose counts of requests are made up to date before the operator asks.
    let service: ClockedService

    private let scene: ProbeScene
    private let clock: ManualClock

    /// Runs `body` with a published list and installations that ship it, at the beginning of the first day.
    ///
    /// - Parameter days: For how long installations are opened.
    static func with(
        _ habits: InstalledApps.Habits, days: Int64,
        _ body: (RotationScene, inout InstalledApps) async throws -> Void
    ) async throws {
        // Certificates hold for 90 days from the machine's time. The service counts by whole hours: a day of theirs is
        // a day of the story.
        let clock = ManualClock(Timestamp(secondsSince1970: (TestPKI.now / 86_400 + 1) * 86_400))
        try await ProbeScene.with { scene in
            let project = ProjectFolder(scene.folder.appendingPathComponent("project"))
            try await Self.makeProject(scene, habits, at: clock.now)
            let root = try #require(try project.roots().first)
            try await ClockedService.with(Self.name, root: root, clock: clock, in: scene.folder) { service in
                let new = try ProbeScene.leaf(by: scene.pki.intermediate)
                try scene.folder.write(try new.pem + scene.pki.intermediate.pem, as: "new.pem")
                let story = RotationScene(new: new, service: service, scene: scene, clock: clock)
                let published = try await story.run(["publish"])
                #expect(published.exitCode == 0, "\(published)")
                var apps = try InstalledApps(
                    habits, of: Self.name, shipping: root, Array(try scene.folder.contents(of: "project/pins.json")),
                    asking: service.responder, presented: story.oldPath, clock: clock, days: days)
                try await body(story, &apps)
            }
        }
    }

    /// Makes the project with version 2 of its list.
    private static func makeProject(
        _ scene: ProbeScene, _ habits: InstalledApps.Habits, at time: Timestamp
    ) async throws {
        let made = try await CommandRun.tumbler(
            [
                "init", "project", "--name", Self.name, "--insecure-plaintext", "--at", time.description,
                "--domain", "\(Self.host)=\(try scene.pki.leaf.pin),\(ProjectText.pin("b"))",
            ], in: scene.folder)
        #expect(made.exitCode == 0, "\(made)")
        let source = try scene.folder.text(of: "project/tumbler.yaml")
        try scene.folder.write(
            source.replacing("refreshAfter: 12h", with: "refreshAfter: \(habits.refreshHours)h"),
            as: "project/tumbler.yaml")
        let released = try await CommandRun.tumbler(
            ["release", "-C", "project", "--yes", "--at", time.description], in: scene.folder)
        #expect(released.exitCode == 0, "\(released)")
    }

    /// The path that the host presents with the old key.
    var oldPath: ValidatedPath { self.path(self.scene.pki.leaf) }

    /// The path that it presents with the new key.
    var newPath: ValidatedPath { self.path(self.new) }

    private func path(_ leaf: TestCertificate) -> ValidatedPath {
        ValidatedPath(uncheckedValidatedPath: [leaf.der, self.scene.pki.intermediate.der, self.scene.pki.root.der])
    }

    /// The plan as it is written.
    var plan: String {
        get throws { try self.scene.folder.text(of: "project/rotations/\(Self.host).yaml") }
    }

    /// The host presents the new key: to the operator, who looks by TLS, and to the installations.
    func deploy(to apps: inout InstalledApps) throws {
        self.scene.server.identity = try LoopbackServer.Identity([self.new, self.scene.pki.intermediate])
        apps.presented = self.newPath
    }

    /// Runs a command of the project with the service, now.
    private func run(_ words: [String]) async throws -> CommandRun {
        try await CommandRun.tumbler(
            words + [
                "-C", "project", "--server", self.service.address, "--token-file", "token", "--at",
                self.clock.now.description,
            ], in: self.scene.folder)
    }

    /// Runs `tumbler rotate` for the host, now.
    func rotate(_ command: String, _ more: [String] = []) async throws -> CommandRun {
        try await self.run(
            [
                "rotate", command, Self.host, "--roots", "anchors.pem",
                "--connect-to", "\(Self.host):443:127.0.0.1:\(self.scene.server.port)",
            ] + more)
    }

    /// Runs `tumbler gate` on the chain with the new key, now.
    func gate() async throws -> (answer: GateAnswer, exitCode: Int32) {
        let run = try await self.run(
            ["gate", Self.host, "--certificate", "new.pem", "--roots", "anchors.pem", "--json"])
        return (try run.decoded(), run.exitCode)
    }
}

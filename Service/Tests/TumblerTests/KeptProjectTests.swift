// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Folders of projects that an earlier `tumbler` wrote are in `Tests/Fixtures`, with the configuration of a service.
/// They are never made again: a program that is updated has to read what people have.
@Suite("Projects and configurations of earlier programs")
struct KeptProjectTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Tests/Fixtures")
    private static let time = ["--at", "2026-11-24T00:00:00Z"]

    private func withCopy(of fixture: String, _ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for part in ["project", "service"] {
                try FileManager.default.copyItem(
                    at: Self.fixtures.appendingPathComponent("\(fixture)/\(part)"),
                    to: folder.appendingPathComponent(part))
            }
            try await body(folder)
        }
    }

    @Test("roots and list verify, tumbler.yaml is read, and the next list is built", arguments: ["before-0.1-2026-11"])
    func rootsAndListVerifyTumblerYamlIsReadAndTheNextListIsBuilt(fixture: String) async throws {
        try await self.withCopy(of: fixture) { folder in
            let project = folder.appendingPathComponent("project")
            let verified = try await CommandRun.tumbler(
                ["verify", "pins.json", "--root", "root/1.json", "--root", "root/2.json"] + Self.time, in: project)
            try verified.expectSuccess()
            #expect(verified.output.contains("list 2 of com.example.app"))
            let linted = try await CommandRun.tumbler(["lint", "--json"] + Self.time, in: project)
            #expect(linted.exitCode == 0, "\(linted)")
            let built = try await CommandRun.tumbler(["build", "-o", "next"] + Self.time, in: project)
            try built.expectSuccess()
            let next = try project.text(of: "next")
            for text in [#""version":3"#, "localhost", "api.example.com", "incident 4711", "127.0.0.1"] {
                #expect(next.contains(text), "\(text)")
            }
        }
    }

    @Test("the plan of a rotation stands where it stood", arguments: ["before-0.1-2026-11"])
    func planOfARotationStandsWhereItStood(fixture: String) async throws {
        try await self.withCopy(of: fixture) { folder in
            let run = try await CommandRun.tumbler(
                ["rotate", "status", "localhost", "--json", "-C", "project"] + Self.time, in: folder)
            #expect(run.output.contains(#""host":"localhost""#), "\(run)")
            #expect(run.output.contains(#""state":"planned""#), "\(run)")
        }
    }

    @Test("the service starts with its configuration and its database", arguments: ["before-0.1-2026-11"])
    func serviceStartsWithItsConfigurationAndItsDatabase(fixture: String) async throws {
        try await self.withCopy(of: fixture) { folder in
            let service = folder.appendingPathComponent("service")
            let data = service.appendingPathComponent("data")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try FileManager.default.moveItem(
                at: service.appendingPathComponent("service.sqlite"), to: data.appendingPathComponent("tumbler.sqlite"))
            let printed = try await CommandRun.tumbler(
                ["serve", "--config", "service.yaml", "--print-config"], in: service)
            try printed.expectSuccess()
            #expect(printed.output.contains("reports.totalPerMinute: 60000"))
            let checked = try await CommandRun.tumbler(["serve", "--config", "service.yaml", "--check"], in: service)
            #expect(checked.exitCode == 0, "\(checked)")
            // A reading command changes no database, and says what brings this one up to date.
            let verify = ["audit-log", "verify", "--config", "service.yaml"]
            let early = try await CommandRun.tumbler(verify, in: service)
            #expect(early.exitCode == 2 && early.errors.contains("tumbler serve --migrate"), "\(early)")
            let migrate = ["serve", "--config", "service.yaml", "--migrate"]
            try await CommandRun.tumbler(migrate, in: service).expectSuccess()
            try await CommandRun.tumbler(verify, in: service).expectSuccess()
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListStore

/// Folders of projects that an earlier `tumbler` wrote are in `Tests/Fixtures`, with the configuration of a service.
/// They are never made again: a program that is updated has to read what people have.
@Suite("Projects and configurations of earlier programs")
struct KeptProjectTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Tests/Fixtures")

    /// The folders there are, the newest last: what was kept before there was a release, and those of releases.
    static let kept: [String] = {
        let released = Self.fixtures.appendingPathComponent("released")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: released.path)) ?? []
        return ["before-0.1-2026-11"]
            + versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending }.map { "released/\($0)" }
    }()

    /// `--at` an hour after the newest list of a project was signed.
    private static func time(_ project: URL) throws -> [String] {
        let published = try project.text(of: "lists/published.jsonl").split(separator: "\n")
        let date = try #require(published.last?.split(separator: "\"").first { $0.hasSuffix("Z") })
        let signed = try #require(ISO8601DateFormatter().date(from: String(date)))
        return ["--at", ISO8601DateFormatter().string(from: signed.addingTimeInterval(3_600))]
    }

    @Test("the folder of the version that these programs will be has a database with every migration of today")
    func folderOfTheVersionThatTheseProgramsWillBeHasADatabaseWithEveryMigrationOfToday() async throws {
        let said = try await CommandRun.tumbler(["--version"], in: FileManager.default.temporaryDirectory)
        let version = try #require(said.lines.first?.split(separator: "-").first)
        // Made before a release, as the first of them was: until then there is none of the next version.
        guard Self.kept.contains("released/\(version)") else { return }
        let service = Self.fixtures.appendingPathComponent("released/\(version)/service")
        let made = try service.text(of: "service.sql").matches(of: /INSERT INTO public.migration VALUES/).count
        #expect(
            made == StoreSchema.migrations(StoreSchema.sqlite).count,
            "scripts/release-fixtures \(version) makes it anew, and git add --force keeps it")
    }

    private func withCopy(of fixture: String, _ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for part in ["project", "service", "hybrid", "hybrid-client", "rotated"] {
                let kept = Self.fixtures.appendingPathComponent("\(fixture)/\(part)")
                guard FileManager.default.fileExists(atPath: kept.path) else { continue }
                try FileManager.default.copyItem(at: kept, to: folder.appendingPathComponent(part))
            }
            try await body(folder)
        }
    }

    @Test("roots and list verify, tumbler.yaml is read, and the next list is built", arguments: Self.kept)
    func rootsAndListVerifyTumblerYamlIsReadAndTheNextListIsBuilt(fixture: String) async throws {
        try await self.withCopy(of: fixture) { folder in
            let project = folder.appendingPathComponent("project")
            let time = try Self.time(project)
            let verified = try await CommandRun.tumbler(
                ["verify", "pins.json", "--root", "root/1.json", "--root", "root/2.json"] + time, in: project)
            try verified.expectSuccess()
            #expect(verified.output.contains("list 2 of com.example.app"))
            let linted = try await CommandRun.tumbler(["lint", "--json"] + time, in: project)
            #expect(linted.exitCode == 0, "\(linted)")
            let built = try await CommandRun.tumbler(["build", "-o", "next"] + time, in: project)
            try built.expectSuccess()
            let next = try project.text(of: "next")
            for text in [#""version":3"#, "localhost", "api.example.com", "incident 4711", "127.0.0.1"] {
                #expect(next.contains(text), "\(text)")
            }
        }
    }

    @Test(
        "a list with logs verifies that a hybrid demand signed, alone and as a client kept it, and the next one is built",
        arguments: Self.kept.filter { $0.hasPrefix("released/") })
    func listWithLogsVerifiesThatAHybridDemandSignedAloneAndAsAClientKeptItAndTheNextOneIsBuilt(
        fixture: String
    ) async throws {
        try await self.withCopy(of: fixture) { folder in
            let project = folder.appendingPathComponent("hybrid")
            let time = try Self.time(project)
            let verify = ["verify", "pins.json", "--root", "root/1.json"]
            for held in [["--root", "root/2.json"], ["--state", "../hybrid-client"]] {
                let verified = try await CommandRun.tumbler(verify + held + time, in: project)
                try verified.expectSuccess()
                #expect(verified.output.contains("list 2 of com.example.hybrid"), "\(verified)")
                #expect(verified.output.contains("root 2, hybrid: 1 of 1 signatures"), "\(verified)")
            }
            try await CommandRun.tumbler(["build", "-o", "next"] + time, in: project).expectSuccess()
            let next = try project.text(of: "next")
            for text in [#""version":3"#, #""logs":{"#, #""transparency":{"#] {
                #expect(next.contains(text), "\(text)")
            }
        }
    }

    @Test("the plan of a rotation stands where it stood", arguments: Self.kept)
    func planOfARotationStandsWhereItStood(fixture: String) async throws {
        try await self.withCopy(of: fixture) { folder in
            let run = try await CommandRun.tumbler(
                ["rotate", "status", "localhost", "--json", "-C", "project"]
                    + Self.time(folder.appendingPathComponent("project")), in: folder)
            #expect(run.output.contains(#""host":"localhost""#), "\(run)")
            #expect(run.output.contains(#""state":"planned""#), "\(run)")
        }
    }

    @Test(
        "rotations that ended and one that was aborted are over, and one that was forced goes on where it stood",
        arguments: Self.kept.filter { $0.hasPrefix("released/") })
    func rotationsThatEndedAndOneThatWasAbortedAreOverAndOneThatWasForcedGoesOnWhereItStood(
        fixture: String
    ) async throws {
        try await self.withCopy(of: fixture) { folder in
            let project = folder.appendingPathComponent("rotated")
            let time = try Self.time(project)
            let verified = try await CommandRun.tumbler(
                ["verify", "pins.json", "--root", "root/1.json"] + time, in: project)
            try verified.expectSuccess()
            #expect(verified.output.contains("list 6 of com.example.rotated"), "\(verified)")
            let next = ["--no-look"] + time
            for (host, state) in [("done", "retired"), ("dropped", "aborted")] {
                let plan = try project.text(of: "rotations/\(host).example.com.yaml")
                let run = try await CommandRun.tumbler(["rotate", "next", "\(host).example.com"] + next, in: project)
                run.expectError(1)
                #expect(run.errors.contains("is \(state): nothing comes next"), "\(run)")
                #expect(try project.text(of: "rotations/\(host).example.com.yaml") == plan)
            }
            let status = try await CommandRun.tumbler(["rotate", "status", "--json"] + next, in: project)
            for (host, state) in [("done", "retired"), ("dropped", "aborted"), ("forced", "ready")] {
                let expected = #""host":"\#(host).example.com","state":"\#(state)""#
                #expect(status.output.contains(expected), "\(status)")
            }
            // No server has the new key, and the reason for which the gate was passed by stays in the plan.
            let forced = try await CommandRun.tumbler(["rotate", "next", "forced.example.com"] + next, in: project)
            forced.expectError(1, hint: true)
            #expect(forced.errors.contains("forced.example.com is not switched"), "\(forced)")
            #expect(try project.text(of: "rotations/forced.example.com.yaml").contains(#"forced: "incident 4711""#))
            // What is over is in the way of no other rotation.
            let pins = try project.text(of: "rotations/dropped.example.com.yaml").split(separator: "\"")
            let pin = try #require(pins.last { $0.hasPrefix("sha256/") })
            let again = ["rotate", "plan", "dropped.example.com", "--pin", ProjectText.pin("z"), "--old", String(pin)]
            let planned = try await CommandRun.tumbler(again + next, in: project)
            #expect(planned.output.contains("planned: rotations/dropped.example.com.yaml"), "\(planned)")
        }
    }

    @Test("the service starts with its configuration and its database", arguments: Self.kept)
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
            // A reading command changes no database, and says what brings one of an older version up to date.
            let verify = ["audit-log", "verify", "--config", "service.yaml"]
            let early = try await CommandRun.tumbler(verify, in: service)
            let isOutdated = early.exitCode == 2 && early.errors.contains("tumbler serve --migrate")
            #expect(isOutdated || (early.exitCode == 0 && fixture == Self.kept.last), "\(early)")
            let migrate = ["serve", "--config", "service.yaml", "--migrate"]
            try await CommandRun.tumbler(migrate, in: service).expectSuccess()
            try await CommandRun.tumbler(verify, in: service).expectSuccess()
        }
    }
}

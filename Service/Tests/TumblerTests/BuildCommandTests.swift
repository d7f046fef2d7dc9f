// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Building a list from a project folder")
struct BuildCommandTests {
    private struct Payload: Decodable {
        struct Domain: Decodable { let domain: String }
        let name: String
        let version: Int
        let issuedAt: String
        let expiresAt: String
        let domains: [Domain]
    }

    private static let time = ["--at", "2026-11-21T00:00:00Z"]

    @Test("the payload, its version and its digest as openssl computes it", .needsOpenSSL)
    func payloadItsVersionAndItsDigestAsOpensslComputesIt() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let run = try await CommandRun.tumbler(["build", "-o", "list.json"] + Self.time, in: folder)
            run.expectResult()
            let digest = try await openssl.shell(#""$0" dgst -sha256 -r list.json"#, in: folder).prefix(64)
            #expect(run.lines == ["com.example.app version 1 sha256 \(digest)"])
            let payload = try JSONDecoder().decode(Payload.self, from: try folder.contents(of: "list.json"))
            #expect(payload.version == 1 && payload.issuedAt == "2026-11-21T00:00:00Z")
            #expect(payload.expiresAt == "2027-01-20T00:00:00Z" && payload.domains.map(\.domain) == ["api.example.com"])
            let piped = try await CommandRun.tumbler(["build", "-o", "-"] + Self.time, in: folder)
            #expect(piped.outputBytes == (try folder.contents(of: "list.json")))
        }
    }

    @Test("the version is the next one after pins.json, or after what is published, whichever is newer")
    func versionIsTheNextOneAfterPinsJsonOrAfterWhatIsPublishedWhicheverIsNewer() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            func version(_ rest: [String]) async throws -> Int {
                let run = try await CommandRun.tumbler(["build", "-o", "-"] + Self.time + rest, in: folder)
                return try JSONDecoder().decode(Payload.self, from: run.outputBytes).version
            }
            let run = try await CommandRun.tumbler(["build", "-o", "pins.json"] + Self.time, in: folder)
            run.expectResult()
            #expect(try await version([]) == 2)
            let newer = try folder.text(of: "pins.json").replacing("\"version\":1", with: "\"version\":8")
            try folder.write(newer, as: "published.json")
            #expect(try await version(["--published", "published.json"]) == 9)
        }
    }

    @Test("an error of lint refuses the build unless it is allowed, and nothing is written")
    func errorOfLintRefusesTheBuildUnlessItIsAllowedAndNothingIsWritten() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.withoutBackup, as: "tumbler.yaml")
            let arguments = ["build", "-o", "list.json"] + Self.time
            let run = try await CommandRun.tumbler(arguments, in: folder)
            run.expectError(1, hint: true)
            #expect(run.errors.contains("tumbler.yaml:4:13") && run.errors.contains("--allow no-backup-pin"), "\(run)")
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("list.json").path))
            try await CommandRun.tumbler(arguments + ["--allow", "no-backup-pin"], in: folder).expectResult()
            let misspelt = try await CommandRun.tumbler(arguments + ["--allow", "no-backup"], in: folder)
            misspelt.expectError(64)
            #expect(misspelt.errors.contains("no-backup-pin"))
        }
    }

    @Test("a device or a folder is not replaced by a file")
    func deviceOrAFolderIsNotReplacedByAFile() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let place = folder.appendingPathComponent("place")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try await CommandRun.tumbler(["build", "-o", "place"], in: folder).expectError(2, hint: true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
        }
    }

    @Test("the project is the nearest parent with a tumbler.yaml, or -C")
    func projectIsTheNearestParentWithATumblerYamlOrC() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            let deep = folder.appendingPathComponent("a/b")
            try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
            try await CommandRun.tumbler(["build", "-o", "here.json"], in: deep).expectResult()
            #expect(FileManager.default.fileExists(atPath: deep.appendingPathComponent("here.json").path))
            try await CommandRun.tumbler(["build", "-o", "-", "-C", "a"], in: folder).expectError(2, hint: true)
            let named = try await CommandRun.tumbler(["build", "-o", "-", "-C", "../.."], in: deep)
            #expect(named.exitCode == 0)
        }
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(["build", "-o", "-"], in: folder)
            run.expectError(2, hint: true)
            #expect(run.errors.contains("-C DIR"))
        }
    }

    @Test("a source with an error: file, line, column and what to write")
    func sourceWithAnErrorFileLineColumnAndWhatToWrite() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(ProjectText.good.replacing("reportTo", with: "reportsTo"), as: "tumbler.yaml")
            let run = try await CommandRun.tumbler(["build", "-o", "-"], in: folder)
            run.expectError(1, hint: true)
            #expect(run.errorLines.first?.hasPrefix("tumbler: error: tumbler.yaml:2:1: ") == true, "\(run)")
            #expect(run.errorLines.last == "tumbler: hint: write reportTo")
        }
    }
}

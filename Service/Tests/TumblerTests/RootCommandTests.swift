// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The output of `root show --json`.
private struct PrintedRoot: Decodable {
    struct Role: Decodable {
        let keyids: [String]
        let threshold: Int
    }

    let name: String
    let version: Int
    let issuedAt: String
    let expiresAt: String
    let keys: [String: String]
    let roles: [String: Role]
}

@Suite("Roots on the command line")
struct RootCommandTests {
    private func show(_ file: String, in folder: URL) async throws -> PrintedRoot {
        let run = try await CommandRun.tumbler(["root", "show", file, "--json"], in: folder)
        run.expectResult()
        return try run.decoded()
    }

    private func keyID(_ name: String, in folder: URL) async throws -> String {
        let run = try await CommandRun.tumbler(["key", "show", "\(name).pub"], in: folder)
        return String(try #require(run.lines.first?.split(separator: " ").last))
    }

    @Test("a new root lasts three years and names its keys and thresholds")
    func newRootLastsThreeYearsAndNamesItsKeysAndThresholds() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            for file in ["root.payload", "root.json"] {
                let root = try await self.show(file, in: folder)
                #expect(root.name == "com.example.app")
                #expect(root.version == 1)
                #expect(root.issuedAt == "2026-11-21T00:00:00Z")
                #expect(root.expiresAt == "2029-11-20T00:00:00Z")
                let (rootKey, pinsKey) = (
                    try await self.keyID("root", in: folder), try await self.keyID("pins", in: folder)
                )
                #expect(root.keys == [rootKey: "ecdsa-p256-sha256", pinsKey: "ed25519"])
                #expect(root.roles["root"]?.keyids == [rootKey])
                #expect(root.roles["pins"]?.keyids == [pinsKey])
                #expect(root.roles.values.map(\.threshold) == [1, 1])
            }
        }
    }

    @Test(
        "a signer is replaced: the next root needs both roots' signatures, and the old key's lists are refused after it"
    )
    func signerIsReplacedTheNextRootNeedsBothRootsSignatures() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            try await CommandRun.makeKey("newroot", in: folder)
            try await CommandRun.makeKey("newpins", in: folder)
            let old = try await self.keyID("pins", in: folder)
            let rotate = [
                "root", "rotate", "--root", "root.json", "--add", "pins=newpins.pub", "--remove",
                "pins=\(old.prefix(8))",
                "--add", "root=newroot.pub", "--threshold", "root=2", "--at", "2026-11-22T00:00:00Z", "-o", "2.payload",
            ]
            try await CommandRun.tumbler(rotate, in: folder).expectSuccess()
            let root = try await self.show("2.payload", in: folder)
            #expect(root.version == 2)
            #expect(root.keys[old] == nil)
            #expect(root.roles["root"]?.threshold == 2)

            let sign = ["sign", "2.payload", "--yes", "-o", "2.json"]
            let without = try await CommandRun.tumbler(sign + ["--key", "root", "--key", "newroot"], in: folder)
            #expect(without.exitCode == 1, "root 1 was not counted: \(without)")
            let one = try await CommandRun.tumbler(sign + ["--key", "newroot", "--root", "root.json"], in: folder)
            #expect(one.exitCode == 1)
            let both = try await CommandRun.tumbler(
                sign + ["--key", "root", "--key", "newroot", "--root", "root.json"], in: folder)
            try both.expectSuccess()

            let at = ["--at", MetadataFixture.now]
            try await CommandRun.tumbler(["verify", "2.json", "--root", "root.json"] + at, in: folder).expectSuccess()
            for (key, chain, code) in [("pins", ["root.json"], 0), ("pins", ["root.json", "2.json"], 1)]
                as [(String, [String], Int32)]
            {
                let list = ["sign", "list", "--root", "root.json", "--key", key, "--yes", "-o", "pins.json"]
                try await CommandRun.tumbler(list, in: folder).expectSuccess()
                let verify = ["verify", "pins.json"] + chain.flatMap { ["--root", $0] } + at
                let run = try await CommandRun.tumbler(verify, in: folder)
                #expect(run.exitCode == code, "\(run)")
            }
            // Issued after the root that removed the old key, by the new one.
            try folder.write(MetadataFixture.list(issued: "2026-11-23T00:00:00Z"), as: "list")
            let new = ["sign", "list", "--root", "2.json", "--key", "newpins", "--yes", "-o", "pins.json"]
            try await CommandRun.tumbler(new, in: folder).expectSuccess()
            let verify = ["verify", "pins.json", "--root", "root.json", "--root", "2.json"] + at
            try await CommandRun.tumbler(verify, in: folder).expectSuccess()
        }
    }

    @Test(
        "a root that makes no sense is not written",
        arguments: [
            ["--threshold", "root=2"], ["--threshold", "pins=0"], ["--threshold", "pins=x"], ["--threshold", "roof=1"],
            ["--threshold", "pins=1", "--threshold", "pins=1"], ["--valid-for", "3y"], ["--valid-for", "0d"],
            ["--valid-for", "99999999999999999999d"], ["--root", "a.pub"], ["--pins", "missing.pub"], ["--pins", "a"],
            ["--pins", "rsa.pub"], ["--pins", "exec:true"],
        ])
    func rootThatMakesNoSenseIsNotWritten(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeKey("a", in: folder)
            try await CommandRun.makeKey("rsa", "rsa2048", in: folder)
            let new = ["root", "new", "--name", "a", "--root", "a.pub", "--pins", "a.pub", "-o", "root"]
            let run = try await CommandRun.tumbler(new + options, in: folder)
            let codes: [String: Int32] = ["missing.pub": 2, "a": 1, "rsa.pub": 1]
            run.expectError(codes[options[1]] ?? 64)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("root").path))
        }
    }

    @Test(
        "a rotation that makes no sense is not written",
        arguments: [
            ["--remove", "pins=PINS"], ["--remove", "root=PINS"], ["--remove", "pins=abc"], ["--add", "pins=pins.pub"],
            ["--at", "2026-11-20T00:00:00Z"], ["--remove", "pins"],
        ])
    func rotationThatMakesNoSenseIsNotWritten(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            let id = try await self.keyID("pins", in: folder)
            let rotate = ["root", "rotate", "--root", "root.json", "-o", "2"]
            let options = options.map { $0.replacing("PINS", with: id) }
            try await CommandRun.tumbler(rotate + options, in: folder).expectError(64)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("2").path))
        }
    }

    @Test("without --root the newest root of the project folder is taken")
    func withoutRootTheNewestRootOfTheProjectFolderIsTaken() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            let roots = folder.appendingPathComponent("project/root", isDirectory: true)
            try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: true)
            let rotate = ["root", "rotate", "-o", "2.payload", "--at", "2026-11-22T00:00:00Z"]
            try await CommandRun.tumbler(rotate, in: folder).expectError(64, hint: true)
            try await CommandRun.tumbler(rotate + ["-C", "project"], in: folder).expectError(64, hint: true)
            try folder.appendingPathComponent("project").write("name: com.example.app\n", as: "tumbler.yaml")
            try await CommandRun.tumbler(rotate + ["-C", "project"], in: folder).expectError(2, hint: true)
            try roots.write(try folder.contents(of: "root.json"), as: "1.json")
            try roots.write("not a root", as: "notes.json")
            try await CommandRun.tumbler(rotate + ["-C", "project"], in: folder).expectSuccess()
            #expect(try await self.show("2.payload", in: folder).version == 2)
            let line = #"cd project/root && "$0" sign ../../list --key ../../pins --yes -o ../../pins.json"#
            try await CommandRun.shell(line, in: folder).expectSuccess()
        }
    }
}

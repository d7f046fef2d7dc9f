// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Exporting the tree of a static host", .needsOpenSSL)
struct ExportCommandTests {
    private static let tree = "out/v1/lists/com.example.app"

    /// Runs a test in a project with a root and a list, signed by openssl.
    private func withProject(_ body: (URL, OpenSSLSigner) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let signer = try await OpenSSLSigner(openssl, in: folder)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("root"), withIntermediateDirectories: true)
            try folder.write(ProjectText.good, as: "tumbler.yaml")
            try folder.write(try await signer.root(), as: "root/1.json")
            let build = ["build", "-o", "list.json", "--at", "2026-11-21T00:00:00Z"]
            try await CommandRun.tumbler(build, in: folder).expectResult()
            try folder.write(try await signer.envelope("pins", try folder.contents(of: "list.json")), as: "pins.json")
            try await body(folder, signer)
        }
    }

    @Test("the list and the roots, byte for byte; the second time nothing changes")
    func listAndTheRootsByteForByteTheSecondTimeNothingChanges() async throws {
        try await self.withProject { folder, _ in
            for _ in 0..<2 {
                let run = try await CommandRun.tumbler(["export", "out"], in: folder)
                run.expectResult()
                #expect(run.lines == ["pins.json", "root/1.json"].map { "v1/lists/com.example.app/\($0)" })
                #expect(try folder.contents(of: "\(Self.tree)/pins.json") == folder.contents(of: "pins.json"))
                #expect(try folder.contents(of: "\(Self.tree)/root/1.json") == folder.contents(of: "root/1.json"))
            }
        }
    }

    @Test("a list that no client would take is not exported: unsigned, changed, or signed by another key")
    func listThatNoClientWouldTakeIsNotExportedUnsignedChangedOrSignedByAnotherKey() async throws {
        try await self.withProject { folder, signer in
            let good = try folder.contents(of: "pins.json")
            let payload = try folder.text(of: "list.json")
            let changed = Data(payload.replacing("enforce", with: "report").utf8)
            let forged = String(decoding: good, as: UTF8.self).replacing(
                Data(payload.utf8).base64EncodedString(), with: changed.base64EncodedString())
            let other = try await OpenSSLSigner(try #require(OpenSSL.installed), in: folder)
            let foreign = try await other.envelope("pins", Data(payload.utf8))
            #expect(other.keyID != signer.keyID)
            for bytes in [Data(payload.utf8), Data(forged.utf8), foreign] {
                try folder.write(bytes, as: "pins.json")
                try await CommandRun.tumbler(["export", "out"], in: folder).expectError(1)
                #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("out").path))
            }
            try FileManager.default.removeItem(at: folder.appendingPathComponent("pins.json"))
            try await CommandRun.tumbler(["export", "out"], in: folder).expectError(2, hint: true)
        }
    }

    @Test("from a checkout that is not up to date: a list does not replace a newer one, nor another one of its version")
    func listDoesNotReplaceANewerOneNorAnotherOneOfItsVersion() async throws {
        try await self.withProject { folder, signer in
            let first = try folder.contents(of: "pins.json")
            try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
            let build = ["build", "-o", "list.json", "--at", "2026-11-22T00:00:00Z"]
            try await CommandRun.tumbler(build, in: folder).expectResult()
            let payload = try folder.text(of: "list.json")
            try folder.write(try await signer.envelope("pins", Data(payload.utf8)), as: "pins.json")
            try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
            let second = try folder.contents(of: "pins.json")

            let other = payload.replacing("enforce", with: "report")
            try #require(other != payload)
            for (list, words) in [
                (first, "is version 2, and this list is version 1"),
                (try await signer.envelope("pins", Data(other.utf8)), "is another list of version 2"),
            ] {
                try folder.write(list, as: "pins.json")
                let run = try await CommandRun.tumbler(["export", "out"], in: folder)
                run.expectError(1, hint: true)
                #expect(run.errors.contains(words), "\(run)")
                #expect(try folder.contents(of: "\(Self.tree)/pins.json") == second)
            }
            // What no client takes bounds nothing.
            try folder.write("rubbish", as: "\(Self.tree)/pins.json")
            try folder.write(second, as: "pins.json")
            try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
            #expect(try folder.contents(of: "\(Self.tree)/pins.json") == second)
        }
    }

    @Test("from a checkout without the newest root: its list does not replace the one that clients of that root hold")
    func fromACheckoutWithoutTheNewestRootItsListDoesNotReplaceTheOneOfThatRoot() async throws {
        try await self.withProject { folder, signer in
            try folder.write(try await signer.root(version: 2), as: "root/2.json")
            try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
            try FileManager.default.removeItem(at: folder.appendingPathComponent("root/2.json"))
            let served = try folder.contents(of: "\(Self.tree)/pins.json")
            // A newer list, so that its version alone would not stop it.
            let build = ["build", "-o", "list.json", "--at", "2026-11-22T00:00:00Z"]
            try await CommandRun.tumbler(build, in: folder).expectResult()
            try folder.write(try await signer.envelope("pins", try folder.contents(of: "list.json")), as: "pins.json")
            let run = try await CommandRun.tumbler(["export", "out"], in: folder)
            run.expectError(1, hint: true)
            #expect(run.errors.contains("root/2.json in ") && run.errors.contains("does not have"), "\(run)")
            #expect(try folder.contents(of: "\(Self.tree)/pins.json") == served)
        }
    }

    @Test("a root that is published is never rewritten")
    func rootThatIsPublishedIsNeverRewritten() async throws {
        try await self.withProject { folder, _ in
            try await CommandRun.tumbler(["export", "out"], in: folder).expectResult()
            try folder.write("other", as: "\(Self.tree)/root/1.json")
            try await CommandRun.tumbler(["export", "out"], in: folder).expectError(1, hint: true)
            #expect(try folder.text(of: "\(Self.tree)/root/1.json") == "other")
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Payloads that were not written with our own code.
enum MetadataFixture {
    /// The time at which everything is issued.
    static let issued = "2026-11-21T00:00:00Z"

    /// A moment at which the list is fresh.
    static let now = "2026-11-24T00:00:00Z"

    /// A list, unsigned.
    static func list(
        version: Int = 7, name: String = "com.example.app", issued: String = Self.issued,
        expires: String = "2027-01-20T00:00:00Z", extra: String = ""
    ) -> String {
        #"{"type": "pins", "specVersion": "1.0", "name": "\#(name)", "version": \#(version), "issuedAt": "\#(issued)","#
            + #" "expiresAt": "\#(expires)", \#(extra)"domains": [{"domain": "api.example.com", "pins": ["#
            + #"{"pin": "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "note": "current"},"#
            + #" {"pin": "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "note": "backup"}]}]}"#
    }
}

extension CommandRun {
    /// Makes a key file that is not encrypted, and its `.pub`.
    static func makeKey(_ name: String, _ algorithm: String = "p256", in folder: URL) async throws {
        let run = try await Self.tumbler(
            ["key", "new", name, "--algorithm", algorithm, "--insecure-plaintext"], in: folder)
        try run.expectSuccess()
    }

    /// Makes keys `root` and `pins`, a signed root `root.json`, and an unsigned list `list`: the same for all tests.
    static func makeRoot(in folder: URL) async throws { try await self.root.lay(in: folder) }

    private static let root = MadeFiles { folder in
        try await Self.makeKey("root", in: folder)
        try await Self.makeKey("pins", "ed25519", in: folder)
        try await Self.tumbler(
            [
                "root", "new", "--name", "com.example.app", "--root", "root.pub", "--pins", "pins.pub", "--at",
                MetadataFixture.issued, "-o", "root.payload",
            ], in: folder
        ).expectSuccess()
        try await Self.tumbler(["sign", "root.payload", "--key", "root", "--yes", "-o", "root.json"], in: folder)
            .expectSuccess()
        try folder.write(MetadataFixture.list(), as: "list")
    }

    /// Throws, with all that was said, unless it ended with 0.
    func expectSuccess() throws { try self.expectEnd(0) }

    /// Throws, with all that was said, unless it ended so.
    func expectEnd(_ exitCode: Int32) throws {
        guard self.exitCode == exitCode else { throw OpenSSL.Failure(description: "not \(exitCode): \(self)") }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("A ceremony over three days", .wants(.softhsm), .needsSoftHSM, .needsOpenSSL)
struct CeremonyTests {
    /// Signs with openssl what comes in, and prints DER: what an external program does.
    private static let program = "openssl dgst -sha256 -sign external.pem"

    @Test("three people who never meet, a file, a token and a program; any two of them publish")
    func threePeopleWhoNeverMeetAFileATokenAndAProgramAnyTwoOfThemPublish() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let token = try await SoftHSM(in: folder)
            try await token.makeKey("second", id: "01", type: "EC:edwards25519")
            try await CommandRun.makeKey("first", in: folder)
            let external = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out external.pem"
            try await openssl.run(external, in: folder)
            try await openssl.run("pkey -in external.pem -pubout -out external.pub", in: folder)
            func tumbler(_ line: String) async throws -> CommandRun {
                try await CommandRun.shell(#"\#(token.environment) "$0" \#(line)"#, in: folder)
            }

            // Before: who may sign. The root's own key is of no interest here.
            let uri = "pkcs11:token=trial;object=second?pin-source=pin"
            let roles = "--root first.pub --pins first.pub --pins '\(uri)' --pins external.pub --threshold pins=2"
            try await tumbler(
                "root new --name com.example.app \(roles) --at \(MetadataFixture.issued) -o root.payload"
            ).expectSuccess()
            try await tumbler("sign root.payload --key first --yes -o root.json").expectSuccess()
            try folder.write(MetadataFixture.list(), as: "list")
            let digest = try await openssl.shell(#""$0" dgst -sha256 -r list | cut -c1-64"#, in: folder)

            // Each has the unsigned file and the digest that was agreed on, and sees that one signature is not enough.
            let keys = ["first", uri, "exec:\(Self.program)"]
            for (day, key) in keys.enumerated() {
                let run = try await tumbler(
                    "sign list --root root.json --expect \(digest) --key '\(key)' -o day\(day + 1).json")
                #expect(run.exitCode == 1, "\(run)")
                #expect(run.lines.last == "root 1: 1 of 2 signatures, 1 still missing", "\(run)")
            }

            let at = "--root root.json --at \(MetadataFixture.now)"
            let alone = try await tumbler("verify day1.json \(at)")
            #expect(alone.exitCode == 1)
            #expect(alone.lines.first?.hasPrefix("refused pins: threshold-not-met: ") == true, "\(alone)")
            for pair in ["day1.json day2.json", "day2.json day3.json", "day3.json day1.json"] {
                try await tumbler("combine \(pair) -o pins.json").expectSuccess()
                try await tumbler("verify pins.json \(at)").expectSuccess()
            }
            try await tumbler("combine day1.json day2.json day3.json day2.json -o pins.json").expectSuccess()
            let verified = try await tumbler("verify pins.json \(at)")
            #expect(verified.lines.count { $0.hasPrefix("signed by ") } == 3, "\(verified)")

            // The third signer gets another file on the way: the digest says so. Another payload joins nothing.
            try folder.write(MetadataFixture.list(version: 8), as: "list")
            try await tumbler("sign list --root root.json --expect \(digest) --key first -o other.json").expectError(1)
            let other = try await tumbler("sign list --root root.json --yes --key first -o other.json")
            #expect(other.exitCode == 1)
            try await tumbler("combine day1.json other.json -o joined.json").expectError(1, hint: true)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("joined.json").path))
        }
    }
}

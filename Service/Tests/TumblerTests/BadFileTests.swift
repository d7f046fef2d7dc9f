// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Files that are not what they should be")
struct BadFileTests {
    private static let broken = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n"
    private static let unended = "-----BEGIN CERTIFICATE-----\nAAAA\n"

    /// Expects that a file is refused as an input of `pin`, and as the chain and the roots of the others.
    private func expectRefusal(of file: String, in folder: URL, standardInput: String? = nil) async throws {
        for arguments in [
            ["pin", file], ["pin", "--json", file],
            ["evaluate", "--host", "a.example", "--chain", file, "--roots", file],
            ["pin", "--ca-file", file, "a.example:443"],
        ] {
            try await CommandRun.tumbler(arguments, in: folder, standardInput: standardInput).expectError(2)
        }
    }

    @Test("a missing file, an empty one, a folder, a device without an end, one whose reading fails")
    func missingFileAnEmptyOneAFolderADeviceWithoutAnEndOneWhoseReadingFails() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", as: "empty.pem")
            for file in ["missing.pem", "empty.pem", folder.path, "/dev/null", "/dev/zero", "/proc/self/mem"] {
                try await self.expectRefusal(of: file, in: folder)
            }
            try await self.expectRefusal(of: "-", in: folder)
            try await self.expectRefusal(of: "-", in: folder, standardInput: "empty.pem")
        }
    }

    @Test("a file that one may not read, asked for without root's right to read every file")
    func fileThatOneMayNotReadAskedForWithoutRootsRightToReadEveryFile() async throws {
        try await withTemporaryFolder { folder in
            let file = try folder.write(Self.broken, as: "forbidden.pem")
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
            let withoutRights = getuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search " : ""
            for command in ["pin", "evaluate --host a.example --roots forbidden.pem --chain"] {
                let run = try await CommandRun.shell("\(withoutRights)$0 \(command) forbidden.pem", in: folder)
                run.expectError(2)
                #expect(run.errors.contains("no right to read it"))
            }
        }
    }

    @Test("100 MB of zeros")
    func of100MBOfZeros() async throws {
        try await withTemporaryFolder { folder in
            let file = try FileHandle(forWritingTo: try folder.write("", as: "zeros"))
            try file.truncate(atOffset: 100_000_000)
            try file.close()
            try await self.expectRefusal(of: "zeros", in: folder)
        }
    }

    @Test(
        "text, PEM without what was looked for, PEM that is damaged",
        arguments: [
            "hello\n", "\n\n\n", "-----BEGIN NOTHING-----\nAAAA\n-----END NOTHING-----\n", broken, unended,
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", unended + broken,
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END X509 CRL-----\n", String(repeating: "A", count: 1_000_000),
        ])
    func textPEMWithoutWhatWasLookedForPEMThatIsDamaged(text: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(text, as: "file.pem")
            try await self.expectRefusal(of: "file.pem", in: folder)
        }
    }

    @Test(
        "PEM of something else than its label says",
        arguments: ["CERTIFICATE", "PUBLIC KEY", "PRIVATE KEY", "EC PRIVATE KEY"])
    func pemOfSomethingElseThanItsLabelSays(label: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write("-----BEGIN \(label)-----\nMAMCAQE=\n-----END \(label)-----\n", as: "file.pem")
            try await CommandRun.tumbler(["pin", "file.pem"], in: folder).expectError(2)
        }
    }

    @Test("DER of a certificate with bytes after it, and with its end missing", .needsOpenSSL)
    func derOfACertificateWithBytesAfterItAndWithItsEndMissing() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=server", in: folder)
            try await openssl.run("x509 -in server.pem -outform DER -out server.der", in: folder)
            let der = try folder.contents(of: "server.der")
            for damaged in [der + [0], der + [10], der + der, der.dropLast(), der.dropFirst(), der.prefix(1)] {
                try folder.write(damaged, as: "damaged.der")
                try await self.expectRefusal(of: "damaged.der", in: folder)
            }
        }
    }

    @Test("a certificate that is good, and one after it that is damaged: not one pin", .needsOpenSSL)
    func certificateThatIsGoodAndOneAfterItThatIsDamagedNotOnePin() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=server", in: folder)
            try folder.write(try folder.text(of: "server.pem") + Self.broken, as: "both.pem")
            try await self.expectRefusal(of: "both.pem", in: folder)
        }
    }

    @Test("roots that have expired: a refusal, by pin and by evaluate", .needsOpenSSL)
    func rootsThatHaveExpiredARefusalByPinAndByEvaluate() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            // Signed by its own key anew, with the same name, and no day of validity left.
            try await openssl.run(
                "x509 -in \(chain.root) -signkey good-root.key -days -1 -out expired.pem", in: folder)
            let question = ["evaluate", "--host", TestChain.host, "--chain", chain.file, "--json"]
            let evaluated = try await CommandRun.tumbler(question + ["--roots", "expired.pem"], in: folder)
            #expect(evaluated.exitCode == 1 && evaluated.errors.isEmpty, "\(evaluated)")
            #expect(try evaluated.decoded(as: PrintedDecision.self).reason == "chain-invalid")
            try await withOpenSSLServer(openssl, chain.serverOptions, in: folder) { port in
                let arguments = ["pin", "--ca-file", "expired.pem", "127.0.0.1:\(port)"]
                try await CommandRun.tumbler(arguments, in: folder).expectError(1)
            }
        }
    }

    @Test("a roots file without a certificate, beside a good chain", .needsOpenSSL)
    func rootsFileWithoutACertificateBesideAGoodChain() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            for roots in [chain.key, "missing.pem", "/dev/null"] {
                let arguments = ["evaluate", "--host", TestChain.host, "--chain", chain.file, "--roots", roots]
                try await CommandRun.tumbler(arguments, in: folder).expectError(2)
            }
        }
    }
}

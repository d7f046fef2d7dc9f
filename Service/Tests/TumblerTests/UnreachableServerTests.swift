// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import Testing

@testable import tumbler

@Suite("Servers that show no certificate")
struct UnreachableServerTests {
    private func pin(_ server: String) async throws -> CommandRun {
        try await withTemporaryFolder { try await CommandRun.tumbler(["pin", server], in: $0) }
    }

    @Test("a port on which no server listens")
    func portOnWhichNoServerListens() async throws {
        try await LoopbackPort.with(.closed) { port in
            try await self.pin("127.0.0.1:\(port)").expectError(2, hint: false)
            try await self.pin("https://127.0.0.1:\(port)/").expectError(2, hint: false)
        }
    }

    @Test("a host that does not exist")
    func hostThatDoesNotExist() async throws { try await self.pin("nosuch.invalid:443").expectError(2, hint: false) }

    @Test(
        "a server that speaks something else than TLS",
        arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example.com ESMTP\r\n", "\u{0}\u{1}\u{2}\u{3}", ""])
    func serverThatSpeaksSomethingElseThanTLS(greeting: String) async throws {
        try await LoopbackPort.with(.says(greeting)) { port in
            try await self.pin("127.0.0.1:\(port)").expectError(2)
        }
    }

    @Test("a server that is connected and silent is given up on, in the time that was given")
    func serverThatIsConnectedAndSilentIsGivenUpOnInTheTimeThatWasGiven() async throws {
        try await LoopbackPort.with(.silent) { port in
            let server = try #require(ServerAddress("127.0.0.1:\(port)"))
            // Longer where a slow machine was not connected in that time.
            for timeout in [Duration.milliseconds(300), .seconds(3), .seconds(30), .seconds(300)] {
                let failure = await #expect(throws: CommandError.self) {
                    _ = try await LiveServer.presentedChain(of: server, timeout: timeout)
                }
                #expect(failure?.exitCode == .undecided)
                if failure?.message.contains("no connection within") == true { continue }
                // It is the time that was given that ended it, and not the default.
                #expect(failure?.message.contains("no answer within \(timeout)") == true)
                return
            }
            Issue.record("no time was long enough for a connection")
        }
        #expect(LiveServer.timeout == .seconds(10))
    }

    @Test(
        "a server whose key is of a kind that is not spoken here, with the way to its certificates", .needsOpenSSL,
        arguments: ["ED448", "RSA-PSS -pkeyopt rsa_keygen_bits:2048"])
    func serverWhoseKeyIsOfAKindThatIsNotSpokenHereWithTheWayToItsCertificates(algorithm: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run("genpkey -algorithm \(algorithm) -out unusual.key", in: folder)
            try await openssl.makeCertificate("unusual", subject: "/CN=unusual", in: folder)
            let expected = try await openssl.pins(ofCertificates: ["unusual.pem"], in: folder)
            try await withOpenSSLServer(openssl, ["-cert", "unusual.pem", "-key", "unusual.key"], in: folder) { port in
                let run = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"], in: folder)
                run.expectError(2, hint: true)
                let hint = try #require(run.errorLines.last).dropFirst("tumbler: hint: ".count)
                try #require(hint.hasPrefix("openssl ") && hint.hasSuffix("| tumbler pin -"))
                let line = hint.replacingOccurrences(of: "| tumbler", with: #"2>/dev/null | "$0""#)
                let followed = try await CommandRun.shell(line, in: folder)
                followed.expectResult()
                #expect(followed.pins == expected)
            }
        }
    }

    @Test(
        "an address that is none is a missing file, with the way to ask a server",
        arguments: [
            "api.example.com", "api.example.com:", "api.example.com:https", "::1:443", "[::1", "a..b:443", ":443", "",
        ])
    func addressThatIsNoneIsAMissingFileWithTheWayToAskAServer(input: String) async throws {
        try await self.pin(input).expectError(2, hint: true)
    }

    @Test(
        "a server that is written wrongly is a usage error, with what to type",
        arguments: [
            "api.example.com:0", "api.example.com:65536", "bücher.example:99999", "https://", "https://:443",
            "http://api.example.com", "ftp://api.example.com", "https://user:secret@api.example.com",
        ])
    func serverThatIsWrittenWronglyIsAUsageErrorWithWhatToType(input: String) async throws {
        let run = try await self.pin(input)
        run.expectError(64, hint: true)
        #expect(!run.errors.contains("secret"))
    }
}

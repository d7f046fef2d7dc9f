// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The certificate that a server presents, of several", .needsOpenSSL)
struct LiveNameTests {
    @Test("a name in the handshake gets that name's certificate, an address gets the default")
    func nameInTheHandshakeGetsThatNamesCertificateAnAddressGetsTheDefault() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("default", subject: "/CN=default", in: folder)
            try await openssl.makeCertificate("named", subject: "/CN=localhost", in: folder)
            let pins = try await openssl.pins(ofCertificates: ["default.pem", "named.pem"], in: folder)
            let options =
                "-cert default.pem -key default.key -servername localhost -cert2 named.pem -key2 named.key"
                .split(separator: " ").map(String.init)
            try await withOpenSSLServer(openssl, options, in: folder) { port in
                let named = try await CommandRun.tumbler(["pin", "LocalHost.:\(port)"], in: folder)
                #expect(named.pins == [pins[1]], "\(named)")
                let unnamed = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"], in: folder)
                #expect(unnamed.pins == [pins[0]], "\(unnamed)")
            }
        }
    }

    @Test(
        "an IPv6 address in brackets", .enabled(if: LoopbackPort.hasIPv6, "there is no IPv6 loopback interface"),
        arguments: ["", "https://"])
    func iPv6AddressInBrackets(scheme: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            let pins = try await openssl.pins(ofCertificates: chain.path, in: folder)
            try await withOpenSSLServer(openssl, chain.serverOptions, at: "[::1]", in: folder) { port in
                let server = "\(scheme)[::1]:\(port)"
                let run = try await CommandRun.tumbler(["pin", server], in: folder)
                #expect(run.pins == Array(pins.prefix(3)), "\(run)")
                let validated = try await CommandRun.tumbler(["pin", "--ca-file", chain.root, server], in: folder)
                #expect(validated.pins == pins, "\(validated)")
            }
        }
    }

    @Test(
        "a key of any kind that TLS has",
        arguments: [
            "RSA -pkeyopt rsa_keygen_bits:2048", "EC -pkeyopt ec_paramgen_curve:P-256",
            "EC -pkeyopt ec_paramgen_curve:P-384", "EC -pkeyopt ec_paramgen_curve:P-521", "ED25519",
        ], ["-tls1_2", "-tls1_3"])
    func keyOfAnyKindThatTLSHas(algorithm: String, version: String) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.run("genpkey -algorithm \(algorithm) -out server.key", in: folder)
            try await openssl.makeCertificate("server", subject: "/CN=server", in: folder)
            let options = [version, "-cert", "server.pem", "-key", "server.key"]
            try await withOpenSSLServer(openssl, options, in: folder) { port in
                let run = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"], in: folder)
                #expect(try await run.pins == openssl.pins(ofCertificates: ["server.pem"], in: folder), "\(run)")
            }
        }
    }

    @Test("certificates in the wrong order, junk among them: printed as presented, validated as they belong")
    func certificatesInTheWrongOrderJunkAmongThemPrintedAsPresented() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            try await openssl.makeCertificate("stranger", subject: "/CN=stranger", in: folder)
            let others = [chain.presented[2], "stranger.pem", chain.presented[1]]
            try folder.join(others, into: "others.pem")
            let options = ["-cert", chain.presented[0], "-key", chain.key, "-cert_chain", "others.pem"]
            try await withOpenSSLServer(openssl, options, in: folder) { port in
                let run = try await CommandRun.tumbler(["pin", "127.0.0.1:\(port)"], in: folder)
                let presented = try await openssl.pins(ofCertificates: [chain.presented[0]] + others, in: folder)
                #expect(run.pins == presented, "\(run)")
                let validated = try await CommandRun.tumbler(
                    ["pin", "--ca-file", chain.root, "127.0.0.1:\(port)"], in: folder)
                let path = try await openssl.pins(ofCertificates: chain.path, in: folder)
                #expect(validated.pins == path, "\(validated)")
            }
        }
    }
}

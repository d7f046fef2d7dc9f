// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOSSL
import PinListClient
import PinningNIO
import Testing

@Suite("Servers of others, with keys of every kind and chains of every length")
struct RealServerTests {
    /// The signatures that BoringSSL accepts unless told otherwise, and Ed25519.
    static let withEd25519: [SignatureAlgorithm] = [
        .ed25519, .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .rsaPssRsaeSha384,
        .rsaPkcs1Sha384, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
    ]

    /// A client of one version of TLS, and of HTTP.
    static func configuration(
        _ scene: PinnedScene, _ hosts: [String], tls version: TLSVersion, http2: Bool = true, ed25519: Bool = false
    ) throws -> HTTPClient.Configuration {
        var tls = try scene.tls
        tls.minimumTLSVersion = version
        tls.maximumTLSVersion = version
        if ed25519 { tls.verifySignatureAlgorithms = Self.withEd25519 }
        var configuration = try scene.configuration(hosts)
        configuration.tlsConfiguration = tls
        configuration.httpVersion = http2 ? .automatic : .http1Only
        return configuration
    }

    @Test(
        "nginx: TLS 1.2 and 1.3, HTTP/1.1 and HTTP/2, chains of one to six certificates; what is presented last is pinned",
        .wants(.nginx),
        .enabled(if: Program.nginx != nil, "nginx is not installed"),
        arguments: TestPKI.Keys.allCases)
    func nginxTLS12And13HTTP11AndHTTP2ChainsOfOneToSixCertificates(_ keys: TestPKI.Keys) async throws {
        let long = try LongChain(keys)
        let chains = try (1...6).map { try long.chain(for: "n\($0).example.com", certificates: $0) }
        let hosts = (1...6).map { "n\($0).example.com" }
        // n6 is refused: its entry has the pin of a stranger.
        let entries = try zip(hosts, chains).map { host, chain in
            try PinnedScene.entry(host, [host == hosts[5] ? PinnedScene.strangePin : chain[chain.count - 1].pin])
        }
        let scene = try PinnedScene(entries, roots: [long.root])
        try await Nginx.with(zip(hosts, chains).map { Nginx.Site($0, $1) }) { port in
            for (version, name) in [(TLSVersion.tlsv12, "TLSv1.2"), (.tlsv13, "TLSv1.3")] {
                for http2 in [false, true] {
                    let client = try PinnedHTTPClient(
                        by: scene.pinning,
                        configuration: Self.configuration(
                            scene, hosts, tls: version, http2: http2, ed25519: keys == .ed25519))
                    for host in hosts[..<5] {
                        let answer = try Nginx.Answer(await client.text("https://\(host):\(port)/"))
                        #expect(answer.tls == name)
                        #expect(answer.http == (http2 ? "HTTP/2.0" : "HTTP/1.1"))
                    }
                    let refusal = await #expect(throws: PinningError.self) {
                        try await client.text("https://\(hosts[5]):\(port)/")
                    }
                    #expect(refusal?.decision.reason == .noMatchingPin)
                    let path = try (chains[5] + [long.root]).map { try $0.pin }
                    #expect(refusal?.decision.path.publicKeyPins == path)
                    try await client.shutdown()
                }
            }
        }
    }

    @Test(
        "nginx, and a pipeline with nothing but PinnedTLS",
        .wants(.nginx),
        .enabled(if: Program.nginx != nil, "nginx is not installed"),
        arguments: TestPKI.Keys.allCases)
    func nginxAndAPipelineWithNothingButPinnedTLS(_ keys: TestPKI.Keys) async throws {
        let long = try LongChain(keys)
        let hosts = ["n1.example.com", "n6.example.com", "wrong.example.com"]
        let chains = try zip(hosts, [1, 6, 3]).map { try long.chain(for: $0, certificates: $1) }
        let scene = try PinnedScene(
            [
                PinnedScene.entry(hosts[0], [chains[0][0].pin]), PinnedScene.entry(hosts[1], [chains[1][5].pin]),
                PinnedScene.entry(hosts[2], [PinnedScene.strangePin]),
            ], roots: [long.root])
        try await Nginx.with(zip(hosts, chains).map { Nginx.Site($0, $1) }) { port in
            for version in [TLSVersion.tlsv12, .tlsv13] {
                let settings = try Self.configuration(scene, hosts, tls: version, ed25519: keys == .ed25519)
                let tls = try PinnedTLS(by: scene.pinning, configuration: #require(settings.tlsConfiguration))
                for host in hosts[..<2] {
                    #expect(try await PinnedHandshake.decision(tls, host, port: port)?.reason == .pinMatch)
                }
                let refusal = await #expect(throws: PinningError.self) {
                    try await PinnedHandshake.decision(tls, hosts[2], port: port)
                }
                #expect(refusal?.decision.reason == .noMatchingPin)
            }
        }
    }

    @Test(
        "an Ed25519 leaf is refused by TLS itself, with NIOSSL's error, unless the configuration allows the signature",
        .wants(.nginx),
        .enabled(if: Program.nginx != nil, "nginx is not installed"))
    func ed25519LeafIsRefusedByTLSItselfWithNIOSSLsError() async throws {
        let host = "ed25519.example.com"
        let long = try LongChain(.ed25519, intermediates: 1)
        let chain = try long.chain(for: host, certificates: 2)
        let scene = try PinnedScene([PinnedScene.entry(host, [chain[0].pin])], roots: [long.root])
        try await Nginx.with([Nginx.Site(host, chain)]) { port in
            let client = try scene.client([host])
            let error = await #expect(throws: (any Error).self) { try await client.text("https://\(host):\(port)/") }
            guard case .handshakeFailed? = error as? NIOSSLError else {
                Issue.record("\(String(describing: error)) is not NIOSSL's")
                return
            }
            try await client.shutdown()
        }
        #expect(scene.pinning.decisionCounts == [:])
    }

    @Test(
        "openssl s_server: each kind of key, TLS 1.2 and 1.3, the right pin and a wrong one",
        .enabled(if: Program.openssl != nil, "openssl is not installed"),
        arguments: TestPKI.Keys.allCases, ["-tls1_2", "-tls1_3"])
    func opensslSServerEachKindOfKeyTLS12And13TheRightPinAndAWrongOne(_ keys: TestPKI.Keys, option: String) async throws
    {
        let hosts = ["right.example.com", "wrong.example.com"]
        let long = try LongChain(keys, intermediates: 0)
        let leaf = try TestPKI.leaf(hosts, by: long.root, key: keys.new())
        let scene = try PinnedScene(
            [PinnedScene.entry(hosts[0], [leaf.pin]), PinnedScene.entry(hosts[1], [PinnedScene.strangePin])],
            roots: [long.root])
        try await OpenSSLServer.with([leaf], [option]) { port in
            let version = option == "-tls1_2" ? TLSVersion.tlsv12 : .tlsv13
            let client = try PinnedHTTPClient(
                by: scene.pinning,
                configuration: Self.configuration(scene, hosts, tls: version, ed25519: keys == .ed25519))
            let page = try await client.text("https://\(hosts[0]):\(port)/")
            #expect(page.contains(option == "-tls1_2" ? "TLSv1.2" : "TLSv1.3"))
            let refusal = await #expect(throws: PinningError.self) {
                try await client.text("https://\(hosts[1]):\(port)/")
            }
            #expect(refusal?.decision.reason == .noMatchingPin)
            try await client.shutdown()
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOSSL
import PinListClient
import PinningNIO
import Testing

@Suite("Chains as servers really present them, and as attackers do")
struct ServerChainTests {
    static let host = "api.example.com"

    /// Who presents a chain.
    enum Server: CaseIterable {
        case nginx, openssl

        /// Runs the server while something is done with it.
        func with(_ chain: [TestCertificate], _ body: (_ port: Int) async throws -> Void) async throws {
            switch self {
            case .nginx: try await Nginx.with([Nginx.Site(ServerChainTests.host, chain)], body)
            case .openssl: try await OpenSSLServer.with(chain, [], body)
            }
        }
    }

    /// Those that this run is for.
    static let servers = Server.allCases.filter { $0 != .nginx || Component.nginx.isWanted }

    /// Whether they are installed.
    static let hasServers = Self.servers.allSatisfy { ($0 == .nginx ? Program.nginx : Program.openssl) != nil }

    /// Asks a server with both adapters.
    static func ask(
        _ scene: PinnedScene, port: Int
    ) async throws -> [Result<PinningDecision.Reason?, PinningError>] {
        var results: [Result<PinningDecision.Reason?, PinningError>] = []
        let client = try scene.client([Self.host])
        do {
            _ = try await client.text("https://\(Self.host):\(port)/")
            results.append(.success(.pinMatch))
        } catch let error as PinningError {
            results.append(.failure(error))
        }
        try await client.shutdown()
        do {
            let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
            results.append(.success(try await PinnedHandshake.decision(tls, Self.host, port: port)?.reason))
        } catch let error as PinningError {
            results.append(.failure(error))
        }
        return results
    }

    @Test(
        "a chain in disorder, with strangers in between, with the root and with repetitions is accepted for its pin",
        .enabled(if: Self.hasServers, "nginx or openssl is not installed"), arguments: Self.servers)
    func chainInDisorderWithStrangersInBetween(_ server: Server) async throws {
        let long = try LongChain(.p256, intermediates: 3)
        let stranger = try LongChain(.p256, name: "stranger", intermediates: 2)
        let leaf = try TestPKI.leaf([Self.host], by: long.intermediates[2])
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, [long.intermediates[0].pin])], roots: [long.root])
        let (first, second, third) = (long.intermediates[0], long.intermediates[1], long.intermediates[2])
        let chains = [
            [leaf, first, second, third],
            [leaf, stranger.root, third, stranger.intermediates[0], second, stranger.intermediates[1], first],
            [leaf, long.root, first, third, third, second, leaf, first],
        ]
        for chain in chains {
            try await server.with(chain) { port in
                let results = try await Self.ask(scene, port: port)
                #expect(results == [.success(.pinMatch), .success(.pinMatch)])
            }
        }
    }

    @Test(
        "a pinned CA that is appended to a chain which another trusted CA has issued does not help (CVE-2016-2402)",
        .enabled(if: Self.hasServers, "nginx or openssl is not installed"), arguments: Self.servers)
    func pinnedCAThatIsAppendedToAChainWhichAnotherTrustedCAHasIssuedDoesNotHelp(_ server: Server) async throws {
        let pinned = try LongChain(.p256, name: "pinned", intermediates: 1)
        let other = try LongChain(.p256, name: "other", intermediates: 1)
        let honestLeaf = try TestPKI.leaf([Self.host], by: pinned.intermediates[0])
        let falseLeaf = try TestPKI.leaf([Self.host], by: other.intermediates[0])
        let pins = try [pinned.intermediates[0].pin, pinned.root.pin, honestLeaf.pin]
        let scene = try PinnedScene([PinnedScene.entry(Self.host, pins)], roots: [pinned.root, other.root])
        let path = try [falseLeaf, other.intermediates[0], other.root].map { try $0.pin }
        let appended = [pinned.intermediates[0], pinned.root, honestLeaf]
        for chain in [
            [falseLeaf, other.intermediates[0]] + appended, [falseLeaf] + appended + [other.intermediates[0]],
        ] {
            try await server.with(chain) { port in
                for result in try await Self.ask(scene, port: port) {
                    let refusal = #expect(throws: PinningError.self) { try result.get() }
                    #expect(refusal?.decision.reason == .noMatchingPin)
                    #expect(refusal?.decision.path.publicKeyPins == path)
                }
            }
        }
    }

    @Test(
        "RSA and ECDSA behind one name: a pin of the issuer takes both, a pin of one leaf only that one",
        .wants(.nginx),
        .enabled(if: Program.nginx != nil, "nginx is not installed"), arguments: [false, true])
    func rsaAndECDSABehindOneNameAPinOfTheIssuerTakesBothAPinOfOneLeafOnlyThatOne(http2: Bool) async throws {
        let ca = try LongChain(.p256, intermediates: 1)
        let leaves = try [TestPKI.Keys.rsa2048, .p256].map {
            try TestPKI.leaf([Self.host], by: ca.intermediates[0], key: $0.new())
        }
        let chains = leaves.map { [$0, ca.intermediates[0]] }
        let signatures: [[SignatureAlgorithm]] = [[.rsaPssRsaeSha256, .rsaPkcs1Sha256], [.ecdsaSecp256R1Sha256]]
        let both = try PinnedScene([PinnedScene.entry(Self.host, [ca.intermediates[0].pin])], roots: [ca.root])
        let one = try PinnedScene([PinnedScene.entry(Self.host, [leaves[1].pin])], roots: [ca.root])
        try await Nginx.with([Nginx.Site(Self.host, chains[0], chains[1])]) { port in
            for (kind, offered) in signatures.enumerated() {
                for scene in [both, one] {
                    var configuration = try RealServerTests.configuration(
                        scene, [Self.host], tls: .tlsv12, http2: http2)
                    configuration.tlsConfiguration?.verifySignatureAlgorithms = offered
                    let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
                    let url = "https://\(Self.host):\(port)/"
                    if kind == 0, scene.pinning === one.pinning {
                        let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
                        let leafPin = try leaves[0].pin
                        #expect(refusal?.decision.path.publicKeyPins.first == leafPin)
                    } else {
                        #expect(try Nginx.Answer(await client.text(url)).http == (http2 ? "HTTP/2.0" : "HTTP/1.1"))
                    }
                    try await client.shutdown()
                }
            }
        }
    }
}
#endif

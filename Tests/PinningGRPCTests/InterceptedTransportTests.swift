// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC && !canImport(Darwin)
import CertificatePinning
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOSSL
import PinningGRPC
import Testing

/// Both clients trust the interceptor's CA, as `tumbler intercept` asks: only pins are left between it and a call.
@Suite(
    "gRPC against every interceptor", .enabled(if: InterceptingBench.program != nil, "there is no tumbler beside it"))
struct InterceptedTransportTests {
    @Test("a pinned gRPC client makes its call in the control, and sends not a byte in any other case")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func aPinnedGRPCClientMakesItsCallInTheControlAndSendsNotAByteInAnyOtherCase() async throws {
        let pki = try TestPKI([InterceptingBench.host])
        let entry = try PinnedScene.entry(InterceptingBench.host, [pki.leaf.pin])
        let scene = try PinnedScene([entry], roots: [pki.root])
        let (cases, run) = try await InterceptingBench.play(pki) { port, trusted in
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try trusted.map { try NIOSSLCertificate(bytes: $0, format: .pem) })
            return try HTTP2ClientTransport.Posix.pinned(
                to: .ipv4(address: "127.0.0.1", port: port), by: scene.pinning, for: InterceptingBench.host, port: port,
                tls: tls)
        }
        #expect(run.exitCode == "0", "\(run.outcomes)")
        for played in cases {
            let outcome = try #require(run.outcomes[played.name])
            if played.name == "control" {
                #expect(outcome.hasPrefix("ACCEPTED: "), "\(outcome)")
            } else {
                #expect(outcome == "refused before a byte", "\(played.name): \(outcome)")
            }
        }
    }

    @Test("a gRPC client without pins is taken in wherever the CA is trusted: else the bench is broken")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func aGRPCClientWithoutPinsIsTakenInWhereverTheCAIsTrusted() async throws {
        let pki = try TestPKI([InterceptingBench.host])
        let (cases, run) = try await InterceptingBench.play(pki) { port, trusted in
            var config = HTTP2ClientTransport.Posix.Config.defaults
            config.http2.authority = InterceptingBench.host
            return try HTTP2ClientTransport.Posix(
                target: .ipv4(address: "127.0.0.1", port: port),
                transportSecurity: .tls { $0.trustRoots = .certificates(trusted.map { .bytes($0, format: .pem) }) },
                config: config)
        }
        #expect(run.exitCode == "1", "\(run.outcomes)")
        for played in cases {
            let outcome = try #require(run.outcomes[played.name])
            switch played.unpinned {
            // gRPC speaks HTTP/2 alone, and gives up where that was not agreed on.
            case "taken in" where played.name != "alpn-mismatch":
                #expect(outcome.hasPrefix("ACCEPTED: "), "\(played.name): \(outcome)")
            case "refuses": #expect(outcome == "refused before a byte", "\(played.name): \(outcome)")
            default: break
            }
        }
    }
}

/// `tumbler intercept` as a process in front of a gRPC server, played by a gRPC client.
private enum InterceptingBench {
    static let host = "api.example.com"

    /// A case, as `--list-cases` says it.
    struct Case: Decodable {
        let name: String
        let unpinned: String
    }

    /// The outcome of each case by its name, and the exit code.
    struct Run {
        var outcomes: [String: String] = [:]
        var exitCode = ""
    }

    /// The program beside the tests.
    static let program: URL? = {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let beside = [own, Bundle.main.bundleURL].map {
            $0.deletingLastPathComponent().appendingPathComponent("tumbler")
        }
        return beside.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// SIGTERM ends the bench when a line comes, and it tells what it saw. `$0` is the program.
    private static let script =
        "\"$0\" \"$@\" 2>&1 & bench=$!; read -r _; kill -TERM $bench; wait $bench; echo \"exit code: $?\""

    /// Calls the server through each interceptor.
    ///
    /// - Parameter transport: Makes the transport to a port, which trusts these certificates in PEM.
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    static func play(
        _ pki: TestPKI, _ transport: (Int, [[UInt8]]) throws -> HTTP2ClientTransport.Posix
    ) async throws -> ([Case], Run) {
        let program = try #require(self.program)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(pki.intermediate.pem.utf8).write(to: folder.appendingPathComponent("issuing.pem"))
        try Data(pki.intermediate.keyPEM.utf8).write(to: folder.appendingPathComponent("issuing.key"))
        let listed = try await FinishedProcess.run(program, ["intercept", "--list-cases", "--json"], in: folder)
        let cases = try JSONDecoder().decode([Case].self, from: listed.output)
        let run = try await LoopbackGRPCServer.with(pki.chain) { server in
            let arguments = [
                "intercept", "--upstream", "\(self.host)=127.0.0.1:\(server.port)", "--listen", "127.0.0.1:0",
                "--ca-out", "ca.pem", "--intermediate", "issuing.pem", "--intermediate-key", "issuing.key",
            ]
            return try await withRunningProcess(
                URL(fileURLWithPath: "/bin/sh"), ["-c", self.script, program.path] + arguments, in: folder
            ) { process in
                var ports: [String: Int] = [:]
                while ports.count < cases.count {
                    let line = try #require(await process.nextLine(), "the bench ended before it listened")
                    let words = line.components(separatedBy: " on 127.0.0.1:")
                    if words.count == 2, let port = Int(words[1]) { ports[words[0]] = port }
                }
                let authority = Array(try Data(contentsOf: folder.appendingPathComponent("ca.pem")))
                let trusted = [Array(try pki.root.pem.utf8), authority]
                for played in cases {
                    let port = try #require(ports[played.name])
                    // The first connection of this case reaches the server, and the second one the interceptor.
                    for _ in 0..<(played.name == "resumption" ? 2 : 1) {
                        try await self.call(try transport(port, trusted))
                    }
                }
                try process.say("")
                var run = Run()
                while let line = await process.nextLine() {
                    guard let colon = line.range(of: ": ") else { continue }
                    run.outcomes[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
                }
                run.exitCode = run.outcomes["exit code"] ?? ""
                return run
            }
        }
        return (cases, run)
    }

    /// Makes one call, however it ends: the bench counts what it sent.
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    private static func call(_ transport: HTTP2ClientTransport.Posix) async throws {
        try await withGRPCClient(transport: transport) { client in
            _ = try? await client.call()
        }
    }
}
#endif

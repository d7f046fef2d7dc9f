// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import PinListClient
import PinningNIO
import Testing

@Suite("Thousands of connections in a row")
struct ConnectionLoadTests {
    static let host = "api.example.com"

    /// The folder of `make proof`, which has the full size.
    static let proof = ProcessInfo.processInfo.environment["TUMBLER_PROOF"]

    /// What one protocol came to.
    private struct Figures {
        let accepted: Int
        let refused: Int
        let before: ProcessResources
        let after: ProcessResources
        let seconds: Double
    }

    @Test(
        "each new, accepted ones and then refused ones, leave neither a connection nor a descriptor nor memory behind",
        .enabled(if: ProcessResources.areKnown, "this system has no /proc"))
    func eachNewAcceptedOnesAndThenRefusedOnes() async throws {
        let accepted = Self.proof == nil ? 300 : 10_000
        let refused = Self.proof == nil ? 60 : 2_000
        var rows: [String] = []
        for http2 in [false, true] {
            let figures = try await self.run(accepted: accepted, refused: refused, http2: http2)
            let kilobytes = figures.after.residentKilobytes - figures.before.residentKilobytes
            // Other tests run beside the short form, and have connections and memory of their own.
            if Self.proof != nil {
                #expect(figures.after.descriptors <= figures.before.descriptors + 4)
                #expect(kilobytes <= 16_384)
            }
            rows.append(
                "| \(http2 ? "HTTP/2" : "HTTP/1.1") | \(accepted) | \(refused) "
                    + "| \(figures.before.descriptors) → \(figures.after.descriptors) "
                    + "| \(figures.before.residentKilobytes / 1_024) → \(figures.after.residentKilobytes / 1_024) MB "
                    + "| \(Int(figures.seconds.rounded())) s |")
        }
        guard let proof = Self.proof else { return }
        let page = [
            "# Connections in a row", "",
            "One pinned client makes a connection for each request, first with the right pin, then with a wrong one. "
                + "Descriptors and",
            "resident memory of the process, which holds the server, too, after 500 connections and at the end: at "
                + "most 4 descriptors",
            "and 16 MB more are allowed.", "",
            "| protocol | accepted | refused | descriptors | resident memory | time |", "|---|---|---|---|---|---|",
        ]
        let text = (page + rows).joined(separator: "\n") + "\n"
        try text.write(
            to: URL(fileURLWithPath: proof).appendingPathComponent("connections.md"), atomically: false, encoding: .utf8
        )
    }

    private func run(accepted: Int, refused: Int, http2: Bool) async throws -> Figures {
        let wrong = "wrong.example.com"
        let pki = try TestPKI([Self.host, wrong])
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, [pki.leaf.pin]), PinnedScene.entry(wrong, [PinnedScene.strangePin])],
            roots: [pki.root])
        var configuration = try scene.configuration([Self.host, wrong])
        configuration.maximumUsesPerConnection = 1
        let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
        let figures = try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let (right, wrong) = ("https://\(Self.host):\(server.port)/", "https://\(wrong):\(server.port)/")
            func refuse() async {
                let refusal = await #expect(throws: PinningError.self) { try await client.text(wrong) }
                #expect(refusal?.decision.reason == .noMatchingPin)
            }
            let warmUp = accepted / 20
            for _ in 0..<warmUp {
                let text = try await client.text(right)
                #expect(text == "hello")
            }
            for _ in 0..<warmUp / 5 { await refuse() }
            try await Self.drained(server)
            let before = try ProcessResources()
            let start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<accepted {
                let text = try await client.text(right)
                #expect(text == "hello")
            }
            for _ in 0..<refused { await refuse() }
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
            try await Self.drained(server)
            let after = try ProcessResources()
            #expect(server.counts.requests == warmUp + accepted)
            // Each on a connection of its own, and a few handshakes of ours.
            #expect(server.counts.connections >= warmUp + warmUp / 5 + accepted + refused)
            return Figures(accepted: accepted, refused: refused, before: before, after: after, seconds: seconds)
        }
        try await client.shutdown()
        return figures
    }

    /// Waits until both sides have closed all connections.
    private static func drained(_ server: LoopbackServer) async throws {
        let deadline = NIODeadline.now() + .ample
        while try server.counts.open > 0 || ProcessResources.connections(to: server.port) > 0 {
            try #require(NIODeadline.now() < deadline, "connections stay open: \(server.counts)")
            await Task.yield()
        }
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
import NIOSSL
import PinListClient
import Testing

extension Interception {
    /// Expects that all that pin are refused, that the man in the middle was talked to and told nothing, and that a
    /// client without pins tells him all.
    mutating func expectNothingTold(by transports: [Transport]) async throws {
        let way = self.way
        let pin = try self.pki.leaf.pin
        let atServer = self.server.counts
        for transport in transports {
            let scene = try self.scene()
            let refusal = await #expect(throws: PinningError.self, "\(transport)") {
                try await transport.post(by: scene.pinning, on: way)
            }
            #expect(refusal?.decision.reason == .noMatchingPin, "\(transport)")
            #expect(refusal?.host == Way.host, "\(transport)")
            #expect(refusal?.decision.path.publicKeyPins.contains(pin) == false, "\(transport)")
        }
        let told = try await self.attacker.counts()
        #expect(told.connections >= transports.count)
        #expect(told.handshakes > 0)
        #expect(told.requests == 0)
        #expect(told.requestBytes == 0)
        #expect(self.server.counts.requests == atServer.requests)
        #expect(self.server.counts.requestBytes == atServer.requestBytes)

        // The control: without pins the attack is one.
        let answer = try await Transport.unpinned.post(by: self.scene().pinning, on: way)
        #expect(answer == "\(Transport.bodyBytes)")
        let toldWithoutPins = try await self.attacker.counts()
        #expect(toldWithoutPins.requests == 1)
        #expect(toldWithoutPins.requestBytes > Transport.bodyBytes)
        #expect(self.server.counts.requests == atServer.requests + 1)
    }

    /// Expects that curl gets its page through the man in the middle, and with the server's pin does not: exit code 90,
    /// `CURLE_SSL_PINNEDPUBKEYNOTMATCH`.
    mutating func expectRefusedByCurl() async throws {
        let page = try await self.curl([])
        #expect(page.status == 0)
        #expect(String(decoding: page.output, as: UTF8.self) == "200")
        let told = try await self.attacker.counts()
        #expect(told.requests == 1)
        let pin = Base64.encode(try self.pki.leaf.pin.digest)
        let pinned = try await self.curl(["--pinnedpubkey", "sha256//\(pin)"])
        #expect(pinned.status == 90)
        let toldAfterwards = try await self.attacker.counts()
        #expect(toldAfterwards.connections > told.connections)
        #expect(toldAfterwards.requests == told.requests)
        #expect(toldAfterwards.requestBytes == told.requestBytes)
    }

    private func curl(_ more: [String]) async throws -> FinishedProcess {
        let folder = FileManager.default.temporaryDirectory
        let roots = folder.appendingPathComponent("\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: roots) }
        let blocks = try self.way.roots.map {
            PEMBlock(label: PEMBlock.certificateLabel, bytes: try $0.toDERBytes()).text
        }
        try blocks.joined(separator: "\n").write(to: roots, atomically: false, encoding: .utf8)
        let place = "\(Way.host):\(self.way.port)"
        let proxy = self.way.proxy.map { ["--proxy", "http://127.0.0.1:\($0)"] } ?? ["--noproxy", "*"]
        let curl = try #require(InstalledProgram("curl"))
        let (program, arguments) = try self.command(
            curl,
            [
                "--disable", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                self.way.http2 ? "--http2" : "--http1.1", "--cacert", roots.path, "--connect-to",
                "\(place):\(self.way.address):\(self.way.port)",
            ] + proxy + more + ["https://\(place)/"])
        return try await FinishedProcess.run(program.executable, arguments, in: folder)
    }
}
#endif

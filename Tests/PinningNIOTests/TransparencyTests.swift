// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Crypto
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import SwiftASN1
import TestData
import Testing
import X509

@Suite("A pinned HTTP client whose list asks for Certificate Transparency")
struct TransparencyTests {
    static let host = "api.example.com"

    /// A server's chain, its leaf with the timestamps of two logs, and without: of one key.
    private struct LoggedPKI {
        let pki: TestPKI
        let logged: TestCertificate
        let unlogged: TestCertificate
        let logs = [SigningLog("A"), SigningLog("B")]

        init() throws {
            self.pki = try TestPKI([TransparencyTests.host])
            let (issuer, key, now) = (self.pki.intermediate, self.pki.leaf.key, TestPKI.now)
            func leaf(_ others: [Certificate.Extension]) throws -> TestCertificate {
                try TestCertificate("server", by: issuer, key: key) { form in
                    form.around(now)
                    form.names = [.dnsName(TransparencyTests.host)]
                    form.keyUsage = KeyUsage(digitalSignature: true)
                    form.purposes = [.serverAuth]
                    form.others = others
                }
            }
            self.unlogged = try leaf([])
            // What logs sign is the certificate that swift-certificates makes without their timestamps.
            let fields = try CertificateFields(walking: self.unlogged.der)
            let value = try SigningLog.extensionValue(
                of: self.logs, over: Array(self.unlogged.der[fields.toBeSigned]),
                issuerKey: issuer.pin.digest, at: now - 3_600)
            self.logged = try leaf([
                Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], critical: false, value: value[...])
            ])
        }

        /// A client that holds a list which asks for the policy, and its log list.
        func scene(_ mode: TransparencyRule.Mode, of logs: [SigningLog]? = nil) async throws -> PinnedScene {
            var entry = try PinnedScene.entry(TransparencyTests.host, [try self.unlogged.pin])
            entry.transparency = TransparencyRule(mode, .chrome)
            let scene = try PinnedScene([entry], roots: [self.pki.root])
            let time = Timestamp(secondsSince1970: TestPKI.now - 86_400).description
            let file = SigningLog.list(of: logs ?? self.logs, at: time)
            scene.lists.publish { $0.logFiles = [file] }
            try await scene.publish { $0.logs = ListedLogs(of: file) }
            return scene
        }
    }

    @Test("sends not one byte to a server whose pinned certificate no log has seen", arguments: [false, true])
    func sendsNotOneByteToAServerWhosePinnedCertificateNoLogHasSeen(http2: Bool) async throws {
        let made = try LoggedPKI()
        let scene = try await made.scene(.enforce)
        let client = try scene.client([Self.host])
        let identity = try LoopbackServer.Identity([made.unlogged, made.pki.intermediate])
        try await LoopbackServer.with(identity, http2: http2) { server in
            for _ in 1...3 {
                let refusal = await #expect(throws: PinningError.self) {
                    try await client.text("https://\(Self.host):\(server.port)/")
                }
                #expect(refusal?.decision.reason == .transparency)
                #expect(refusal?.decision.transparency?.isSatisfied == false)
            }
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }

    @Test(
        "gets a page from one that two logs signed, and with a rule that only reports from any",
        arguments: [false, true])
    func getsAPageFromOneThatTwoLogsSignedAndWithARuleThatOnlyReportsFromAny(http2: Bool) async throws {
        let made = try LoggedPKI()
        for (leaf, mode, reason) in [
            (made.logged, TransparencyRule.Mode.enforce, PinningDecision.Reason.pinMatch),
            (made.unlogged, .report, .transparency),
        ] {
            let scene = try await made.scene(mode)
            let client = try scene.client([Self.host])
            let identity = try LoopbackServer.Identity([leaf, made.pki.intermediate])
            try await LoopbackServer.with(identity, http2: http2) { server in
                for _ in 1...3 {
                    let text = try await client.text("https://\(Self.host):\(server.port)/")
                    #expect(text == "hello")
                }
            }
            // Evaluated for the connection, and for no request on it.
            #expect(scene.pinning.decisionCounts == [reason: 1])
            try await client.shutdown()
        }
    }

    @Test("an open connection ends when a list comes into force whose logs do not know the certificate's")
    func openConnectionEndsWhenAListComesIntoForceWhoseLogsDoNotKnowTheCertificates() async throws {
        let made = try LoggedPKI()
        let scene = try await made.scene(.enforce)
        let client = try scene.client([Self.host])
        let identity = try LoopbackServer.Identity([made.logged, made.pki.intermediate])
        try await LoopbackServer.with(identity) { server in
            let url = "https://\(Self.host):\(server.port)/"
            let text = try await client.text(url)
            #expect(text == "hello")
            let time = Timestamp(secondsSince1970: TestPKI.now - 3_600).description
            let strangers = SigningLog.list(of: [SigningLog("C"), SigningLog("D")], at: time)
            scene.lists.publish { $0.logFiles.append(strangers) }
            try await scene.publish { $0.logs = ListedLogs(of: strangers) }
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(refusal?.decision.reason == .transparency)
            #expect(server.counts.requests == 1)
        }
        try await client.shutdown()
    }
}
#endif

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import PinListClient
import PinListMetadata
import PinningGRPC
import PinningTesting
import TestData
import Testing

@Suite("A pinned transport of gRPC whose list asks for Certificate Transparency")
struct TransparencyTests {
    static let host = "api.example.com"

    @Test("sends no call to a server whose pinned certificate no log has seen, and tells why")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func sendsNoCallToAServerWhosePinnedCertificateNoLogHasSeenAndTellsWhy() async throws {
        let made = try LoggedPKI(Self.host)
        let scene = try await made.scene(.enforce)
        try await LoopbackGRPCServer.with([made.unlogged, made.pki.intermediate]) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(error.code == .unavailable)
                let refusal = scene.pinning.refusal(for: error, host: Self.host)
                #expect(refusal?.decision.reason == .transparency)
                #expect(refusal?.decision.transparency?.isSatisfied == false)
            }
            #expect(server.counts.streams == 0 && server.counts.calls == 0)
        }
    }

    @Test("calls one that two logs signed, and with a rule that only reports any; calls ask for no evaluation")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func callsOneThatTwoLogsSignedAndWithARuleThatOnlyReportsAny() async throws {
        let made = try LoggedPKI(Self.host)
        for (leaf, mode, reason) in [
            (made.logged, TransparencyRule.Mode.enforce, PinningDecision.Reason.pinMatch),
            (made.unlogged, .report, .transparency),
        ] {
            let scene = try await made.scene(mode)
            try await LoopbackGRPCServer.with([leaf, made.pki.intermediate]) { server in
                try await scene.withClient(of: Self.host, on: server) { client in
                    for _ in 1...3 {
                        let answer = try await client.call()
                        #expect(answer == [1, 2, 3])
                    }
                }
                #expect(server.counts == .init(connections: 1, streams: 3, calls: 3))
            }
            #expect(scene.pinning.decisionCounts == [reason: 1])
        }
    }

    @Test("an open connection closes when a list comes into force whose logs do not know the certificate's")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func openConnectionClosesWhenAListComesIntoForceWhoseLogsDoNotKnowTheCertificates() async throws {
        let made = try LoggedPKI(Self.host)
        let scene = try await made.scene(.enforce)
        try await LoopbackGRPCServer.with([made.logged, made.pki.intermediate]) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                _ = try await client.call()
                let time = Timestamp(secondsSince1970: TestPKI.now - 3_600).description
                let strangers = SigningLog.list(of: [SigningLog("C"), SigningLog("D")], at: time)
                scene.lists.publish { $0.logFiles.append(strangers) }
                try await scene.publish { $0.logs = ListedLogs(of: strangers) }
                try await server.endOfConnections()
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .transparency)
            }
            #expect(server.counts.calls == 1)
        }
    }

    @Test("an open connection ends at once when a list takes the server's certificate back, and none is opened again")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func openConnectionEndsAtOnceWhenAListTakesTheServersCertificateBackAndNoneIsOpenedAgain() async throws {
        let made = try LoggedPKI(Self.host)
        let scene = try await made.scene(.enforce)
        let fields = try CertificateFields(walking: made.logged.der)
        let serial = try #require(SerialNumber(contents: made.logged.der[fields.serialNumber]))
        let issuer = try made.pki.intermediate.pin
        try await LoopbackGRPCServer.with([made.logged, made.pki.intermediate]) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                let first = Task { try await client.call(LoopbackGRPCServer.wait) }
                await server.arrivalOfWait()
                try await scene.publish { $0.revoked = [RevokedCertificates(issuer: issuer, serials: [serial])] }
                // There is no answer: only the end of the connection ends the call.
                let error = try #require(await #expect(throws: RPCError.self) { try await first.value })
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .revoked)
                try await server.endOfConnections()
                let again = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(scene.pinning.refusal(for: again, host: Self.host)?.decision.reason == .revoked)
            }
            #expect(server.counts.calls == 1)
        }
    }
}
#endif

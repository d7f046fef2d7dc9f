// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOConcurrencyHelpers
import NIOPosix
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import TestData
import Testing

@Suite("A pinned HTTP client whose list asks for Certificate Transparency")
struct TransparencyTests {
    static let host = "api.example.com"

    @Test("sends not one byte to a server whose pinned certificate no log has seen", arguments: [false, true])
    func sendsNotOneByteToAServerWhosePinnedCertificateNoLogHasSeen(http2: Bool) async throws {
        let made = try LoggedPKI(Self.host)
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
        let made = try LoggedPKI(Self.host)
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

    // Over HTTP/1.1 alone: over HTTP/2 it fails now and then, and why is not known. The hook is the same for both.
    @Test("verifies signatures of logs on no event loop, also where it knows the path and the log list is new")
    func verifiesSignaturesOfLogsOnNoEventLoopAlsoWhereItKnowsThePathAndTheLogListIsNew() async throws {
        let made = try LoggedPKI(Self.host)
        let verdicts = NIOLockedValueBox<[Bool]>([])
        let scene = try await made.scene(.enforce) { configuration in
            // Asked at the beginning of each verdict, where the rest of it is done.
            configuration.runtimeEnvironment = {
                verdicts.withLockedValue { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
                return RuntimeEnvironment()
            }
        }
        let client = try scene.client([Self.host])
        let identity = try LoopbackServer.Identity([made.unlogged, made.pki.intermediate])
        try await LoopbackServer.with(identity) { server in
            /// Whether the verdicts on the next connections were on an event loop, until one was as expected, and at most
            /// ten.
            func areOnLoop(until expected: Bool) async -> [Bool] {
                for _ in 1...10 where !verdicts.withLockedValue({ $0.contains(expected) }) {
                    let refusal = await #expect(throws: PinningError.self) {
                        try await client.text("https://\(Self.host):\(server.port)/")
                    }
                    #expect(refusal?.decision.reason == .transparency)
                }
                return verdicts.withLockedValue { $0 }
            }
            #expect(await areOnLoop(until: false).first == false)
            // What is known of the path and of its signatures needs no other thread.
            verdicts.withLockedValue { $0 = [] }
            let known = await areOnLoop(until: true)
            #expect(known.contains(true) && !known.contains(false), "\(known)")
            verdicts.withLockedValue { $0 = [] }
            let time = Timestamp(secondsSince1970: TestPKI.now - 3_600).description
            let strangers = SigningLog.list(of: [SigningLog("C"), SigningLog("D")], at: time)
            scene.lists.publish { $0.logFiles.append(strangers) }
            try await scene.publish { $0.logs = ListedLogs(of: strangers) }
            #expect(await areOnLoop(until: false).contains(false))
        }
        try await client.shutdown()
    }

    @Test(
        "an open connection takes no request when a clock that was ahead had made its log list too old to be asked",
        arguments: [false, true])
    func openConnectionTakesNoRequestWhenAClockThatWasAheadHadMadeItsLogListTooOldToBeAsked(http2: Bool) async throws {
        let made = try LoggedPKI(Self.host)
        let scene = try await made.scene(.enforce)
        let client = try scene.client([Self.host])
        let identity = try LoopbackServer.Identity([made.unlogged, made.pki.intermediate])
        try await LoopbackServer.with(identity, http2: http2) { server in
            let url = "https://\(Self.host):\(server.port)/"
            scene.clock.advance(by: 71 * 86_400)
            let text = try await client.text(url)
            #expect(text == "hello")
            scene.clock.advance(by: -71 * 86_400)
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(refusal?.decision.reason == .transparency)
            #expect(server.counts.requests == 1)
        }
        try await client.shutdown()
    }

    @Test("an open connection ends when a list comes into force whose logs do not know the certificate's")
    func openConnectionEndsWhenAListComesIntoForceWhoseLogsDoNotKnowTheCertificates() async throws {
        let made = try LoggedPKI(Self.host)
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinningURLSession
import Security
import Testing

@Suite("A response to a task with a delegate of its own")
struct OwnDelegateTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)

    /// One that has a method for challenges, for a password, and leaves all others to the system.
    private final class AnsweringDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.performDefaultHandling, nil)
        }
    }

    /// One that has no method for challenges.
    private final class ObservingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        func responds(to selector: Selector!) -> Bool { !NSStringFromSelector(selector).contains("Challenge") }
    }

    /// A device that has got a good response, and whose network then changed to one with a man in the middle who has a
    /// certificate that the device trusts.
    private func intercepted() async throws -> (phone: Phone, delegate: RecordingDelegate, session: URLSession) {
        let (phone, _) = try Phone.bank()
        phone.network.settings.asksTaskDelegateFirst = true
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)).data == Data(Self.host.utf8))
        let theirs = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(theirs.root.der)
        phone.serve(Self.host, theirs.chain)
        await withCheckedContinuation { done in session.flush { done.resume() } }
        return (phone, delegate, session)
    }

    @Test(
        "is withheld that it let through, after a good one, too, and its connection is given up",
        arguments: [true, false])
    func isWithheldThatItLetThroughAfterAGoodOneToo(showsItsEnds: Bool) async throws {
        let (phone, delegate, session) = try await self.intercepted()
        phone.network.settings.reportsEndpoints = showsItsEnds
        let task = session.dataTask(with: Self.url)
        task.delegate = AnsweringDelegate()
        let outcome = await delegate.run(task)
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        #expect(await session.pinnedText(Self.url).refusal == .noMatchingPin)
        // Said in docs/coverage.md: the request had left, and what came before the metrics was handed over.
        #expect(phone.network.requests(at: Self.host).count == 2)
        #expect(outcome.data == Data(Self.host.utf8))
    }

    @Test(
        "is withheld from another task over the connection that it let through, though its own task got none",
        arguments: [true, false])
    func isWithheldFromAnotherTaskOverTheConnectionThatItLetThrough(showsItsEnds: Bool) async throws {
        let (phone, delegate, session) = try await self.intercepted()
        var reset = SimulatedNetwork.Answer()
        reset.failure = .networkConnectionLost
        phone.network.setAnswer(reset, for: Self.url.absoluteString)
        phone.network.settings.reportsEndpoints = showsItsEnds
        let task = session.dataTask(with: Self.url)
        task.delegate = AnsweringDelegate()
        #expect((await delegate.run(task).error as? URLError)?.code == .networkConnectionLost)
        #expect((session.delegate as? PinnedSessionDelegate)?.refusal(of: task) == nil)
        phone.network.setAnswer(.text(Self.host), for: Self.url.absoluteString)
        // One that its ends do not identify is given up: the next request has a connection with a challenge of its own.
        let reason = showsItsEnds ? PinningDecision.Reason.otherHostConnection : .noMatchingPin
        #expect(await session.pinnedText(Self.url).refusal == reason)
        #expect(phone.network.challenges.count == (showsItsEnds ? 2 : 3))
        #expect(await session.pinnedText(Self.url).refusal == .noMatchingPin)
    }

    @Test(
        "over a resumed TLS session passes where it answers no challenges, and is withheld where it may have answered one"
    )
    func overAResumedTLSSessionPassesWhereItAnswersNoChallenges() async throws {
        let (phone, _) = try Phone.bank()
        phone.network.settings.resumption = .withinSession
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await session.pinnedText(Self.url).value == Self.host)
        func resumed(with own: (any URLSessionTaskDelegate)?) async -> (any Error)? {
            await withCheckedContinuation { done in session.flush { done.resume() } }
            let task = session.dataTask(with: Self.url)
            task.delegate = own
            return await delegate.run(task).error
        }
        #expect(await resumed(with: nil) == nil)
        #expect(await resumed(with: ObservingDelegate()) == nil)
        // Said in docs/coverage.md: nothing tells it from one whose challenge that delegate answered.
        let refusal = await resumed(with: AnsweringDelegate()) as? PinningError
        #expect(refusal?.decision.reason == .otherHostConnection)
        #expect(await resumed(with: nil) == nil)
        await withCheckedContinuation { done in session.flush { done.resume() } }
        #expect(await session.pinnedText(Self.url).value == Self.host)
        #expect(phone.network.challenges.count == 1)
    }
}

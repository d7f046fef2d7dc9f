// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import PinListClient
import PinningURLSession
import Testing

@Suite("An app's own delegate behind the pinned one")
struct ForwardingTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)

    /// What a completion handler was called with.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Answers: @unchecked Sendable {
        private let lock = NSLock()
        private var kept: [String] = []
        var all: [String] { self.lock.withLock { self.kept } }
        func add(_ answer: Any?) { self.lock.withLock { self.kept.append(answer.map { "\($0)" } ?? "nil") } }
    }

    /// Calls every method of a delegate once.
    private func callAll(_ delegate: ForwardingSessionDelegate) throws -> Answers {
        let answers = Answers()
        let session = URLSession(configuration: .ephemeral)
        let data = session.dataTask(with: Self.url)
        let download = session.downloadTask(with: Self.url)
        let stream = session.streamTask(withHostName: Self.host, port: 443)
        let socket = session.webSocketTask(with: Self.url)
        let request = URLRequest(url: Self.url)
        let response = try #require(
            HTTPURLResponse(url: Self.url, statusCode: 200, httpVersion: nil, headerFields: nil))

        delegate.urlSession(session, didBecomeInvalidWithError: nil)
        delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        delegate.urlSession(session, didCreateTask: data)
        delegate.urlSession(session, task: data, willBeginDelayedRequest: request) { disposition, _ in
            answers.add(disposition == .continueLoading)
        }
        delegate.urlSession(session, taskIsWaitingForConnectivity: data)
        delegate.urlSession(session, task: data, willPerformHTTPRedirection: response, newRequest: request) {
            answers.add($0?.url)
        }
        delegate.urlSession(session, task: data, needNewBodyStream: { answers.add($0 != nil) })
        delegate.urlSession(session, task: data, needNewBodyStreamFrom: 7) { answers.add($0 != nil) }
        delegate.urlSession(
            session, task: data, didSendBodyData: 1, totalBytesSent: 2, totalBytesExpectedToSend: 3)
        delegate.urlSession(session, task: data, didReceiveInformationalResponse: response)
        delegate.urlSession(session, task: data, didCompleteWithError: nil)
        delegate.urlSession(session, dataTask: data, didReceive: response) { answers.add($0 == .allow) }
        delegate.urlSession(session, dataTask: data, didBecome: download)
        delegate.urlSession(session, dataTask: data, didBecome: stream)
        delegate.urlSession(session, dataTask: data, didReceive: Data())
        delegate.urlSession(
            session, dataTask: data, willCacheResponse: CachedURLResponse(response: response, data: Data())
        ) { answers.add($0 != nil) }
        delegate.urlSession(session, downloadTask: download, didFinishDownloadingTo: Self.url)
        delegate.urlSession(
            session, downloadTask: download, didWriteData: 1, totalBytesWritten: 2, totalBytesExpectedToWrite: 3)
        delegate.urlSession(session, downloadTask: download, didResumeAtOffset: 4, expectedTotalBytes: 5)
        delegate.urlSession(session, readClosedFor: stream)
        delegate.urlSession(session, writeClosedFor: stream)
        delegate.urlSession(session, betterRouteDiscoveredFor: stream)
        delegate.urlSession(
            session, streamTask: stream, didBecome: InputStream(data: Data()), outputStream: OutputStream.toMemory())
        delegate.urlSession(session, webSocketTask: socket, didOpenWithProtocol: "chat")
        delegate.urlSession(session, webSocketTask: socket, didCloseWith: .normalClosure, reason: nil)
        return answers
    }

    private static let names = [
        "invalid", "background events", "created", "delayed", "waiting", "redirect", "body", "body from 7",
        "sent 1 2 3", "informational", "complete", "response", "became download", "became stream", "data", "cache",
        "downloaded", "wrote 1 2 3", "resumed 4 5", "read closed", "write closed", "better route", "streams",
        "opened chat", "closed 1000",
    ]

    @Test("gets every call, and its answers count")
    func getsEveryCallAndItsAnswersCount() throws {
        let app = EveryMethod()
        let answers = try self.callAll(ForwardingSessionDelegate(forwardingTo: app))
        #expect(app.called == Self.names)
        #expect(answers.all == ["false", "nil", "true", "true", "false", "false"])
    }

    @Test("gets every call behind the one that pins, for a host that is not pinned")
    func getsEveryCallBehindTheOneThatPinsForAHostThatIsNotPinned() throws {
        let app = EveryMethod()
        let (phone, _) = try Phone.bank("other.example.com")
        let answers = try self.callAll(PinnedSessionDelegate(by: phone.pinning, forwardingTo: app))
        #expect(app.called == Self.names)
        #expect(answers.all == ["false", "nil", "true", "true", "false", "false"])
    }

    @Test("that is not there is what the system does without one")
    func thatIsNotThereIsWhatTheSystemDoesWithoutOne() throws {
        let answers = try self.callAll(ForwardingSessionDelegate(forwardingTo: nil))
        #expect(answers.all == ["true", Self.url.absoluteString, "false", "false", "true", "true"])
    }

    @Test("is asked for passwords and certificates, by the method that URLSession would have asked")
    func isAskedForPasswordsAndCertificatesByTheMethodThatURLSessionWouldHaveAsked() async throws {
        let (phone, pki) = try Phone.bank()
        phone.serve(
            Self.host, pki.chain, challenges: [.serverTrust, .clientCertificate, .httpBasic(realm: "bank")])
        phone.network.setAnswer(.text("who?", status: 401), for: Self.url.absoluteString)
        let app = EveryMethod()
        _ = await phone.session(delegate: app).text(Self.url)
        #expect(
            app.called.filter { $0.hasPrefix("challenge") } == ["challenge of the session", "challenge of the task"])
        #expect(
            phone.network.challenges.map(\.disposition) == [
                .performDefaultHandling, .useCredential, .rejectProtectionSpace,
            ])
    }

    @Test("sees a task on its way as without pinning: the same calls in the same order")
    func seesATaskOnItsWayAsWithoutPinningTheSameCallsInTheSameOrder() async throws {
        let (phone, _) = try Phone.bank()
        let pinned = EveryMethod()
        let plain = EveryMethod()
        for (app, session) in [
            (pinned, phone.session(delegate: pinned)),
            (plain, URLSession(configuration: phone.configuration, delegate: plain, delegateQueue: nil)),
        ] {
            _ = await session.text(Self.url)
            _ = try? await session.upload(for: URLRequest(url: Self.url), from: Data("body".utf8))
            #expect(app.called.contains("metrics"))
        }
        // Without pinning it is asked for the server's trust, too, which is ours to answer.
        #expect(plain.called.filter { $0 != "challenge of the session" } == pinned.called)
    }

    @Test("may be a subclass of the pinned one")
    func mayBeASubclassOfThePinnedOne() async throws {
        // because it adds nothing that changes but what has its own lock
        final class Own: PinnedSessionDelegate, @unchecked Sendable {
            let seen = Answers()
            override func urlSession(
                _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
            ) {
                self.seen.add(metrics.transactionMetrics.count)
                super.urlSession(session, task: task, didFinishCollecting: metrics)
            }
        }
        let (phone, _) = try Phone.bank()
        let own = Own(by: phone.pinning)
        let session = URLSession(configuration: phone.configuration, delegate: own, delegateQueue: nil)
        #expect(await session.text(Self.url).value == Self.host)
        #expect(own.seen.all == ["1"])
    }
}

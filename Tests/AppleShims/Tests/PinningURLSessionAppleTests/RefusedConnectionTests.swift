// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

@Suite("A connection that is refused after it was opened")
struct RefusedConnectionTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)

    private func refusal(of task: URLSessionTask, in session: URLSession) -> PinningDecision.Reason? {
        (session.delegate as? PinnedSessionDelegate)?.refusal(of: task)?.decision.reason
    }

    // MARK: Locked out

    @Test("is used again under a list that allows it again, though its TLS is resumed without a challenge")
    func isUsedAgainUnderAListThatAllowsItAgainThoughItsTLSIsResumedWithoutAChallenge() async throws {
        let (phone, pki) = try Phone.bank()
        phone.network.settings.resumption = .withinSession
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        let (strange, right) = (Phone.strangePin, try pki.leaf.pin)
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        #expect(await delegate.run(session.dataTask(with: Self.url)).error is PinningError)
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(right)] }
        for _ in 0..<2 {
            #expect(await delegate.run(session.dataTask(with: Self.url)).data == Data(Self.host.utf8))
        }
        #expect(phone.network.challenges.count == 1)
    }

    @Test(
        "is no reason to end a WebSocket that is made when the suspension is found to be over, and has no connection yet"
    )
    func isNoReasonToEndAWebSocketThatIsMadeWhenTheSuspensionIsFoundToBeOver() async throws {
        let (ours, theirs) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let end = Timestamp(secondsSince1970: TestPKI.now + 3_600)
        let phone = try Phone(
            [Phone.entry(Self.host, [ours.leaf.pin])], trusting: [ours.root, theirs.root], isAsleep: true
        ) { $0.suspended = [Suspension(.everything, until: end, reason: "incident 4711")] }
        phone.serve(Self.host, theirs.chain)
        let session = phone.session()
        #expect(await session.text(Self.url).value == Self.host)
        phone.clock.now = end
        phone.serve(Self.host, ours.chain)
        let socket = session.webSocketTask(with: Phone.url(Self.host, scheme: "wss"))
        socket.resume()
        try await socket.send(.string("hello"))
        #expect(self.refusal(of: socket, in: session) == nil)
        socket.cancel(with: .normalClosure, reason: nil)
    }

    @Test(
        "leaves a response that had begun alone, where it is allowed again within half a minute",
        .timeLimit(.minutes(20)))
    func leavesAResponseThatHadBegunAloneWhereItIsAllowedAgainWithinHalfAMinute() async throws {
        let (pki, last) = (try TestPKI([Self.host]), try TestPKI(["last.example.com"]))
        let phone = try Phone([Phone.entry(Self.host, [pki.leaf.pin])], trusting: [pki.root, last.root])
        phone.serve(Self.host, pki.chain)
        phone.serve("last.example.com", last.chain)
        let delegate = WaitingDelegate()
        let session = phone.session(delegate: delegate)
        let task = session.dataTask(with: Self.url)
        task.resume()
        let goOn = await delegate.begun()
        let (strange, right, stolen) = (Phone.strangePin, try pki.leaf.pin, DeniedKey(try last.leaf.pin))
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        await phone.clock.untilSleeping()
        let slow = try #require(URL(string: "https://last.example.com/slow"))
        phone.network.hold(slow.absoluteString)
        let watched = Task { await session.text(slow) }
        await phone.network.held(slow.absoluteString)
        try await phone.publish { list in
            list.domains[0].entry.pins = [KnownPin(right)]
            list.denied = [stolen]
        }
        // It ends when all connections were evaluated.
        #expect(await watched.value.value == nil)
        phone.clock.advance(by: 30)
        for _ in 0..<1_000 { await Task.yield() }
        #expect(self.refusal(of: task, in: session) == nil)
        goOn(.allow)
    }

    // MARK: Let in

    @Test(
        "is not forgotten for an older one that is allowed: what is resumed may be the one that its server showed last")
    func isNotForgottenForAnOlderOneThatIsAllowed() async throws {
        let (old, new) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let phone = try Phone([Phone.entry(Self.host, [old.leaf.pin])], trusting: [old.root, new.root])
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        phone.serve(Self.host, old.chain)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        let (first, second) = (try old.leaf.pin, try new.leaf.pin)
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(second)] }
        #expect(await delegate.run(session.dataTask(with: Self.url)).error is PinningError)
        phone.serve(Self.host, new.chain)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(first)] }
        phone.network.settings.resumption = .withinSession
        #expect(await delegate.run(session.dataTask(with: Self.url)).error is PinningError)
        #expect(await delegate.run(session.dataTask(with: Self.url)).data.isEmpty)
    }

    @Test("is known behind a proxy, where it resumed another session's TLS", .timeLimit(.minutes(20)))
    func isKnownBehindAProxyWhereItResumedAnotherSessionsTLS() async throws {
        let (phone, pki) = try Phone.bank()
        phone.serve(Self.host, pki.chain, isBehindProxy: true)
        let (first, second) = (phone.session(), phone.session())
        #expect(await first.text(Self.url).value == Self.host)
        phone.network.settings.resumption = .acrossSessions
        #expect(await second.text(Self.url).value == Self.host)
        #expect(phone.network.challenges.count == 1)
        phone.network.settings.resumption = .never
        let (strange, watched) = (Phone.strangePin, phone.pinning.events())
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        // Each session tells of it.
        var refusals = 0
        for await event in watched where event.kind == .validationFailed {
            refusals += 1
            if refusals == 2 { break }
        }
        #expect(await second.text(Self.url).value == nil)
        #expect(phone.network.requests(at: Self.host).count == 2)
    }

    @Test(
        "is not used again when its key is denied, behind a proxy that shows the ends of none, after its server has shown another key"
    )
    func isNotUsedAgainWhenItsKeyIsDeniedBehindAProxyAfterItsServerHasShownAnotherKey() async throws {
        let (old, new) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let phone = try Phone(
            [Phone.entry(Self.host, [old.leaf.pin, new.leaf.pin])], trusting: [old.root, new.root])
        phone.serve(Self.host, old.chain, version: "http/1.1", isBehindProxy: true)
        let session = phone.session()
        let slow = "https://\(Self.host)/slow"
        phone.network.setAnswer(.text("slow"), for: slow)
        phone.network.hold(slow)
        let url = try #require(URL(string: slow))
        let first = Task { await session.text(url) }
        await phone.network.held(slow)
        // The first connection is busy, so that a second one is opened, and known as the newest.
        phone.serve(Self.host, new.chain, version: "http/1.1", isBehindProxy: true)
        #expect(await session.text(Self.url).value == Self.host)
        phone.network.release(slow)
        #expect(await first.value.value == "slow")
        #expect(phone.network.handshakes(at: Self.host) == 2)
        let stolen = DeniedKey(try old.leaf.pin)
        try await phone.publish { list in list.denied = [stolen] }
        for _ in 0..<2 { _ = await session.text(Self.url) }
        #expect(phone.network.handshakes(at: Self.host) == 3)
    }

    @Test("is given up with its first response, where a list came into force between its decision and its connection")
    func isGivenUpWithItsFirstResponseWhereAListCameIntoForceBetweenItsDecisionAndItsConnection() async throws {
        let (pki, last) = (try TestPKI([Self.host]), try TestPKI(["last.example.com"]))
        let app = AskedOnce()
        let phone = try Phone(
            [Phone.entry(Self.host, [pki.leaf.pin])], trusting: [pki.root, last.root],
            runtimeEnvironment: { app.answer() })
        phone.serve(Self.host, pki.chain)
        phone.serve("last.example.com", last.chain)
        let session = phone.session()
        let slow = try #require(URL(string: "https://last.example.com/slow"))
        phone.network.hold(slow.absoluteString)
        let watched = Task { await session.text(slow) }
        await phone.network.held(slow.absoluteString)
        app.isNextHeld()
        let running = Task { await session.text(Self.url) }
        await app.isAsked()
        let (strange, stolen) = (Phone.strangePin, DeniedKey(try last.leaf.pin))
        try await phone.publish { list in
            list.domains[0].entry.pins = [KnownPin(strange)]
            list.denied = [stolen]
        }
        // It ends when all connections were evaluated, and this one is not among them yet.
        #expect(await watched.value.value == nil)
        app.goOn()
        _ = await running.value
        #expect(await session.text(Self.url).value == nil)
        #expect(phone.network.requests(at: Self.host).count == 1)
    }

    // MARK: What runs

    /// A device under a suspension that lets an interceptor in.
    private func suspended() throws -> (phone: Phone, end: Timestamp) {
        let theirs = try TestPKI([Self.host])
        let end = Timestamp(secondsSince1970: TestPKI.now + 3_600)
        let phone = try Phone(
            [Phone.entry(Self.host, [Phone.strangePin])], trusting: [theirs.root], isAsleep: false
        ) { $0.suspended = [Suspension(.everything, until: end, reason: "incident 4711")] }
        phone.serve(Self.host, theirs.chain)
        return (phone, end)
    }

    @Test("ends its WebSocket when the suspension is over that let it in", .timeLimit(.minutes(20)))
    func endsItsWebSocketWhenTheSuspensionIsOverThatLetItIn() async throws {
        let (phone, end) = try self.suspended()
        let session = phone.session()
        let socket = session.webSocketTask(with: Phone.url(Self.host, scheme: "wss"))
        socket.resume()
        try await socket.send(.string("hello"))
        await phone.clock.untilSleeping()
        phone.clock.now = end
        while self.refusal(of: socket, in: session) == nil { await Task.yield() }
        #expect(self.refusal(of: socket, in: session) == .noMatchingPin)
    }

    @Test("leaves its server's WebSocket alone that has a connection with a good key")
    func leavesItsServersWebSocketAloneThatHasAConnectionWithAGoodKey() async throws {
        let (old, new) = (try TestPKI([Self.host]), try TestPKI([Self.host]))
        let phone = try Phone(
            [Phone.entry(Self.host, [old.leaf.pin, new.leaf.pin])], trusting: [old.root, new.root])
        phone.serve(Self.host, old.chain, version: "http/1.1")
        let session = phone.session()
        let sockets = (0..<2).map { _ in session.webSocketTask(with: Phone.url(Self.host, scheme: "wss")) }
        sockets[0].resume()
        try await sockets[0].send(.string("hello"))
        phone.serve(Self.host, new.chain, version: "http/1.1")
        sockets[1].resume()
        try await sockets[1].send(.string("hello"))
        let pin = try new.leaf.pin
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(pin)] }
        while self.refusal(of: sockets[0], in: session) == nil { await Task.yield() }
        #expect(self.refusal(of: sockets[1], in: session) == nil)
        try await sockets[1].send(.string("still here"))
        sockets[1].cancel(with: .normalClosure, reason: nil)
    }

    @Test("ends a request whose response had begun, after half a minute", .timeLimit(.minutes(20)))
    func endsARequestWhoseResponseHadBegunAfterHalfAMinute() async throws {
        let (phone, end) = try self.suspended()
        let delegate = WaitingDelegate()
        let session = phone.session(delegate: delegate)
        let task = session.dataTask(with: Self.url)
        task.resume()
        let goOn = await delegate.begun()
        await phone.clock.untilSleeping()
        phone.clock.now = end
        // What sleeps is its half minute.
        await phone.clock.untilSleeping()
        #expect(self.refusal(of: task, in: session) == nil)
        phone.clock.advance(by: 30)
        while self.refusal(of: task, in: session) == nil { await Task.yield() }
        #expect(self.refusal(of: task, in: session) == .noMatchingPin)
        goOn(.allow)
    }
}

/// A delegate that keeps its answer to a response back.
///
/// `@unchecked Sendable`: because it has a stream and its end, which are.
private final class WaitingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Answer = @Sendable (URLSession.ResponseDisposition) -> Void
    private let (answers, arrivals) = AsyncStream.makeStream(of: Answer.self)

    func begun() async -> Answer {
        var answers = self.answers.makeAsyncIterator()
        return await answers.next() ?? { @Sendable _ in }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { self.arrivals.yield(completionHandler) }
}

/// An app that is asked of its process while a connection is evaluated, and answers once when it is told to.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class AskedOnce: @unchecked Sendable {
    private let (questions, arrivals) = AsyncStream.makeStream(of: Void.self)
    private let answered = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    private var isHeld = false

    func isNextHeld() { self.lock.withLock { self.isHeld = true } }

    func isAsked() async {
        var questions = self.questions.makeAsyncIterator()
        await questions.next()
    }

    func goOn() { self.answered.signal() }

    func answer() -> RuntimeEnvironment {
        let isHeld = self.lock.withLock {
            defer { self.isHeld = false }
            return self.isHeld
        }
        guard isHeld else { return RuntimeEnvironment() }
        self.arrivals.yield()
        // The limit is met by a hang alone.
        _ = self.answered.wait(timeout: .now() + 600)
        return RuntimeEnvironment()
    }
}

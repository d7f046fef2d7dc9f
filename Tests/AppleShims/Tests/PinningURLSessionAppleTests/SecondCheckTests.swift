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
import Security
import Testing

@Suite("A response, before it is handed over")
struct SecondCheckTests {
    private static let pinned = "api.example.com"
    private static let other = "www.example.com"
    private static let url = Phone.url(pinned)

    /// A device with a pinned host, and another one whose certificate is for both, over whose connection HTTP/2 sends
    /// requests for the pinned one.
    private func coalescing(
        pinsOf host: (TestPKI) throws -> [Pin], certificateFor hosts: [String] = [pinned, other],
        reportSender: any ReportSender = NoNetwork()
    ) async throws -> (phone: Phone, delegate: RecordingDelegate, session: URLSession) {
        let pki = try TestPKI(hosts)
        let phone = try Phone(
            [
                Phone.entry(Self.pinned, try host(pki), reportTo: ["https://reports.example.com/"])
            ], trusting: [pki.root], reportSender: reportSender)
        phone.serve(Self.other, pki.chain)
        phone.serve(Self.pinned, try TestPKI([Self.pinned]).chain)
        phone.network.coalesce(Self.pinned, onto: Self.other)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).data == Data(Self.other.utf8))
        return (phone, delegate, session)
    }

    @Test("over another host's connection passes when that connection's path satisfies the pins")
    func overAnotherHostsConnectionPassesWhenThatConnectionsPathSatisfiesThePins() async throws {
        let (phone, delegate, session) = try await self.coalescing { [try $0.leaf.pin] }
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect(outcome.data == Data(Self.pinned.utf8))
        #expect(outcome.error == nil)
        // There was no challenge for it, and the request went to the other host's server.
        #expect(phone.network.challenges.map(\.host) == [Self.other])
        #expect(await session.pinnedText(Self.url).value == Self.pinned)
    }

    @Test("over another host's connection is withheld and reported when it does not")
    func overAnotherHostsConnectionIsWithheldAndReportedWhenItDoesNot() async throws {
        let collector = SimulatedCollector()
        let (phone, delegate, session) = try await self.coalescing(
            pinsOf: { _ in [Phone.strangePin] }, reportSender: collector)
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        let refusal = try #require(outcome.error as? PinningError)
        #expect(refusal.decision.reason == .otherHostConnection)
        #expect(refusal.decision.detail == "the connection that answered was evaluated for \(Self.other)")
        #expect(outcome.response == nil)
        #expect(outcome.data.isEmpty)
        // What was refused is given up: the other host opens a new connection, and the next request goes over that.
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        #expect(await session.pinnedText(Self.url).refusal == .otherHostConnection)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        let download = await delegate.run(session.downloadTask(with: Self.url))
        #expect(download.file == nil)
        #expect((download.error as? PinningError)?.decision.reason == .otherHostConnection)
        // What the documentation says: the requests had been sent by then.
        #expect(phone.network.requests(at: Self.other).count == 6)
        let running = Task { await phone.pinning.run() }
        await collector.untilArrived(count: 1)
        running.cancel()
        let text = String(decoding: try #require(collector.arrivals.first).body, as: UTF8.self)
        #expect(text.contains("\"other-host-connection\""))
    }

    @Test("over a connection whose certificate is not for the host at all is withheld, with any pins")
    func overAConnectionWhoseCertificateIsNotForTheHostAtAllIsWithheldWithAnyPins() async throws {
        let (_, delegate, session) = try await self.coalescing(
            pinsOf: { [try $0.leaf.pin] }, certificateFor: [Self.other])
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        #expect(outcome.data.isEmpty)
    }

    @Test("is evaluated at its end, too: a host with a connection of its own gets a response over another's")
    func isEvaluatedAtItsEndTooAHostWithAConnectionOfItsOwnGetsAResponseOverAnothers() async throws {
        let wide = try TestPKI([Self.pinned, Self.other])
        let narrow = try TestPKI([Self.pinned])
        let phone = try Phone(
            [Phone.entry(Self.pinned, [narrow.leaf.pin])], trusting: [wide.root, narrow.root])
        phone.serve(Self.other, wide.chain)
        phone.serve(Self.pinned, narrow.chain, version: "http/1.1")
        phone.network.coalesce(Self.pinned, onto: Self.other)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        // Its own connection is busy with a request, so the next one goes over the other host's.
        let slow = URL(string: "https://\(Self.pinned)/slow") ?? Self.url
        phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
        phone.network.hold(slow.absoluteString)
        async let first = session.pinnedText(slow)
        await phone.network.held(slow.absoluteString)
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        #expect(await session.pinnedText(Self.url).refusal == .otherHostConnection)
        // `data(for:)` has delivered it; the caller can ask, and it is reported.
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        #expect(await session.text(Self.url).value == Self.pinned)
        #expect(phone.pinning.decisionCounts[.otherHostConnection] == 3)
        phone.network.release(slow.absoluteString)
        #expect(await first.value == "slow")
    }

    /// A device whose pinned host has a connection of its own, of HTTP/1.1, that is busy, so that its next request goes
    /// over the other host's.
    private func busy(
        _ pins: [Pin], _ own: [TestCertificate], other: [TestCertificate], trusting roots: [TestCertificate]
    ) async throws -> (phone: Phone, delegate: RecordingDelegate, session: URLSession, slow: Task<String?, Never>) {
        let phone = try Phone([Phone.entry(Self.pinned, pins)], trusting: roots)
        phone.serve(Self.other, other)
        phone.serve(Self.pinned, own, version: "http/1.1")
        phone.network.coalesce(Self.pinned, onto: Self.other)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        // Idle connections are given up; both hosts are evaluated, and the other's first connection is known.
        await withCheckedContinuation { done in session.flush { done.resume() } }
        let slow = self.slow(Self.pinned, phone)
        let running = Task { await session.pinnedText(slow).value }
        await phone.network.held(slow.absoluteString)
        return (phone, delegate, session, running)
    }

    /// An address whose answer is held back.
    private func slow(_ host: String, _ phone: Phone) -> URL {
        let slow = URL(string: "https://\(host)/slow") ?? Self.url
        phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
        phone.network.hold(slow.absoluteString)
        return slow
    }

    @Test("over a connection whose certificate is not for the host is withheld, though its path has the pinned root")
    func overAConnectionWhoseCertificateIsNotForTheHostIsWithheld() async throws {
        let pki = try TestPKI([Self.pinned])
        let leaf = try TestPKI.leaf([Self.other], by: pki.intermediate)
        let (phone, delegate, session, slow) = try await self.busy(
            [pki.root.pin], pki.chain, other: [leaf, pki.intermediate], trusting: [pki.root])
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        phone.network.release("https://\(Self.pinned)/slow")
        #expect(await slow.value == "slow")
    }

    @Test("over a connection that another host is just opening is withheld, though an older one of it is known")
    func overAConnectionThatAnotherHostIsJustOpeningIsWithheld() async throws {
        let wide = try TestPKI([Self.pinned, Self.other])
        let narrow = try TestPKI([Self.pinned])
        let (phone, delegate, session, slow) = try await self.busy(
            [narrow.leaf.pin], narrow.chain, other: wide.chain, trusting: [wide.root, narrow.root])
        let opening = self.slow(Self.other, phone)
        let running = Task { await session.pinnedText(opening).value }
        await phone.network.held(opening.absoluteString)
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        for host in [Self.pinned, Self.other] { phone.network.release("https://\(host)/slow") }
        #expect(await slow.value == "slow")
        #expect(await running.value == "slow")
    }

    @Test(
        "over a connection whose first request was reset is withheld, though an older one of its host is known",
        arguments: [true, false])
    func overAConnectionWhoseFirstRequestWasResetIsWithheld(showsItsEnds: Bool) async throws {
        let wide = try TestPKI([Self.pinned, Self.other])
        let narrow = try TestPKI([Self.pinned])
        let (phone, delegate, session, slow) = try await self.busy(
            [narrow.leaf.pin], narrow.chain, other: wide.chain, trusting: [wide.root, narrow.root])
        var reset = SimulatedNetwork.Answer()
        reset.failure = .networkConnectionLost
        phone.network.setAnswer(reset, for: Phone.url(Self.other).absoluteString)
        phone.network.settings.reportsEndpoints = showsItsEnds
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error != nil)
        phone.network.settings.reportsEndpoints = true
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        phone.network.release("https://\(Self.pinned)/slow")
        #expect(await slow.value == "slow")
    }

    @Test("is evaluated by the path of its own connection, though another one of that host has a good one")
    func isEvaluatedByThePathOfItsOwnConnection() async throws {
        let (good, wide) = (try TestPKI([Self.pinned, Self.other]), try TestPKI([Self.pinned, Self.other]))
        let phone = try Phone([Phone.entry(Self.pinned, [good.leaf.pin])], trusting: [good.root, wide.root])
        phone.serve(Self.other, wide.chain, version: "http/1.1")
        phone.serve(Self.pinned, good.chain, version: "http/1.1")
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        phone.network.coalesce(Self.pinned, onto: Self.other)
        func occupy(_ address: String) async -> Task<String?, Never> {
            phone.network.setAnswer(.text("slow"), for: address)
            phone.network.hold(address)
            let running = Task { await session.pinnedText(URL(string: address) ?? Self.url).value }
            await phone.network.held(address)
            return running
        }
        // The interceptor's connection, which stays open beside a good one.
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        let first = await occupy("https://\(Self.other)/first")
        phone.serve(Self.other, good.chain, version: "http/1.1")
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        let second = await occupy("https://\(Self.other)/second")
        phone.network.release("https://\(Self.other)/first")
        #expect(await first.value == "slow")
        let own = await occupy("https://\(Self.pinned)/slow")
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        for host in ["\(Self.other)/second", "\(Self.pinned)/slow"] { phone.network.release("https://\(host)") }
        #expect(await [second.value, own.value] == ["slow", "slow"])
    }

    @Test("that is withheld stays so, with all that the system still brings of it")
    func thatIsWithheldStaysSoWithAllThatTheSystemStillBringsOfIt() throws {
        let (phone, _) = try Phone.bank()
        let app = EveryMethod()
        let delegate = PinnedSessionDelegate(by: phone.pinning, forwardingTo: app)
        let session = URLSession(configuration: phone.configuration)
        let task = session.dataTask(with: Self.url)
        let response = try #require(
            HTTPURLResponse(url: Self.url, statusCode: 200, httpVersion: nil, headerFields: nil))
        // No challenge came for this host in this session.
        delegate.urlSession(session, dataTask: task, didReceive: response) { #expect($0 == .cancel) }
        delegate.urlSession(session, dataTask: task, didReceive: Data("secret".utf8))
        let proposed = CachedURLResponse(response: response, data: Data("secret".utf8))
        delegate.urlSession(session, dataTask: task, willCacheResponse: proposed) { #expect($0 == nil) }
        #expect(app.called.isEmpty)
        #expect(delegate.refusal(of: task)?.decision.reason == .otherHostConnection)
    }

    @Test("over a connection that is still being opened by its own host is not mistaken for another's")
    func overAConnectionThatIsStillBeingOpenedByItsOwnHostIsNotMistakenForAnothers() async throws {
        let wide = try TestPKI([Self.pinned, Self.other])
        let narrow = try TestPKI([Self.pinned])
        let phone = try Phone(
            [Phone.entry(Self.pinned, [narrow.leaf.pin])], trusting: [wide.root, narrow.root])
        phone.serve(Self.other, wide.chain)
        phone.serve(Self.pinned, narrow.chain)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        let slow = URL(string: "https://\(Self.pinned)/slow") ?? Self.url
        phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
        phone.network.hold(slow.absoluteString)
        async let first = session.pinnedText(slow)
        await phone.network.held(slow.absoluteString)
        // The first request opened the connection and has not ended: its ends are not known yet.
        #expect(await delegate.run(session.dataTask(with: Self.url)).data == Data(Self.pinned.utf8))
        #expect(await session.pinnedText(Self.url).value == Self.pinned)
        phone.network.release(slow.absoluteString)
        #expect(await first.value == "slow")
    }

    @Test(
        "of a resumed TLS session that was never evaluated is withheld; evaluated in a session of the same client, it passes"
    )
    func ofAResumedTLSSessionThatWasNeverEvaluatedIsWithheld() async throws {
        let (phone, _) = try Phone.bank()
        phone.network.settings.resumption = .acrossSessions
        // A session that is not pinned connected first, in the same process.
        let control = URLSession(configuration: phone.configuration)
        #expect(await control.text(Self.url).value == Self.pinned)
        let delegate = RecordingDelegate()
        let resumed = phone.session(delegate: delegate)
        let outcome = await delegate.run(resumed.dataTask(with: Self.url))
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        #expect(outcome.data.isEmpty)

        phone.network.settings.resumption = .never
        let evaluated = phone.session(delegate: delegate)
        #expect(await delegate.run(evaluated.dataTask(with: Self.url)).error == nil)
        phone.network.settings.resumption = .withinSession
        await withCheckedContinuation { done in evaluated.flush { done.resume() } }
        #expect(await delegate.run(evaluated.dataTask(with: Self.url)).data == Data(Self.pinned.utf8))
        #expect(phone.network.challenges.count == 2)

        // Another session of the same client knows what was evaluated in the first.
        phone.network.settings.resumption = .acrossSessions
        let follower = RecordingDelegate()
        let another = phone.session(delegate: follower)
        #expect(await follower.run(another.dataTask(with: Self.url)).data == Data(Self.pinned.utf8))
        #expect(await another.pinnedText(Self.url).value == Self.pinned)
        #expect(phone.network.challenges.count == 2)
        let strange = Phone.strangePin
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        #expect(await phone.session().pinnedText(Self.url).refusal != nil)
    }

    @Test("of a host that is not pinned passes, resumed or not")
    func ofAHostThatIsNotPinnedPassesResumedOrNot() async throws {
        let pki = try TestPKI([Self.other])
        let phone = try Phone([Phone.entry(Self.pinned, [Phone.strangePin])], trusting: [pki.root])
        phone.serve(Self.other, pki.chain)
        phone.network.settings.resumption = .acrossSessions
        _ = await URLSession(configuration: phone.configuration).text(Phone.url(Self.other))
        let delegate = RecordingDelegate()
        let outcome = await delegate.run(phone.session(delegate: delegate).dataTask(with: Phone.url(Self.other)))
        #expect(outcome.data == Data(Self.other.utf8))
    }

    @Test(
        "of a connection whose ends the metrics do not show is evaluated by all that it may be",
        arguments: [true, false])
    func ofAConnectionWhoseEndsTheMetricsDoNotShowIsEvaluatedByAllThatItMayBe(isGood: Bool) async throws {
        let wide = try TestPKI([Self.pinned, Self.other])
        let phone = try Phone(
            [Phone.entry(Self.pinned, isGood ? [wide.leaf.pin] : [Phone.strangePin])], trusting: [wide.root])
        phone.network.settings.reportsEndpoints = false
        phone.serve(Self.other, wide.chain)
        phone.serve(Self.pinned, wide.chain)
        phone.network.coalesce(Self.pinned, onto: Self.other)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
        let outcome = await delegate.run(session.dataTask(with: Self.url))
        #expect(outcome.data == (isGood ? Data(Self.pinned.utf8) : Data()))
        #expect((outcome.error == nil) == isGood)
    }

    @Test("that a task's own delegate let through is withheld")
    func thatATasksOwnDelegateLetThroughIsWithheld() async throws {
        final class Careless: NSObject, URLSessionTaskDelegate, Sendable {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                completionHandler(
                    .useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
            }
        }
        let (phone, _) = try Phone.bank()
        phone.serve(Self.pinned, try TestPKI([Self.pinned]).chain)
        phone.network.settings.asksTaskDelegateFirst = true
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        let task = session.dataTask(with: Self.url)
        task.delegate = Careless()
        _ = await delegate.run(task)
        #expect(
            (session.delegate as? PinnedSessionDelegate)?.refusal(of: task)?.decision.reason == .otherHostConnection)
        // Said in docs/coverage.md: the request had left.
        #expect(phone.network.requests(at: Self.pinned).count == 1)
    }

    @Test("on connections that are open when rules come into force is evaluated by the new ones")
    func onConnectionsThatAreOpenWhenRulesComeIntoForceIsEvaluatedByTheNewOnes() async throws {
        let (phone, pki) = try Phone.bank()
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil)
        let slow = URL(string: "https://\(Self.pinned)/slow") ?? Self.url
        phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
        phone.network.hold(slow.absoluteString)
        async let running = delegate.run(session.dataTask(with: slow))
        await phone.network.held(slow.absoluteString)
        let strange = Phone.strangePin
        try await phone.publish { list in
            for index in list.domains.indices { list.domains[index].entry.pins = [KnownPin(strange)] }
        }
        phone.network.release(slow.absoluteString)
        let outcome = await running
        #expect(outcome.error is PinningError)
        #expect(outcome.data.isEmpty)
        #expect(await session.pinnedText(Self.url).refusal != nil)
        _ = pki
    }

    @Test("that arrived while rules came into force is kept out of the cache by them")
    func thatArrivedWhileRulesCameIntoForceIsKeptOutOfTheCacheByThem() async throws {
        let (phone, _) = try Phone.bank()
        let session = phone.session()
        let delegate = try #require(session.delegate as? PinnedSessionDelegate)
        let task = session.dataTask(with: Self.url)
        let response = try #require(
            HTTPURLResponse(url: Self.url, statusCode: 200, httpVersion: nil, headerFields: nil))
        func isCached() async -> Bool {
            await withCheckedContinuation { done in
                delegate.urlSession(
                    session, dataTask: task, willCacheResponse: CachedURLResponse(response: response, data: Data())
                ) { done.resume(returning: $0 != nil) }
            }
        }
        #expect(await session.text(Self.url).value == Self.pinned)
        #expect(await isCached())
        let strange = Phone.strangePin
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        #expect(!(await isCached()))
        #expect(delegate.refusal(of: task) != nil)
    }

    @Test("is missing in a session without the delegate: pinnedData says what to do")
    func isMissingInASessionWithoutTheDelegatePinnedDataSaysWhatToDo() async throws {
        let (phone, _) = try Phone.bank()
        let session = URLSession(configuration: phone.configuration)
        let error = await session.pinnedText(Self.url).error as? PinningSetupError
        #expect(error?.code == .configuration)
        #expect(phone.network.bytes(at: Self.pinned) == 0)
    }
}

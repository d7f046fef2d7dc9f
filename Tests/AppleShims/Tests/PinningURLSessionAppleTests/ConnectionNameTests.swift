// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
@_spi(Adapters) import PinListClient
import PinListMetadata
import PinningTesting
import Security
import Testing

@testable import PinningURLSession

@Suite("A connection, by what the metrics show of it")
struct ConnectionNameTests {
    private static let pinned = "api.example.com"
    private static let other = "www.example.com"
    private static let url = Phone.url(pinned)

    /// A device with a pinned host, of HTTP/1.1, and another one whose certificate is for both.
    private struct Busy {
        let phone: Phone
        let delegate = RecordingDelegate()
        let session: URLSession
        let wide: TestPKI

        init(isBehindProxy: Bool = false, _ change: (inout SimulatedNetwork.Settings) -> Void) async throws {
            let wide = try TestPKI([pinned, other])
            let narrow = try TestPKI([pinned])
            self.wide = wide
            self.phone = try Phone(
                [Phone.entry(pinned, [narrow.leaf.pin])], trusting: [wide.root, narrow.root])
            change(&self.phone.network.settings)
            self.phone.serve(other, wide.chain, isBehindProxy: isBehindProxy)
            self.phone.serve(pinned, narrow.chain, version: "http/1.1", isBehindProxy: isBehindProxy)
            self.session = self.phone.session(delegate: self.delegate)
        }

        /// Asks for something whose answer is held back.
        func ask(_ host: String) async -> Task<String?, Never> {
            let slow = URL(string: "https://\(host)/slow") ?? url
            self.phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
            self.phone.network.hold(slow.absoluteString)
            let session = self.session
            let running = Task { await session.pinnedText(slow).value }
            await self.phone.network.held(slow.absoluteString)
            return running
        }

        /// Keeps the pinned host's own connection busy, so that its next request goes over the other host's.
        func occupy() async -> Task<String?, Never> {
            self.phone.network.coalesce(pinned, onto: other)
            return await self.ask(pinned)
        }

        func get(_ host: String) async -> RecordingDelegate.Outcome {
            await self.delegate.run(self.session.dataTask(with: Phone.url(host)))
        }

        func release() {
            for host in [pinned, other] { self.phone.network.release("https://\(host)/slow") }
        }
    }

    @Test("whose two ends a relay gives to several servers is none of theirs: another's response is withheld")
    func whoseTwoEndsARelayGivesToSeveralServersIsNoneOfTheirs() async throws {
        let busy = try await Busy { $0.isRelayed = true }
        #expect(await busy.get(Self.other).error == nil)
        #expect(await busy.get(Self.pinned).error == nil)
        let slow = await busy.occupy()
        let outcome = await busy.get(Self.pinned)
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        busy.release()
        _ = await slow.value
    }

    @Test("behind a relay refuses no server whose certificates are for one host each")
    func behindARelayRefusesNoServerWhoseCertificatesAreForOneHostEach() async throws {
        let pki = try TestPKI([Self.pinned])
        let second = try TestPKI([Self.other])
        let phone = try Phone([Phone.entry(Self.pinned, [pki.leaf.pin])], trusting: [pki.root, second.root])
        phone.network.settings.isRelayed = true
        phone.serve(Self.pinned, pki.chain)
        phone.serve(Self.other, second.chain)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        for host in [Self.pinned, Self.other, Self.pinned, Self.other] {
            #expect(await delegate.run(session.dataTask(with: Phone.url(host))).error == nil)
            #expect(await session.pinnedText(Phone.url(host)).value == host)
        }
    }

    @Test("of a proxy is named by nothing: the ends are the proxy's, with any server behind it")
    func ofAProxyIsNamedByNothingTheEndsAreTheProxysWithAnyServerBehindIt() async throws {
        let busy = try await Busy(isBehindProxy: true) { $0.isRelayed = true }
        // The pinned host has a connection, and the other one opens one that nothing is known of yet.
        #expect(await busy.get(Self.pinned).error == nil)
        let opening = await busy.ask(Self.other)
        let slow = await busy.occupy()
        let outcome = await busy.get(Self.pinned)
        #expect((outcome.error as? PinningError)?.decision.reason == .otherHostConnection)
        busy.release()
        _ = await slow.value
        _ = await opening.value
    }

    @Test("behind a proxy costs the system one question for each different path, with any number of servers")
    func behindAProxyCostsTheSystemOneQuestionForEachDifferentPath() async throws {
        let hosts = (0..<40).map { "h\($0).example.com" }
        let (shared, narrow) = (try TestPKI(hosts), try TestPKI([Self.pinned]))
        let phone = try Phone([Phone.entry(Self.pinned, [narrow.leaf.pin])], trusting: [shared.root, narrow.root])
        for host in hosts { phone.serve(host, shared.chain, isBehindProxy: true) }
        phone.serve(Self.pinned, narrow.chain, isBehindProxy: true)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        for host in hosts { #expect(await delegate.run(session.dataTask(with: Phone.url(host))).error == nil) }
        let before = SimulatedSystem.evaluations(ofLeaf: shared.leaf.der)
        for _ in 0..<10 { #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil) }
        #expect(SimulatedSystem.evaluations(ofLeaf: shared.leaf.der) == before + 1)
        // Under other rules it is asked once more.
        let strange = Phone.strangePin
        try await phone.publish { list in list.domains[0].entry.pins.append(KnownPin(strange)) }
        for _ in 0..<10 { #expect(await delegate.run(session.dataTask(with: Self.url)).error == nil) }
        #expect(SimulatedSystem.evaluations(ofLeaf: shared.leaf.der) == before + 2)
    }

    @Test("is a possible one again a minute after the system said no to its path; a yes holds for an hour")
    func isAPossibleOneAgainAMinuteAfterTheSystemSaidNoToItsPath() async throws {
        let busy = try await Busy(isBehindProxy: true) { $0.isRelayed = true }
        let leaf = busy.wide.leaf.der
        #expect(await busy.get(Self.pinned).error == nil)
        let opening = await busy.ask(Self.other)
        let slow = await busy.occupy()
        /// How often the system is asked for the next response, and why that is refused.
        func next(after seconds: Int64) async -> (questions: Int, refusal: PinningDecision.Reason?) {
            busy.phone.clock.advance(by: seconds)
            let before = SimulatedSystem.evaluations(ofLeaf: leaf)
            let error = await busy.get(Self.pinned).error as? PinningError
            return (SimulatedSystem.evaluations(ofLeaf: leaf) - before, error?.decision.reason)
        }
        SimulatedSystem.setTime(Date(timeIntervalSince1970: 0), forLeaf: leaf)
        let no = await next(after: 0)
        #expect(no.questions == 1)
        #expect(no.refusal == nil)
        SimulatedSystem.setTime(Date(), forLeaf: leaf)
        let kept = await next(after: 59)
        #expect(kept.questions == 0)
        #expect(kept.refusal == nil)
        // The last one goes back: nothing is kept of a time that is still to come.
        for (seconds, questions) in [(1, 1), (3_599, 0), (1, 1), (-1, 1)] {
            let next = await next(after: Int64(seconds))
            #expect(next.questions == questions)
            #expect(next.refusal == .otherHostConnection)
        }
        busy.release()
        _ = await slow.value
        _ = await opening.value
    }

    @Test("whose response was withheld has left it in no cache: the next request does not get it there")
    func whoseResponseWasWithheldHasLeftItInNoCache() async throws {
        let busy = try await Busy { _ in }
        #expect(await busy.get(Self.other).error == nil)
        #expect(await busy.get(Self.pinned).error == nil)
        let slow = await busy.occupy()
        busy.phone.network.setAnswer(
            SimulatedNetwork.Answer(headers: ["Cache-Control": "max-age=60"], chunks: [Data("theirs".utf8)]),
            for: Self.url.absoluteString)
        // What was refused is given up: the other host opens a new connection, and the next request goes over that.
        for isPlain in [false, false, true, false] {
            if isPlain {
                #expect((await busy.get(Self.pinned)).error is PinningError)
            } else {
                #expect(await busy.session.pinnedText(Self.url).refusal == .otherHostConnection)
            }
            #expect(await busy.get(Self.other).error == nil)
        }
        busy.release()
        #expect(await slow.value == "slow")
    }

    @Test(
        "is evaluated unless the response came from the cache of this device",
        arguments: [
            (URLSessionTaskMetrics.ResourceFetchType.unknown, true), (.networkLoad, true), (.serverPush, true),
            (.localCache, false),
        ])
    func isEvaluatedUnlessTheResponseCameFromTheCacheOfThisDevice(
        _ type: URLSessionTaskMetrics.ResourceFetchType, isEvaluated: Bool
    ) async throws {
        let busy = try await Busy { _ in }
        #expect(await busy.get(Self.other).error == nil)
        #expect(await busy.get(Self.pinned).error == nil)
        let slow = await busy.occupy()
        busy.phone.network.settings.fetchType = type
        let outcome = await busy.get(Self.pinned)
        #expect(((outcome.error as? PinningError)?.decision.reason == .otherHostConnection) == isEvaluated)
        busy.release()
        _ = await slow.value
    }

    @Test("is forgotten as a name when another server's had it, and stays so")
    func isForgottenAsANameWhenAnotherServersHadItAndStaysSo() throws {
        let ledger = ConnectionLedger(shared: AllowedPaths())
        let first = ConnectionLedger.Server(host: try HostName(Self.pinned), port: 443)
        let second = ConnectionLedger.Server(host: try HostName(Self.other), port: 443)
        let ends = ConnectionLedger.Endpoint(local: "a 1", remote: "b 443")
        let task = ObjectIdentifier(NSObject())
        ledger.opened(ends, for: first, task: task)
        ledger.opened(ends, for: first, task: task)
        #expect(ledger.opener(of: ends)?.server == first)
        #expect(!ledger.isAmbiguous(ends))
        for server in [second, first, first] {
            ledger.opened(ends, for: server, task: task)
            #expect(ledger.opener(of: ends) == nil)
            #expect(ledger.isAmbiguous(ends))
        }
    }

    @Test("without a decision ends the process where the configuration says so")
    func withoutADecisionEndsTheProcessWhereTheConfigurationSaysSo() async throws {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pki = try TestPKI(["www.example.com"])
            let phone = try Phone(
                [Phone.entry("api.example.com", [Phone.strangePin])], trusting: [pki.root], stopsWithoutDecision: true)
            phone.serve("www.example.com", pki.chain)
            phone.serve("api.example.com", pki.chain)
            phone.network.coalesce("api.example.com", onto: "www.example.com")
            let session = phone.session()
            _ = await session.text(Phone.url("www.example.com"))
            _ = await session.pinnedText(Phone.url("api.example.com"))
        }
        let said = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("a connection that carries no decision"))
    }

    @Test("is not asked of a background session, which cannot say: pinnedData says what to do")
    func isNotAskedOfABackgroundSessionWhichCannotSayPinnedDataSaysWhatToDo() async throws {
        let (phone, _) = try Phone.bank(Self.pinned)
        let configuration = URLSessionConfiguration.background(withIdentifier: "background.pinned")
        configuration.simulatedNetwork = phone.network
        let session = URLSession.pinned(by: phone.pinning, configuration: configuration)
        let error = await session.pinnedText(Self.url).error as? PinningSetupError
        #expect(error?.code == .configuration)
        #expect(phone.network.bytes(at: Self.pinned) == 0)
    }
}

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

@Suite("The challenge of a connection")
struct ChallengeTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)

    @Test(
        "passes with the pin of the leaf, of the intermediate, and of the root that was not presented", arguments: 0..<3
    )
    func passesWithThePinOfTheLeafOfTheIntermediateAndOfTheRootThatWasNotPresented(index: Int) async throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone([Phone.entry(Self.host, [pki.path[index].pin])], trusting: [pki.root])
        phone.serve(Self.host, pki.chain)
        #expect(await phone.session().text(Self.url).value == Self.host)
        #expect(phone.network.requests(at: Self.host).count == 1)
        #expect(phone.pinning.decisionCounts == [.pinMatch: 1])
        // The system has the last word: no credential made from the trust object takes its place.
        #expect(phone.network.challenges.map(\.disposition) == [.performDefaultHandling])
        #expect(phone.network.challenges.map(\.level) == [.task])
    }

    @Test("is cancelled with a wrong pin: not a byte of the request leaves, and the refusal explains -999")
    func isCancelledWithAWrongPinNotAByteOfTheRequestLeavesAndTheRefusalExplains999() async throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone([Phone.entry(Self.host, [Phone.strangePin])], trusting: [pki.root])
        phone.serve(Self.host, pki.chain)
        let session = phone.session()
        let outcome = await session.text(Self.url)
        #expect(outcome.code == .cancelled)
        let refusal = phone.pinning.refusal(for: try #require(outcome.error))
        #expect(refusal?.decision.reason == .noMatchingPin)
        #expect(refusal?.decision.path.certificates == pki.path.map(\.der))
        #expect(await session.pinnedText(Self.url).refusal == .noMatchingPin)
        #expect(phone.network.requests(at: Self.host).isEmpty)
        #expect(phone.network.bytes(at: Self.host) == 0)
    }

    enum Kind: CaseIterable { case data, upload, download, webSocket, completionHandler }

    @Test("refuses every kind of task; its delegate gets the refusal in place of -999", arguments: Kind.allCases)
    func refusesEveryKindOfTaskItsDelegateGetsTheRefusalInPlaceOf999(kind: Kind) async throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone([Phone.entry(Self.host, [Phone.strangePin])], trusting: [pki.root])
        phone.serve(Self.host, pki.chain)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        let pinned = try #require(session.delegate as? PinnedSessionDelegate)
        let task: URLSessionTask
        switch kind {
        case .data: task = session.dataTask(with: Self.url)
        case .upload: task = session.uploadTask(with: URLRequest(url: Self.url), from: Data("secret".utf8))
        case .download: task = session.downloadTask(with: Self.url)
        case .webSocket: task = session.webSocketTask(with: Phone.url(Self.host, scheme: "wss"))
        case .completionHandler:
            let error: (any Error)? = await withCheckedContinuation { done in
                session.dataTask(with: Self.url) { _, _, error in done.resume(returning: error) }.resume()
            }
            #expect((error as? URLError)?.code == .cancelled)
            return #expect(phone.network.bytes(at: Self.host) == 0)
        }
        let outcome = await delegate.run(task)
        #expect((outcome.error as? PinningError)?.decision.reason == .noMatchingPin)
        #expect(pinned.refusal(of: task)?.decision.reason == .noMatchingPin)
        #expect(outcome.response == nil && outcome.file == nil && !outcome.isOpen)
        #expect(phone.network.bytes(at: Self.host) == 0)
    }

    @Test("every kind of task gets through with the right pin", arguments: Kind.allCases)
    func everyKindOfTaskGetsThroughWithTheRightPin(kind: Kind) async throws {
        let (phone, _) = try Phone.bank()
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        switch kind {
        case .data: #expect(await delegate.run(session.dataTask(with: Self.url)).data == Data(Self.host.utf8))
        case .upload:
            let task = session.uploadTask(with: URLRequest(url: Self.url), from: Data("a".utf8))
            #expect(await delegate.run(task).data == Data(Self.host.utf8))
        case .download: #expect(await delegate.run(session.downloadTask(with: Self.url)).file == Data(Self.host.utf8))
        case .webSocket:
            let task = session.webSocketTask(with: Phone.url(Self.host, scheme: "wss"))
            #expect(await delegate.run(task).isOpen)
        case .completionHandler:
            let data: Data? = await withCheckedContinuation { done in
                session.dataTask(with: Self.url) { data, _, _ in done.resume(returning: data) }.resume()
            }
            #expect(data == Data(Self.host.utf8))
        }
    }

    @Test(
        "is for the host as it is normalised: upper case and a dot at the end change nothing",
        arguments: ["API.Example.COM", "api.example.com."])
    func isForTheHostAsItIsNormalisedUpperCaseAndADotAtTheEndChangeNothing(host: String) async throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone([Phone.entry(Self.host, [Phone.strangePin])], trusting: [pki.root])
        phone.serve(host, pki.chain)
        #expect(await phone.session().pinnedText(Phone.url(host)).refusal == .noMatchingPin)
        #expect(phone.network.bytes(at: host) == 0)
    }

    @Test("is for the host alone, at any port")
    func isForTheHostAloneAtAnyPort() async throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone([Phone.entry(Self.host, [pki.leaf.pin])], trusting: [pki.root])
        phone.serve(Self.host, pki.chain, port: 8443)
        #expect(await phone.session().text(Phone.url(Self.host, port: 8443)).value == Self.host)
    }

    @Test("is for addresses, too", arguments: ["192.0.2.7"])
    func isForAddressesToo(host: String) async throws {
        let pki = try TestPKI([], addresses: [[192, 0, 2, 7]])
        let phone = try Phone([Phone.entry(host, [pki.leaf.pin])], trusting: [pki.root])
        phone.serve(host, pki.chain)
        #expect(await phone.session().text(Phone.url(host)).value == host)
        let other = try TestPKI([], addresses: [[192, 0, 2, 7]])
        SimulatedSystem.addAnchor(other.root.der)
        phone.serve(host, other.chain)
        #expect(await phone.session().pinnedText(Phone.url(host)).refusal == .noMatchingPin)
    }

    @Test("leaves a host that is not pinned to the system")
    func leavesAHostThatIsNotPinnedToTheSystem() async throws {
        let (phone, pki) = try Phone.bank()
        let other = try TestPKI.leaf(["www.example.org"], by: pki.intermediate)
        phone.serve("www.example.org", [other, pki.intermediate])
        #expect(await phone.session().text(Phone.url("www.example.org")).value == "www.example.org")
        phone.serve("wrong.example.org", [other, pki.intermediate])
        #expect(await phone.session().text(Phone.url("wrong.example.org")).error != nil)
        #expect(phone.network.bytes(at: "wrong.example.org") == 0)
    }

    @Test("refuses nothing of its own in a client that only observes, and what the system refuses all the same")
    func refusesNothingOfItsOwnInAClientThatOnlyObserves() async throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone(
            [Phone.entry(Self.host, [Phone.strangePin])], trusting: [pki.root], isObserving: true)
        phone.serve(Self.host, pki.chain)
        #expect(await phone.session().pinnedText(Self.url).value == Self.host)
        #expect(phone.pinning.decisionCounts == [.noMatchingPin: 1])
        let stranger = try TestPKI([Self.host])
        phone.serve("other.example.com", stranger.chain)
        #expect(await phone.session().pinnedText(Phone.url("other.example.com")).refusal == .chainInvalid)
    }

    @Test("is answered without the main thread, and without a change to the trust object")
    func isAnsweredWithoutTheMainThreadAndWithoutAChangeToTheTrustObject() async throws {
        let (phone, pki) = try Phone.bank()
        let trust = try #require(HandMade.trust(pki.chain, SecPolicyCreateSSL(true, Self.host as CFString)))
        #expect(phone.pinning.evaluate(trust: trust, host: Self.host).verdict == .allow)
        #expect(SimulatedSystem.changes(of: trust).isEmpty)
        #expect(await phone.session().text(Self.url).value == Self.host)
        #expect(!SimulatedSystem.wasEvaluatedOnMainThread(leaf: pki.leaf.der))
    }

    @Test("is refused when it shows no trust object, on a queue of the library as any other", arguments: [false, true])
    func isRefusedWhenItShowsNoTrustObject(isWebView: Bool) async throws {
        let (phone, _) = try Phone.bank()
        let space = URLProtectionSpace(
            host: Self.host, port: 443, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust)
        let challenge = URLAuthenticationChallenge(space)
        let (disposition, queue) = await withCheckedContinuation { done in
            let isOurs = phone.pinning.answer(challenge, isWebView: isWebView) { disposition, _ in
                done.resume(returning: (disposition, OperationQueue.current?.name))
            }
            #expect(isOurs)
        }
        #expect(disposition == .cancelAuthenticationChallenge)
        #expect(queue == (isWebView ? "PinningURLSession.pages" : "PinningURLSession.trust"))
        #expect(phone.pinning.decisionCounts == [.noCertificates: 1])
    }

    @Test("is answered once, however often a task is challenged and with anything else that is asked")
    func isAnsweredOnceHoweverOftenATaskIsChallengedAndWithAnythingElseThatIsAsked() async throws {
        let (phone, pki) = try Phone.bank()
        phone.serve(Self.host, pki.chain, challenges: [.serverTrust, .clientCertificate, .serverTrust])
        #expect(await phone.session().text(Self.url).value == Self.host)
        let asked = phone.network.challenges
        let trust = NSURLAuthenticationMethodServerTrust
        #expect(asked.map(\.method) == [trust, NSURLAuthenticationMethodClientCertificate, trust])
        #expect(asked.map(\.answers) == [1, 1, 1])
        #expect(asked.allSatisfy { $0.disposition == .performDefaultHandling })
    }

    @Test("of a task that is cancelled meanwhile is answered all the same, once")
    func ofATaskThatIsCancelledMeanwhileIsAnsweredAllTheSameOnce() async throws {
        let (phone, _) = try Phone.bank()
        phone.network.settings.cancelsDuringChallenge = true
        let outcome = await phone.session().text(Self.url)
        #expect(outcome.code == .cancelled)
        // Nothing was refused: the app cancelled.
        #expect(phone.pinning.refusal(for: try #require(outcome.error)) == nil)
        #expect(phone.network.bytes(at: Self.host) == 0)
    }

    @Test("that was refused a moment ago explains no request that its caller cancels while it waits")
    func thatWasRefusedAMomentAgoExplainsNoRequestThatItsCallerCancelsWhileItWaits() async throws {
        let (phone, pki) = try Phone.bank()
        let session = phone.session()
        #expect(await session.pinnedText(Self.url).value == Self.host)
        let theirs = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(theirs.root.der)
        phone.serve(Self.host, theirs.chain)
        #expect(await phone.session().pinnedText(Self.url).refusal == .noMatchingPin)
        phone.serve(Self.host, pki.chain)
        // The connection of the first session is open, and has no challenge again.
        let slow = Self.url.appendingPathComponent("slow")
        phone.network.hold(slow.absoluteString)
        let waiting = Task { await session.pinnedText(slow) }
        await phone.network.held(slow.absoluteString)
        waiting.cancel()
        let outcome = await waiting.value
        #expect(outcome.refusal == nil && outcome.code == .cancelled)
        phone.network.release(slow.absoluteString)
        // As the refusal still does for an error of which nothing else is known.
        #expect(phone.pinning.refusal(for: try #require(outcome.error))?.decision.reason == .noMatchingPin)
    }

    @Test("of 32 connections at once: each verdict goes to its own")
    func of32ConnectionsAtOnceEachVerdictGoesToItsOwn() async throws {
        let pki = try TestPKI((0..<32).map { "h\($0).example.com" })
        let phone = try Phone(
            try (0..<32).map { number in
                try Phone.entry("h\(number).example.com", [number % 2 == 0 ? pki.leaf.pin : Phone.strangePin])
            }, trusting: [pki.root])
        for number in 0..<32 { phone.serve("h\(number).example.com", pki.chain) }
        phone.network.settings.challengesDeliveredTogether = 32
        let session = phone.session()
        let values = await withTaskGroup(of: (Int, String?).self) { group in
            for number in 0..<32 {
                group.addTask { (number, await session.text(Phone.url("h\(number).example.com")).value) }
            }
            return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        for number in 0..<32 {
            #expect(values[number] == (number % 2 == 0 ? "h\(number).example.com" : nil))
            #expect(phone.network.requests(at: "h\(number).example.com").count == (number % 2 == 0 ? 1 : 0))
        }
    }
}

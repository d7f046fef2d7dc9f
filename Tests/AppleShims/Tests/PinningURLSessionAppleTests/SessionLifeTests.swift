// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
@_spi(Adapters) import PinListClient
import Security
import Testing

@testable import PinningURLSession

@Suite("A pinned session, from beginning to end")
struct SessionLifeTests {
    private static let host = "api.example.com"

    @Test("has a cache of its own: what another session fetched unpinned is not handed out as pinned")
    func hasACacheOfItsOwnWhatAnotherSessionFetchedUnpinnedIsNotHandedOutAsPinned() throws {
        let (phone, _) = try Phone.bank()
        let session = URLSession.pinned(by: phone.pinning)
        let cache = try #require(session.configuration.urlCache)
        #expect(cache !== URLCache.shared)
        session.invalidateAndCancel()
    }

    @Test("lets go of its delegate, and of the app's, when it is invalidated")
    func letsGoOfItsDelegateAndOfTheAppsWhenItIsInvalidated() async throws {
        let (phone, _) = try Phone.bank()
        weak var pinned: PinnedSessionDelegate?
        weak var own: RecordingDelegate?
        do {
            let delegate = RecordingDelegate()
            let session = phone.session(delegate: delegate)
            own = delegate
            pinned = session.delegate as? PinnedSessionDelegate
            #expect(await delegate.run(session.dataTask(with: Phone.url(Self.host))).error == nil)
            #expect(pinned != nil)
            await withCheckedContinuation { done in
                session.delegateQueue.addOperation { done.resume() }
                session.finishTasksAndInvalidate()
            }
        }
        // What is still on its way to the delegate holds it for that long.
        let end = ContinuousClock.now + .ample
        while pinned != nil || own != nil, ContinuousClock.now < end { await Task.yield() }
        #expect(pinned == nil)
        #expect(own == nil)
    }

    @Test("evaluates nothing on the main thread, though its delegate is called there")
    func evaluatesNothingOnTheMainThreadThoughItsDelegateIsCalledThere() async throws {
        let (phone, pki) = try Phone.bank()
        let session = URLSession.pinned(
            by: phone.pinning, configuration: phone.configuration, delegateQueue: .main)
        #expect(await session.text(Phone.url(Self.host)).value == Self.host)
        #expect(SimulatedSystem.evaluations(ofLeaf: pki.leaf.der) > 0)
        #expect(!SimulatedSystem.wasEvaluatedOnMainThread(leaf: pki.leaf.der))
    }

    @Test("evaluates nothing on the main thread for the second check either")
    func evaluatesNothingOnTheMainThreadForTheSecondCheckEither() async throws {
        let pki = try TestPKI([Self.host, "www.example.com"])
        let phone = try Phone([Phone.entry(Self.host, [pki.root.pin])], trusting: [pki.root])
        phone.serve("www.example.com", pki.chain)
        phone.serve(Self.host, pki.chain)
        phone.network.coalesce(Self.host, onto: "www.example.com")
        let delegate = RecordingDelegate()
        let session = URLSession.pinned(
            by: phone.pinning, configuration: phone.configuration, delegate: delegate, delegateQueue: .main)
        _ = await delegate.run(session.dataTask(with: Phone.url("www.example.com")))
        let before = SimulatedSystem.evaluations(ofLeaf: pki.leaf.der)
        let outcome = await delegate.run(session.dataTask(with: Phone.url(Self.host)))
        #expect(outcome.data == Data(Self.host.utf8))
        #expect(SimulatedSystem.evaluations(ofLeaf: pki.leaf.der) > before)
        #expect(!SimulatedSystem.wasEvaluatedOnMainThread(leaf: pki.leaf.der))
    }

    @Test(
        "reads a URL as the session does, which connects",
        arguments: [
            ("https://bücher.example/a", "xn--bcher-kva.example", 443, true),
            ("https://[2001:db8::1]:44/", "2001:db8::1", 44, true),
            ("https://user:pw@host.example:8443/x", "host.example", 8443, true),
            ("wss://A.example", "A.example", 443, true),
            ("ws://a.example", "a.example", 80, false), ("HTTP://a.example./", "a.example.", 80, false),
            ("https://ex%61mple.com/", "example.com", 443, true),
        ])
    func readsAURLAsTheSessionDoesWhichConnects(url: String, host: String, port: Int, isTLS: Bool) throws {
        let target = try #require(SessionTarget(URL(string: url)))
        #expect(target.host == host)
        #expect(target.port == port)
        #expect(target.isTLS == isTLS)
    }

    @Test("makes no connection for these", arguments: ["data:text/plain,a", "file:///a", "about:blank", "/relative"])
    func makesNoConnectionForThese(url: String) { #expect(SessionTarget(URL(string: url)) == nil) }

    @Test("remembers a bounded number of servers and connections, the newest")
    func remembersABoundedNumberOfServersAndConnectionsTheNewest() throws {
        let shared = AllowedPaths()
        let ledger = ConnectionLedger(shared: shared)
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        let tasks = (0..<3_000).map { _ in NSObject() }
        func server(_ number: Int) throws -> ConnectionLedger.Server {
            ConnectionLedger.Server(host: try HostName("h\(number).example.com"), port: 443)
        }
        for (number, task) in tasks.enumerated() {
            ledger.allowed(path, for: try server(number), task: ObjectIdentifier(task))
            ledger.opened(
                .init(local: "a \(number)", remote: "b 443"), for: try server(number), task: ObjectIdentifier(task))
            ledger.ended(ObjectIdentifier(task))
        }
        #expect(ledger.evaluated.count == 1_024)
        #expect(shared.all.count == 1_024)
        #expect(ledger.path(of: try server(2_999)) != nil)
        #expect(ledger.path(of: try server(0)) == nil)
        #expect(ledger.opener(of: .init(local: "a 2999", remote: "b 443"))?.server == (try server(2_999)))
        #expect(ledger.opener(of: .init(local: "a 0", remote: "b 443")) == nil)
        #expect(ledger.evaluated(otherThan: try server(1), needsEndpoint: true).isEmpty)
        // Tasks that never end, because a delegate of their own takes their metrics.
        for task in tasks { ledger.allowed(path, for: try server(2_999), task: ObjectIdentifier(task)) }
        #expect(ledger.pendingCount == 1_024)
        for task in tasks { ledger.ended(ObjectIdentifier(task)) }
        #expect(ledger.evaluated(otherThan: try server(1), needsEndpoint: true).count == 1)
    }

    @Test("remembers why the newest tasks ended, and of none that is gone")
    func remembersWhyTheNewestTasksEndedAndOfNoneThatIsGone() throws {
        let (phone, _) = try Phone.bank()
        let session = URLSession(configuration: .ephemeral)
        let refusals = TaskRefusals()
        let first = PinningError(phone.pinning.refusal(of: "a.example.com", .chainInvalid))
        let second = PinningError(phone.pinning.refusal(of: "b.example.com", .chainInvalid))
        let tasks = (0..<1_025).map { _ in session.dataTask(with: Phone.url(Self.host)) }
        for task in tasks {
            refusals.note(first, task)
            refusals.note(second, task)
        }
        #expect(refusals.refusal(of: tasks[1_024]) == first)
        #expect(refusals.refusal(of: tasks[1]) == first)
        #expect(refusals.refusal(of: tasks[0]) == nil)
    }
}

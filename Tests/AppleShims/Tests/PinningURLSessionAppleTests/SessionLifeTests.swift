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

    /// Another server, of which one connection is met.
    private func server(_ number: Int) throws -> ConnectionLedger.Server {
        ConnectionLedger.Server(host: try HostName("h\(number).example.com"), port: 443)
    }

    private func meet(_ number: Int, _ path: ValidatedPath, by task: NSObject, _ ledger: ConnectionLedger) throws {
        let (server, task) = (try self.server(number), ObjectIdentifier(task))
        ledger.allowed(path, for: server, isCovered: false, task: task)
        ledger.opened(.init(local: "a \(number)", remote: "b 443"), for: server, task: task)
        ledger.ended(task)
    }

    @Test("remembers a bounded number of servers and connections, the newest")
    func remembersABoundedNumberOfServersAndConnectionsTheNewest() throws {
        let shared = AllowedPaths()
        let ledger = ConnectionLedger(shared: shared)
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        let tasks = (0..<3_000).map { _ in NSObject() }
        for (number, task) in tasks.enumerated() { try self.meet(number, path, by: task, ledger) }
        #expect((512...1_024).contains(ledger.evaluated.count))
        #expect((512...1_024).contains(shared.all.count))
        #expect(ledger.path(of: try server(2_999)) != nil)
        #expect(ledger.path(of: try server(0)) == nil)
        #expect(ledger.opener(of: .init(local: "a 2999", remote: "b 443"))?.server == (try server(2_999)))
        #expect(ledger.opener(of: .init(local: "a 0", remote: "b 443")) == nil)
        #expect(ledger.evaluated(otherThan: try server(1), needsEndpoint: true).isEmpty)
        // Tasks that never end, because a delegate of their own takes their metrics.
        for task in tasks {
            ledger.allowed(path, for: try server(2_999), isCovered: false, task: ObjectIdentifier(task))
        }
        #expect(ledger.pendingCount == 1_024)
        for task in tasks { ledger.ended(ObjectIdentifier(task)) }
        #expect(ledger.evaluated(otherThan: try server(1), needsEndpoint: true).count == 1)
    }

    @Test(
        "uses a pinned host's kept connection on after it has met any number of hosts that a page has chosen, and resumes its TLS in another session",
        arguments: [true, false])
    func usesAPinnedHostsKeptConnectionOnAfterItHasMetAnyNumberOfHostsThatAPageHasChosen(
        showsItsEnds: Bool
    ) async throws {
        let (phone, _) = try Phone.bank()
        phone.network.settings.reportsEndpoints = showsItsEnds
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.host))).error == nil)
        let ledger = try #require(session.delegate as? PinnedSessionDelegate).ledger
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        for number in 0..<2_000 { try self.meet(number, path, by: NSObject(), ledger) }
        #expect(await delegate.run(session.dataTask(with: Phone.url(Self.host))).data == Data(Self.host.utf8))
        #expect(await session.pinnedText(Phone.url(Self.host)).value == Self.host)
        #expect(phone.network.handshakes(at: Self.host) == 1)
        phone.network.settings.resumption = .acrossSessions
        #expect(await phone.session().pinnedText(Phone.url(Self.host)).value == Self.host)
        #expect(phone.network.challenges.count == 1)
    }

    @Test("remembers a connection that is used now and then, whichever others are opened")
    func remembersAConnectionThatIsUsedNowAndThenWhicheverOthersAreOpened() throws {
        let shared = AllowedPaths()
        let ledger = ConnectionLedger(shared: shared)
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        for number in 0..<3_000 {
            try self.meet(number, path, by: NSObject(), ledger)
            guard number.isMultiple(of: 100) else { continue }
            #expect(ledger.opener(of: .init(local: "a 0", remote: "b 443"))?.paths == [path])
            #expect(ledger.path(of: try self.server(0)) == path)
        }
        #expect(shared.all[try self.server(0)] == path)
        #expect(shared.all[try self.server(1)] == nil)
    }

    @Test("remembers that nobody evaluated a connection, used or not")
    func remembersThatNobodyEvaluatedAConnectionUsedOrNot() throws {
        let ledger = ConnectionLedger(shared: AllowedPaths())
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        let (ends, task) = (ConnectionLedger.Endpoint(local: "mine", remote: "b 443"), NSObject())
        ledger.opened(ends, for: try self.server(0), task: ObjectIdentifier(task), mayBeResumed: false)
        for number in 0..<3_000 { try self.meet(number, path, by: NSObject(), ledger) }
        #expect(ledger.opener(of: ends)?.paths == [])
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

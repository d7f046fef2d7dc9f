// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinningURLSession
import Testing

@Suite("The methods that URLSession finds in a pinned session's delegate")
struct MethodTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)

    /// An app's delegate that has only some methods.
    private final class Few: NSObject, URLSessionTaskDelegate, Sendable {
        let names: Set<String>

        init(_ names: Set<String>) { self.names = names }

        func responds(to selector: Selector!) -> Bool { self.names.contains(NSStringFromSelector(selector)) }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) { completionHandler(.cancel, nil) }
    }

    /// A subclass that answers the session's challenges itself, and trusts every server.
    ///
    /// `@unchecked Sendable`: because it adds nothing that changes.
    private final class Careless: PinnedSessionDelegate, SimulatedAddedMethod, @unchecked Sendable {
        func addedUrlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(
                .useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
    }

    /// A subclass that wants to know how much was sent.
    ///
    /// `@unchecked Sendable`: because it adds nothing that changes.
    private final class Counting: PinnedSessionDelegate, @unchecked Sendable {
        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {}
    }

    /// A delegate of Objective-C that says only that it is a session's.
    private final class Undeclared: NSObject, SimulatedUndeclaredMethods {
        let every = EveryMethod()
        var undeclared: any URLSessionDelegate { self.every }
    }

    private func has(_ delegate: any URLSessionDelegate, _ name: String) -> Bool {
        delegate.responds(to: NSSelectorFromString(name))
    }

    @Test("a subclass that adds the session's method for challenges does not get around the pins")
    func subclassThatAddsTheSessionsMethodForChallengesDoesNotGetAroundThePins() async throws {
        let (phone, _) = try Phone.bank()
        phone.serve(Self.host, try TestPKI([Self.host]).chain)
        let session = URLSession(
            configuration: phone.configuration, delegate: Careless(by: phone.pinning), delegateQueue: nil)
        #expect(await session.text(Self.url).value == nil)
        #expect(phone.network.bytes(at: Self.host) == 0)
        #expect(phone.network.challenges.map(\.level) == [.task])
    }

    @Test("what pinning needs is there without an app's delegate, and nothing else is")
    func whatPinningNeedsIsThereWithoutAnAppsDelegateAndNothingElseIs() throws {
        let (phone, _) = try Phone.bank()
        let delegate = PinnedSessionDelegate(by: phone.pinning)
        for name in AdapterMethods.pinned { #expect(self.has(delegate, name), "\(name)") }
        for name in AdapterMethods.forwarded { #expect(!self.has(delegate, name), "\(name)") }
        #expect(!self.has(delegate, AdapterMethods.challengeOfSession))
        #expect(self.has(delegate, "description"))
        #expect(!delegate.responds(to: nil))
    }

    @Test("the rest is there when the app's delegate has it, each for itself", arguments: AdapterMethods.forwarded)
    func restIsThereWhenTheAppsDelegateHasItEachForItself(name: String) throws {
        let (phone, _) = try Phone.bank()
        let delegate = PinnedSessionDelegate(by: phone.pinning, forwardingTo: Few([name]))
        for other in AdapterMethods.forwarded { #expect(self.has(delegate, other) == (other == name), "\(other)") }
        for needed in AdapterMethods.pinned { #expect(self.has(delegate, needed), "\(needed)") }
    }

    @Test("the session's method for challenges is never there, and makes the one for tasks be there")
    func sessionsMethodForChallengesIsNeverThereAndMakesTheOneForTasksBeThere() throws {
        let ofTask = "URLSession:task:didReceiveChallenge:completionHandler:"
        for names in [[AdapterMethods.challengeOfSession], [ofTask]] as [Set<String>] {
            let delegate = ForwardingSessionDelegate(forwardingTo: Few(names))
            #expect(!self.has(delegate, AdapterMethods.challengeOfSession))
            #expect(self.has(delegate, ofTask))
        }
        #expect(!self.has(ForwardingSessionDelegate(forwardingTo: Few([])), ofTask))
    }

    @Test("one that a subclass overrides is there, beside any methods of the app's delegate")
    func oneThatASubclassOverridesIsThereBesideAnyMethodsOfTheAppsDelegate() throws {
        let (phone, _) = try Phone.bank()
        let name = "URLSession:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:"
        SimulatedMethods.declare(Counting.self, superclass: PinnedSessionDelegate.self, [name])
        let delegate = Counting(by: phone.pinning)
        #expect(self.has(delegate, name))
        #expect(!self.has(delegate, "URLSession:task:needNewBodyStream:"))
        for needed in AdapterMethods.pinned { #expect(self.has(delegate, needed), "\(needed)") }
    }

    @Test("a request that was delayed begins as it was when the app's delegate has no method for it")
    func requestThatWasDelayedBeginsAsItWasWhenTheAppsDelegateHasNoMethodForIt() async throws {
        let (phone, _) = try Phone.bank()
        for (names, count) in [([], 1), (["URLSession:task:willBeginDelayedRequest:completionHandler:"], 0)] {
            phone.network.setAnswer(.text("later"), for: Self.url.absoluteString)
            let configuration = URLSessionConfiguration.background(withIdentifier: UUID().uuidString)
            configuration.simulatedNetwork = phone.network
            let session = URLSession.pinned(
                by: phone.pinning, configuration: configuration, delegate: Few(Set(names)))
            let before = phone.network.requests(at: Self.host).count
            let task = session.dataTask(with: Self.url)
            task.earliestBeginDate = Date()
            task.resume()
            while task.state != .completed { await Task.yield() }
            #expect(phone.network.requests(at: Self.host).count - before == count)
        }
    }

    @Test("a delegate of Objective-C that declares less than it has gets every call that it has a method for")
    func delegateOfObjectiveCThatDeclaresLessThanItHasGetsEveryCallThatItHasAMethod() async throws {
        let (phone, _) = try Phone.bank()
        let app = Undeclared()
        let session = phone.session(delegate: app)
        _ = await session.text(Self.url)
        #expect(app.every.called == ["created", "metrics"])
    }
}

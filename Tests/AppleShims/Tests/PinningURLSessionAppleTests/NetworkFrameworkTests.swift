// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import Network
import PinListClient
import PinListMetadata
import Security
import Testing

@testable import PinningURLSession

@Suite("A connection of Network.framework")
struct NetworkFrameworkTests {
    private static let host = "api.example.com"

    /// What evaluations wait at until a test lets them go on.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class Gate: @unchecked Sendable {
        private let condition = NSCondition()
        private var count = 0
        private var isOpen = false

        private func locked<Result>(_ body: () -> Result) -> Result {
            self.condition.lock()
            defer { self.condition.unlock() }
            return body()
        }

        /// How many wait inside.
        var inside: Int { self.locked { self.count } }

        /// Waits inside until all are let out.
        func pass() {
            self.locked {
                self.count += 1
                while !self.isOpen { self.condition.wait() }
                self.count -= 1
            }
        }

        /// Lets all out.
        func open() {
            self.locked {
                self.isOpen = true
                self.condition.broadcast()
            }
        }
    }

    private func options(_ phone: Phone) -> NWProtocolTLS.Options {
        let options = NWProtocolTLS.Options()
        options.pin(by: phone.pinning, host: Self.host)
        return options
    }

    @Test("is made to the pinned server, and to no other: the block replaces the system's own evaluation")
    func isMadeToThePinnedServerAndToNoOther() async throws {
        let (phone, pki) = try Phone.bank()
        let options = self.options(phone)
        func isMade(_ chain: [TestCertificate]) async -> Bool {
            await SimulatedHandshake.run(options: options, presented: chain.map(\.der), serverName: Self.host)
        }
        #expect(await isMade(pki.chain))
        let trusted = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(trusted.root.der)
        #expect(!(await isMade(trusted.chain)))
        #expect(!(await isMade(try TestPKI([Self.host]).chain)))
        let otherHost = try TestPKI.leaf(["other.example.com"], by: pki.intermediate)
        #expect(!(await isMade([otherHost, pki.intermediate])))
        #expect(phone.pinning.decisionCounts == [.pinMatch: 1, .noMatchingPin: 1, .chainInvalid: 2])
        #expect(!SimulatedSystem.wasEvaluatedOnMainThread(leaf: pki.leaf.der))
    }

    @Test("is evaluated a few at a time, however many are made at once")
    func isEvaluatedAFewAtATimeHoweverManyAreMadeAtOnce() async throws {
        // The system gives threads one by one, and a test that waits for one too many would wait long.
        #expect(TrustQueue.evaluations.maxConcurrentOperationCount == TrustQueue.maximum)
        let gate = Gate()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    await withCheckedContinuation { done in
                        TrustQueue.evaluate {
                            gate.pass()
                            done.resume()
                        }
                    }
                }
            }
            while gate.inside < TrustQueue.maximum { await Task.yield() }
            // One more would have had every chance to come.
            for _ in 0..<2_000 where gate.inside == TrustQueue.maximum { await Task.yield() }
            #expect(gate.inside == TrustQueue.maximum)
            gate.open()
        }
    }

    @Test("waits for no page of a web view, however long the servers of the page keep the system waiting")
    func waitsForNoPageOfAWebViewHoweverLongTheServersOfThePageKeepTheSystemWaiting() async throws {
        let (phone, pki) = try Phone.bank()
        func question() throws -> URLAuthenticationChallenge {
            let trust = try #require(HandMade.trust(pki.chain, SecPolicyCreateSSL(true, Self.host as CFString)))
            return URLAuthenticationChallenge(
                URLProtectionSpace(
                    host: Self.host, port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                    authenticationMethod: NSURLAuthenticationMethodServerTrust, proxyType: nil, serverTrust: trust))
        }
        func queue(isWebView: Bool) async throws -> OperationQueue? {
            let challenge = try question()
            return await withCheckedContinuation { done in
                _ = phone.pinning.answer(challenge, isWebView: isWebView) { _, _ in
                    done.resume(returning: OperationQueue.current)
                }
            }
        }
        let (ofPages, ofTheApp) = (try await queue(isWebView: true), try await queue(isWebView: false))
        // With one queue for both, what follows would not end.
        try #require(ofPages !== ofTheApp)
        let gate = Gate()
        defer { gate.open() }
        for _ in 0..<TrustQueue.maximum {
            _ = phone.pinning.answer(try question(), isWebView: true) { _, _ in gate.pass() }
        }
        while gate.inside < TrustQueue.maximum { await Task.yield() }
        let presented = pki.chain.map(\.der)
        #expect(
            await SimulatedHandshake.run(
                options: self.options(phone), presented: presented, serverName: Self.host))
        #expect(await phone.session().text(Phone.url(Self.host)).value == Self.host)
    }

    @Test("resumes no TLS session: what was evaluated before would pass without a question")
    func resumesNoTLSSession() async throws {
        let (phone, pki) = try Phone.bank()
        let presented = pki.chain.map(\.der)
        let pin = try pki.leaf.pin
        try await phone.publish { list in list.denied = [DeniedKey(pin)] }
        for (options, isMade) in [(self.options(phone), false), (NWProtocolTLS.Options(), true)] {
            let made = await SimulatedHandshake.run(
                options: options, presented: presented, serverName: Self.host, isKnown: true)
            #expect(made == isMade)
        }
        #expect(phone.pinning.decisionCounts == [.deniedKey: 1])
    }

    @Test("is evaluated by the rules in force at each handshake")
    func isEvaluatedByTheRulesInForceAtEachHandshake() async throws {
        let (phone, pki) = try Phone.bank()
        let options = self.options(phone)
        let presented = pki.chain.map(\.der)
        #expect(await SimulatedHandshake.run(options: options, presented: presented, serverName: Self.host))
        let strange = Phone.strangePin
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        #expect(!(await SimulatedHandshake.run(options: options, presented: presented, serverName: Self.host)))
    }
}

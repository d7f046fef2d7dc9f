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

@Suite("A request without TLS, by URLSession")
struct CleartextTests {
    private static let host = "api.example.com"
    private static let plain = Phone.url(host, port: 80, scheme: "http")

    private func phone(mode: PinnedDomain.Mode = .enforce) throws -> Phone {
        let (phone, pki) = try Phone.bank(Self.host, mode: mode)
        phone.serve(Self.host, pki.chain, port: 80)
        phone.network.setAnswer(.text("plain"), for: "http://\(Self.host):80/")
        phone.network.setAnswer(.text("plain"), for: "http://\(Self.host)/")
        return phone
    }

    @Test("to an enforced host is refused before it starts", arguments: ["http", "ws"])
    func toAnEnforcedHostIsRefusedBeforeItStarts(scheme: String) async throws {
        let phone = try self.phone()
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        let url = Phone.url(Self.host, port: 80, scheme: scheme)
        let task: URLSessionTask = scheme == "ws" ? session.webSocketTask(with: url) : session.dataTask(with: url)
        #expect((await delegate.run(task).error as? PinningError)?.decision.reason == .cleartext)
        #expect(phone.network.connections(at: Self.host, port: 80) == 0)
        if scheme == "http" { #expect(await session.pinnedText(url).refusal == .cleartext) }
        let outcome = await session.text(url)
        #expect(outcome.error != nil)
        #expect(phone.network.connections(at: Self.host, port: 80) == 0)
    }

    @Test("to a host that reports, or that is not pinned, goes out")
    func toAHostThatReportsOrThatIsNotPinnedGoesOut() async throws {
        let phone = try self.phone(mode: .report)
        #expect(await phone.session().pinnedText(Self.plain).value == "plain")
        #expect(phone.pinning.decisionCounts[.cleartext] ?? 0 > 0)
    }

    @Test("is not where a redirect leads, and the caller of the first host is told why")
    func isNotWhereARedirectLeadsAndTheCallerOfTheFirstHostIsToldWhy() async throws {
        let phone = try self.phone()
        let pki = try TestPKI(["start.example.org"])
        SimulatedSystem.addAnchor(pki.root.der)
        phone.serve("start.example.org", pki.chain)
        phone.network.setAnswer(.redirect(to: "http://\(Self.host)/"), for: "https://start.example.org/")
        let start = Phone.url("start.example.org")
        let outcome = await phone.session().text(start)
        #expect(outcome.code == .cancelled)
        let refusal = phone.pinning.refusal(for: try #require(outcome.error))
        #expect(refusal?.decision.reason == .cleartext)
        #expect(refusal?.host == Self.host)
        #expect(await phone.session().pinnedText(start).refusal == .cleartext)
        #expect(phone.network.connections(at: Self.host, port: 80) == 0)
    }

    @Test("is not where an app's own delegate sends a redirect")
    func isNotWhereAnAppsOwnDelegateSendsARedirect() async throws {
        final class Downgrade: NSObject, URLSessionTaskDelegate, Sendable {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                completionHandler(URLRequest(url: CleartextTests.plain))
            }
        }
        let phone = try self.phone()
        let pki = try TestPKI(["start.example.org"])
        SimulatedSystem.addAnchor(pki.root.der)
        phone.serve("start.example.org", pki.chain)
        phone.network.setAnswer(.redirect(to: "https://elsewhere.example.org/"), for: "https://start.example.org/")
        let outcome = await phone.session(delegate: Downgrade()).pinnedText(Phone.url("start.example.org"))
        #expect(outcome.refusal == .cleartext)
        #expect(phone.network.connections(at: Self.host, port: 80) == 0)
    }

    @Test("a redirect to a pinned host is evaluated for that host")
    func redirectToAPinnedHostIsEvaluatedForThatHost() async throws {
        let (phone, _) = try Phone.bank(Self.host)
        phone.serve(Self.host, try TestPKI([Self.host]).chain)
        let pki = try TestPKI(["start.example.org"])
        SimulatedSystem.addAnchor(pki.root.der)
        phone.serve("start.example.org", pki.chain)
        phone.network.setAnswer(.redirect(to: "https://\(Self.host)/"), for: "https://start.example.org/")
        #expect(await phone.session().pinnedText(Phone.url("start.example.org")).refusal == .chainInvalid)
        #expect(phone.network.bytes(at: Self.host) == 0)
    }
}

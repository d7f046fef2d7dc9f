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
import WebKit

@Suite("A web view")
@MainActor
struct WebViewTests {
    private static let host = "api.example.com"

    @Test("shows a page of the pinned server, and none of an interceptor")
    func showsAPageOfThePinnedServerAndNoneOfAnInterceptor() async throws {
        let (phone, pki) = try Phone.bank()
        let webView = WKWebView()
        let delegate = PinnedNavigationDelegate(by: phone.pinning)
        webView.navigationDelegate = delegate
        let request = URLRequest(url: Phone.url(Self.host))
        #expect(await SimulatedNavigation.load(request, in: webView, presented: pki.chain.map(\.der)))
        let stranger = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(stranger.root.der)
        #expect(!(await SimulatedNavigation.load(request, in: webView, presented: stranger.chain.map(\.der))))
        #expect(phone.pinning.decisionCounts == [.pinMatch: 1, .noMatchingPin: 1])
    }

    @Test("answers each challenge once, and leaves those that are not for a server's trust to WebKit")
    func answersEachChallengeOnceAndLeavesThoseThatAreNotForAServersTrustToWebKit() async throws {
        let (phone, pki) = try Phone.bank()
        let webView = WKWebView()
        let delegate = PinnedNavigationDelegate(by: phone.pinning)
        webView.navigationDelegate = delegate
        let reply = await SimulatedNavigation.challenge(webView, host: Self.host, presented: pki.chain.map(\.der))
        #expect(reply?.disposition == .performDefaultHandling)
        #expect(reply?.answers == 1)
        #expect(reply?.hasTrust == false)
        let password = URLProtectionSpace(
            host: Self.host, port: 443, protocol: "https", realm: "bank",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        #expect(await SimulatedNavigation.challenge(webView, space: password).disposition == .performDefaultHandling)
    }

    @Test("never reports where a page led it: failures of hosts that no entry covers stay on the device")
    func neverReportsWhereAPageLedItFailuresOfHostsThatNoEntryCoversStayOnTheDevice() async throws {
        let collector = SimulatedCollector()
        let pki = try TestPKI([Self.host])
        let phone = try Phone(
            [Phone.entry(Self.host, [Phone.strangePin], reportTo: ["https://reports.example.com/"])],
            trusting: [pki.root], reportSender: collector
        ) { $0.reportTo = ["https://reports.example.com/"] }
        let webView = WKWebView()
        let delegate = PinnedNavigationDelegate(by: phone.pinning)
        webView.navigationDelegate = delegate
        let stranger = try TestPKI(["private.example.org"]).chain.map(\.der)
        #expect(
            await SimulatedNavigation.challenge(webView, host: "private.example.org", presented: stranger)?.disposition
                == .cancelAuthenticationChallenge)
        _ = await SimulatedNavigation.challenge(webView, host: Self.host, presented: pki.chain.map(\.der))
        let running = Task { await phone.pinning.run() }
        await collector.untilArrived(count: 1)
        running.cancel()
        #expect(collector.arrivals.count == 1)
        let text = String(decoding: try #require(collector.arrivals.first).body, as: UTF8.self)
        #expect(text.contains(Self.host) && !text.contains("private.example.org"))
    }
}

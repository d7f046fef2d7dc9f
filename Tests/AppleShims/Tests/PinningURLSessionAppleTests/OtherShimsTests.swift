// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation
import FoundationNetworking
import Network
import Security
import SwiftUI
import Testing
import WebKit
import os

#if !canImport(Security) || !canImport(Network) || !canImport(WebKit) || !canImport(os)
#error("the aliases do not work: the adapter would compile without its half for Apple's platforms")
#endif

@Suite("The shims of Network, WebKit, os, BackgroundTasks and SwiftUI")
struct OtherShimsTests {
    @Test("a verify block is asked on its queue, with the name and the presented chain", arguments: [true, false])
    func verifyBlockIsAskedOnItsQueueWithTheNameAndThePresentedChain(accepts: Bool) async throws {
        let stage = try Stage("verify.example")
        let options = NWProtocolTLS.Options()
        let queue = DispatchQueue(label: "verify")
        #expect(await SimulatedHandshake.run(options: options, presented: stage.presented, serverName: stage.host))
        #expect(
            !(await SimulatedHandshake.run(options: options, presented: stage.presented, serverName: "other.example")))
        sec_protocol_options_set_verify_block(
            options.securityProtocolOptions,
            { metadata, trust, complete in
                dispatchPrecondition(condition: .onQueue(queue))
                let name = sec_protocol_metadata_get_server_name(metadata).map { String(cString: $0) }
                let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                complete(accepts && name == "verify.example" && SecTrustEvaluateWithError(trust, nil))
            }, queue)
        let isTrusted = await SimulatedHandshake.run(
            options: options, presented: stage.presented, serverName: stage.host)
        #expect(isTrusted == accepts)
        SimulatedHandshake.setServer(presented: stage.presented, host: stage.host)
        let connection = NWConnection(host: "verify.example", port: .https, using: NWParameters(tls: options))
        let state: NWConnection.State = await withCheckedContinuation { continuation in
            connection.stateUpdateHandler = { state in
                switch state {
                case .ready, .failed: continuation.resume(returning: state)
                default: break
                }
            }
            connection.start(queue: DispatchQueue(label: "connection"))
        }
        #expect((state == .ready) == accepts)
    }

    @Test("a web view asks its delegate, and loads what it accepts")
    @MainActor
    func webViewAsksItsDelegateAndLoadsWhatItAccepts() async throws {
        final class Delegate: NSObject, WKNavigationDelegate {
            var finished = 0
            func webView(
                _ webView: WKWebView, didReceive challenge: URLAuthenticationChallenge,
                completionHandler:
                    @escaping @MainActor @Sendable (
                        URLSession.AuthChallengeDisposition, URLCredential?
                    ) -> Void
            ) {
                guard let trust = challenge.protectionSpace.serverTrust else {
                    return completionHandler(.performDefaultHandling, nil)
                }
                completionHandler(.useCredential, URLCredential(trust: trust))
            }

            func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) { self.finished += 1 }
        }
        let stage = try Stage("web.example")
        let foreign = try TestPKI([stage.host]).chain.map(\.der)
        let view = WKWebView()
        let request = URLRequest(url: try stage.url)
        #expect(await SimulatedNavigation.load(request, in: view, presented: stage.presented))
        #expect(!(await SimulatedNavigation.load(request, in: view, presented: foreign)))
        let delegate = Delegate()
        view.navigationDelegate = delegate
        #expect(await SimulatedNavigation.load(request, in: view, presented: foreign))
        #expect(delegate.finished == 1)
        let reply = await SimulatedNavigation.challenge(view, host: stage.host, presented: foreign)
        #expect(reply?.disposition == .useCredential)
        #expect(reply?.answers == 1)
    }

    @Test("texts are hidden in the log unless they say otherwise, and numbers are shown")
    func textsAreHiddenInTheLogUnlessTheySayOtherwiseAndNumbersAreShown() {
        let logger = Logger(subsystem: "log.example", category: "c")
        let name = "secret"
        logger.log(level: .error, "n=\(3) name=\(name) host=\(name, privacy: .public) number=\(3, privacy: .private)")
        logger.debug("plain")
        let entries = SimulatedLog.entries(subsystem: "log.example")
        #expect(entries.map(\.text) == ["n=3 name=<private> host=secret number=<private>", "plain"])
        #expect(entries.map(\.level) == [.error, .debug])
        #expect(entries.map(\.isPublic) == [false, true])
    }

    @Test("a background task is launched when it was asked for, and completed once")
    func backgroundTaskIsLaunchedWhenItWasAskedForAndCompletedOnce() async throws {
        let identifier = "background.example"
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { @Sendable task in
            task.setTaskCompleted(success: task is BGAppRefreshTask)
        }
        #expect(await SimulatedScheduler.launch(identifier) == nil)
        try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: identifier))
        #expect(await SimulatedScheduler.launch(identifier) == true)
        #expect(throws: BGTaskScheduler.Error(.notPermitted)) {
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "other"))
        }
    }

    @Test("an app of SwiftUI compiles, and its background task runs")
    @MainActor
    func appOfSwiftUICompilesAndItsBackgroundTaskRuns() async {
        struct Example: App {
            var body: some Scene {
                WindowGroup { Text("hello").task {} }
                    .backgroundTask(.appRefresh("refresh.example")) {
                        Logger(subsystem: "refresh.example", category: "").notice("ran")
                    }
            }
        }
        Example.main()
        #expect(await SimulatedBackgroundTasks.run("refresh.example"))
        #expect(SimulatedLog.entries(subsystem: "refresh.example").count == 1)
    }

    @Test("an app group has a folder, and other names have none")
    func appGroupHasAFolderAndOtherNamesHaveNone() throws {
        #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.example") != nil)
        #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "example") == nil)
    }
}

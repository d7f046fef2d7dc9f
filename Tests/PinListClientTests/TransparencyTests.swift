// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import TestData
import Testing

@_spi(Adapters) @testable import PinListClient

@Suite("A list that asks for Certificate Transparency")
struct TransparencyTests {
    @Test("refuses a pinned certificate that no log has seen, and lets one in that two logs signed")
    func refusesAPinnedCertificateThatNoLogHasSeenAndLetsOneInThatTwoLogsSigned() async throws {
        let scene = try LoggingScene()
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        let outcome = await pinning.refresh()
        #expect(outcome.isSuccess && outcome.logsFailure == nil && pinning.version == 2)
        let refused = pinning.decide(scene.unlogged)
        #expect(refused.verdict == .block && refused.reason == .transparency && refused.isEnforced)
        #expect(refused.matched != nil && refused.transparency?.isSatisfied == false)
        let allowed = pinning.decide(scene.logged)
        #expect(allowed.verdict == .allow && allowed.reason == .pinMatch)
        #expect(allowed.transparency?.policy == "chrome" && allowed.transparency?.isSatisfied == true)
        #expect(allowed.transparency?.timestamps.map(\.operatorName) == ["A", "B"])
        // Asked for once, at its digest, and no more bytes are read than it has.
        let path = "/logs/\(Envelope.digest(of: scene.file())).json"
        let request = try #require(scene.client.server.requests.last { $0.address.hasSuffix(path) })
        #expect(request.maximumBytes == scene.file().count)
        _ = await pinning.refresh()
        #expect(scene.client.server.paths.count { $0.hasPrefix("/logs/") } == 1)
        #expect(await !pinning.kinds().contains(.logsMissing))
    }

    @Test("verifies signatures once for a path, however often it is evaluated and under any policy")
    func verifiesSignaturesOnceForAPathHoweverOftenItIsEvaluatedAndUnderAnyPolicy() async throws {
        let scene = try LoggingScene()
        let file = scene.file()
        try scene.publish(file)
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        let host = try HostName(TestClient.host)
        #expect(!pinning.evaluatesWithoutSignatures(scene.logged, for: host))
        for _ in 0..<50 { #expect(pinning.decide(scene.logged).verdict == .allow) }
        for _ in 0..<50 { _ = pinning.decisionAgain(for: scene.logged, host: TestClient.host) }
        let logs = try #require(pinning.policyInForce.logs)
        #expect(logs.verifications == 1)
        #expect(pinning.evaluatesWithoutSignatures(scene.logged, for: host))
        try scene.publish(file, TransparencyRule(.enforce, .apple))
        _ = await pinning.refresh()
        #expect(pinning.version == 3 && pinning.decide(scene.logged).transparency?.policy == "apple")
        #expect(pinning.policyInForce.logs === logs && logs.verifications == 1)
        // Another certificate of the same key is another path.
        #expect(pinning.decide(scene.unlogged).verdict == .block && logs.verifications == 2)
        // Both are open side by side for a while when a certificate was renewed with its key.
        for path in [scene.logged, scene.unlogged, scene.logged] { _ = pinning.decide(path) }
        #expect(logs.verifications == 2)
        // Another log list is asked anew.
        try scene.publish(scene.file(at: "2026-11-21T00:00:00Z"))
        _ = await pinning.refresh()
        #expect(!pinning.evaluatesWithoutSignatures(scene.logged, for: host))
    }

    @Test("a mode that only reports lets the certificate in, and reports it with validation-result 1")
    func modeThatOnlyReportsLetsTheCertificateInAndReportsItWithValidationResult1() async throws {
        for (rule, mode, verdict) in [
            (TransparencyRule(.report, .chrome), PinnedDomain.Mode.enforce, PinningDecision.Verdict.allow),
            (TransparencyRule(.enforce, .chrome), .report, .allow),
            (TransparencyRule(.enforce, .chrome), .enforce, .block),
        ] {
            var scene = try LoggingScene()
            let collector = SimulatedCollector()
            scene.client.configuration.reportSender = collector
            try scene.publish(scene.file(), rule, mode: mode)
            let pinning = try scene.client.launch()
            _ = await pinning.refresh()
            try await running(pinning) {
                let decision = pinning.decide(scene.unlogged)
                #expect(decision.verdict == verdict && decision.reason == .transparency)
                await collector.untilArrived(count: 1)
            }
            let body = try #require(collector.arrivals.first?.body)
            let report = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
            #expect(report["validation-result"] as? Int == 1)
            #expect((report["tumbler"] as? [String: Any])?["reason"] as? String == "transparency")
            #expect(report["enforce-pinning"] as? Bool == (mode == .enforce))
        }
    }

    @Test("a suspension relaxes it, a mismatch is a mismatch, and hosts without the rule are not evaluated")
    func suspensionRelaxesItAMismatchIsAMismatchAndHostsWithoutTheRuleAreNotEvaluated() async throws {
        let scene = try LoggingScene()
        let until = TestClient.start.advanced(by: 3_600)
        try scene.publish(scene.file()) { list in
            list.suspended = [Suspension(.everything, until: until, reason: "a drill")]
        }
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        let suspended = pinning.decide(scene.unlogged)
        #expect(suspended.reason == .suspended && suspended.transparency == nil)
        scene.client.clock.advance(by: 3_600)
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
        #expect(pinning.decide(TestClient.strangePath).reason == .noMatchingPin)
        let other = pinning.decision(for: scene.unlogged, host: "other.example.com")
        #expect(other.reason == .notPinned && other.transparency == nil)
    }

    @Test("an app that observes refuses nothing")
    func appThatObservesRefusesNothing() async throws {
        var scene = try LoggingScene()
        scene.client.configuration.isObserving = true
        try scene.publish(scene.file())
        let pinning = try scene.client.launch()
        _ = await pinning.refresh()
        let decision = pinning.decide(scene.unlogged)
        #expect(decision.verdict == .allow && decision.reason == .transparency && !decision.isEnforced)
    }

    @Test("a mode and a policy of a version to come evaluate nothing, and are an event")
    func modeAndAPolicyOfAVersionToComeEvaluateNothingAndAreAnEvent() async throws {
        for (known, unknown) in [
            ("\"chrome\"", "\"chrome-2027\""), ("\"enforce\",\"policy\"", "\"insist\",\"policy\""),
        ] {
            let scene = try LoggingScene()
            try scene.publish(scene.file())
            try scene.client.server.publish { repository in
                let payload = String(decoding: repository.list.payload, as: UTF8.self)
                try #require(payload.contains(known))
                let envelope = try Envelope(
                    of: .pins, payload: Array(payload.replacingOccurrences(of: known, with: unknown).utf8),
                    signedBy: repository.pinsKeys)
                repository.tampering[.pins] = { _ in envelope.bytes }
            }
            let pinning = try scene.client.launch()
            #expect(await pinning.refresh().isSuccess)
            #expect(pinning.version == 2)
            let decision = pinning.decide(scene.unlogged)
            #expect(decision.reason == .pinMatch && decision.transparency == nil)
            #expect(await pinning.count(of: .unknownTransparency) == 1)
        }
    }

    @Test("rules that come with the app have no log list: nothing is evaluated, and that is said once")
    func rulesThatComeWithTheAppHaveNoLogListNothingIsEvaluatedAndThatIsSaidOnce() async throws {
        let scene = try LoggingScene()
        let policy = try PinningPolicy(domains: [try scene.entry().entry])
        let pinning = Pinning(policy: policy, state: .memory, configuration: scene.client.configuration)
        for _ in 0..<3 { #expect(pinning.decide(scene.unlogged).reason == .pinMatch) }
        #expect(await pinning.count(of: .logsMissing) == 1)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListMetadata
import TestData
import Testing

/// formats.md, section 5: collectors read this, so its members are counted.
@Suite("A failure as a report")
struct FailureReportTests {
    private func json(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private static let members: Set<String> = [
        "date-time", "hostname", "port", "noted-hostname", "include-subdomains", "enforce-pinning",
        "effective-expiration-date", "served-certificate-chain", "validated-certificate-chain", "known-pins",
        "app-bundle-id", "app-version", "app-platform", "app-platform-version", "validation-result", "tumbler",
    ]

    @Test("the members of RFC 7469 and of TrustKit, and one object of our own; no identifier of a device")
    func membersOfRFC7469AndOfTrustKitAndOneObjectOfOurOwn() throws {
        let chain = Scene.chain()
        let decision = try Scene.decision("v1.api.example.com", entries: [Scene.entry("api.example.com")])
        let report = try #require(
            Report(
                decision, port: 8_443, served: [chain[0]], isWebView: false, list: Scene.list, app: Scene.app,
                signals: ["debugger", "hook\u{1b}"], at: Scene.start))
        let object = try self.json(report.body)
        #expect(Set(object.keys) == Self.members)
        #expect(object["date-time"] as? String == "2026-11-21T00:00:00Z")
        #expect(object["hostname"] as? String == "v1.api.example.com")
        #expect(object["port"] as? Int == 8_443)
        #expect(object["noted-hostname"] as? String == "api.example.com")
        #expect(object["include-subdomains"] as? Bool == true)
        #expect(object["enforce-pinning"] as? Bool == true)
        #expect(object["effective-expiration-date"] as? String == "2026-11-22T00:00:00Z")
        #expect(object["validation-result"] as? Int == 1)
        #expect(object["app-bundle-id"] as? String == "com.example.app")
        // The pin of a certificate has no form there.
        let pin = Base64.encode(Pin(kind: .publicKey, hashing: [9]).digest)
        #expect(object["known-pins"] as? [String] == ["pin-sha256=\"\(pin)\""])
        let served = try #require(object["served-certificate-chain"] as? [String])
        let validated = try #require(object["validated-certificate-chain"] as? [String])
        #expect(try served.flatMap { try PEMBlock.blocks(in: $0.utf8) }.map(\.bytes) == [chain[0]])
        #expect(try validated.flatMap { try PEMBlock.blocks(in: $0.utf8) }.map(\.bytes) == chain)
        let ours = try #require(object["tumbler"] as? [String: Any])
        #expect(Set(ours.keys) == ["list-name", "list-version", "list-digest", "reason", "signals"])
        #expect(ours["list-name"] as? String == "com.example.app")
        #expect(ours["list-version"] as? Int == 7)
        #expect(ours["list-digest"] as? String == Scene.list.digest)
        #expect(ours["reason"] as? String == "no-matching-pin")
        #expect(ours["signals"] as? [String] == ["debugger", "hook?"])
        #expect(report.addresses == [Scene.collector])
    }

    @Test(
        "every member of a report of TrustKit, with its type",
        .enabled(
            if: SharedData.holds(SharedData.trustKitReport), "there is no ../shared/data/trustkit beside the checkout"))
    func everyMemberOfAReportOfTrustKitWithItsType() throws {
        var app = Scene.app
        app.vendorID = "599F9C00-92DC-4B5C-9464-7971F01F8370"
        let decision = try Scene.decision("api.example.com", entries: [Scene.entry("api.example.com")])
        let report = try #require(
            Report(
                decision, port: 443, served: Scene.chain(), isWebView: false, list: Scene.list, app: app,
                at: Scene.start))
        let ours = try self.types(report.body)
        var theirs = try self.types(Array(try Data(contentsOf: SharedData.trustKitReport)))
        #expect(theirs.count == 15)
        // What sends this is not TrustKit, and has no version of it.
        #expect(theirs.removeValue(forKey: "trustkit-version") == "string")
        for (member, type) in theirs { #expect(ours[member] == type, "\(member)") }
    }

    /// The kind of each member's value.
    private func types(_ bytes: [UInt8]) throws -> [String: String] {
        guard case .object(let members) = try JSONValue(strict: bytes) else { return [:] }
        let types = members.map { member -> (String, String) in
            switch member.value {
            case .string: (member.name, "string")
            case .integer: (member.name, "integer")
            case .bool: (member.name, "bool")
            case .array(let values):
                (member.name, "array of \(values.allSatisfy { if case .string = $0 { true } else { false } })")
            default: (member.name, "other")
            }
        }
        return Dictionary(uniqueKeysWithValues: types)
    }

    @Test(
        "Python reads the same in it",
        .enabled(if: Python.installed != nil, "there is no python3 on PATH to compare with"))
    func pythonReadsTheSameInIt() async throws {
        let hostile = "a\",\"x\":\"\n\u{0}\u{2028}"
        let decision = try Scene.decision(hostile, entries: [Scene.entry("api.example.com")])
        let report = try #require(
            Report(
                decision, port: 443, served: Scene.chain(), isWebView: false, list: Scene.list, app: Scene.app,
                signals: ["\"", "\\"], at: Scene.start))
        let script = """
            import json, sys
            def once(pairs):
                assert len({name for name, _ in pairs}) == len(pairs)
                return dict(pairs)
            report = json.loads(sys.stdin.buffer.read(), object_pairs_hook=once)
            types = {name: type(value).__name__ for name, value in report.items()}
            assert report["hostname"] == 'a","x":"\\n\\0\\u2028', report["hostname"]
            print(*(f"{name}={types[name]}" for name in sorted(types)), report["tumbler"]["reason"])
            """
        let output = try await Python.run(script, input: report.body)
        #expect(
            output == """
                app-bundle-id=str app-platform=str app-platform-version=str app-version=str date-time=str \
                effective-expiration-date=str enforce-pinning=bool hostname=str include-subdomains=bool known-pins=list \
                noted-hostname=str port=int served-certificate-chain=list tumbler=dict \
                validated-certificate-chain=list validation-result=int host-invalid
                """)
    }

    @Test(
        "a reason has the integer that TrustKit gives it",
        arguments: [
            (PinningDecision.Reason.pinMatch, 0), (.noMatchingPin, 1), (.deniedKey, 1), (.deniedUndecidable, 1),
            (.unlistedDenied, 1), (.chainInvalid, 2), (.noCertificates, 2), (.overBudget, 2), (.hostInvalid, 3),
            (.cleartext, 3), (.otherHostConnection, 1),
        ])
    func reasonHasTheIntegerThatTrustKitGivesIt(reason: PinningDecision.Reason, integer: Int) {
        #expect(reason.validationResult == integer)
    }

    @Test("what is reported: every refusal, and what is allowed but asked for")
    func whatIsReportedEveryRefusalAndWhatIsAllowedButAskedFor() throws {
        let enforced = try Scene.entry("api.example.com")
        let reporting = try Scene.entry("api.example.com", mode: .report)
        let off = try Scene.entry("api.example.com", mode: .off)
        var expired = enforced
        expired.expiresAt = Scene.start
        let leaf = try Pin(publicKeyOf: Scene.chain()[0])
        var matching = enforced
        matching.pins = [KnownPin(leaf)]
        func reason(_ entries: [PinnedDomain], denied: [DeniedKey] = [], unlisted: UnlistedHosts = .allow) throws
            -> PinningDecision.Reason?
        {
            try Scene.decision("api.example.com", entries: entries, denied: denied, unlisted: unlisted).reportedReason
        }
        #expect(try reason([enforced]) == .noMatchingPin)
        #expect(try reason([reporting]) == .noMatchingPin)
        #expect(try reason([off]) == nil)
        #expect(try reason([matching]) == nil)
        #expect(try reason([expired]) == .domainExpired)
        #expect(try reason([matching], denied: [DeniedKey(leaf)]) == .deniedKey)
        #expect(try reason([matching], denied: [DeniedKey(leaf, isEnforced: false)]) == .deniedKey)
        #expect(try reason([], unlisted: .allow) == nil)
        #expect(try reason([], unlisted: .report) == .unlistedReported)
        #expect(try reason([], unlisted: .deny) == .unlistedDenied)
    }

    @Test("a failure of a host that no entry covers is never reported from a web view; one of a listed host is")
    func failureOfAHostThatNoEntryCoversIsNeverReportedFromAWebView() throws {
        for unlisted in [UnlistedHosts.report, .deny] {
            let decision = try Scene.decision("private.example.org", entries: [], unlisted: unlisted)
            for isWebView in [false, true] {
                let report = Report(
                    decision, port: 443, served: [], isWebView: isWebView, list: Scene.list, app: Scene.app,
                    at: Scene.start)
                #expect((report == nil) == isWebView)
            }
        }
        #expect(throws: Never.self) { try Scene.report(isWebView: true) }
    }

    @Test("there is no default destination: where neither entry nor list names one, there is no report")
    func thereIsNoDefaultDestinationWhereNeitherEntryNorListNamesOneThereIsNoReport() throws {
        var entry = try Scene.entry("api.example.com")
        entry.reportTo = []
        var list = Scene.list
        list.reportTo = []
        let decision = try Scene.decision("api.example.com", entries: [entry])
        let report = Report(
            decision, port: 443, served: [], isWebView: false, list: list, app: Scene.app, at: Scene.start)
        #expect(report == nil)
        #expect(Report(stale: list, app: Scene.app, at: Scene.start) == nil)
    }

    @Test("what a peer presents does not choose how large a report is")
    func whatAPeerPresentsDoesNotChooseHowLargeAReportIs() throws {
        let large = Scene.certificate(subject: [1], issuer: [2], key: [UInt8](repeating: 7, count: 30_000))
        for served in [[[UInt8]](repeating: large, count: 100), [[UInt8]](repeating: Scene.chain()[0], count: 10_000)] {
            let report = try Scene.report(chain: served)
            #expect(report.body.count < 250_000)
            let chain = try #require(try self.json(report.body)["served-certificate-chain"] as? [String])
            #expect((1...10).contains(chain.count))
            #expect(try self.json(report.briefBody)["served-certificate-chain"] as? [String] == [])
        }
    }
}

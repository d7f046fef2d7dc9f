// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinningMigration
import Testing

@Suite("A configuration of TrustKit, key by key")
struct TrustKitConfigurationTests {
    private typealias Sample = TrustKitConfiguration

    @Test("an app moves over: hosts, pins, modes, subdomains and reports stay what they were, and nothing is warned of")
    func appMovesOverHostsPinsModesSubdomainsAndReportsStayWhatTheyWere() throws {
        let migrated = try MigratedPins(
            trustKit: Sample.configuration([
                "api.example.com": Sample.domain([
                    "TSKEnforcePinning": true, "TSKExpirationDate": "2027-06-01",
                    "TSKReportUris": ["https://reports.example.com/r"],
                ]),
                "example.org": Sample.domain(["TSKIncludeSubdomains": true, "TSKEnforcePinning": false]),
                "open.example.org": ["TSKExcludeSubdomainFromParentPolicy": true],
            ]))
        #expect(migrated.warnings.isEmpty, "\(migrated.warnings)")
        #expect(migrated.domains.map(\.domain.description) == ["api.example.com", "example.org", "open.example.org"])
        let entry = try #require(try migrated.entry("api.example.com"))
        #expect(entry.mode == .enforce && !entry.includeSubdomains && !entry.requireIssuer)
        #expect(entry.written == ["any sha256/\(Sample.hash("a"))", "any sha256/\(Sample.hash("b"))"])
        #expect(entry.expiresAt == (try Timestamp("2027-06-01T00:00:00Z")))
        #expect(entry.reportTo == ["https://reports.example.com/r"])
        #expect(try migrated.entry("example.org")?.mode == .report)
        let policy = try migrated.policy()
        #expect(policy.entry(for: try HostName("a.b.example.org"))?.mode == .report)
        #expect(policy.entry(for: try HostName("open.example.org"))?.mode == .off)
        #expect(policy.unlisted == .allow)
    }

    @Test("TSKSwizzleNetworkDelegates: nothing is swizzled here, and a warning says so")
    func tskSwizzleNetworkDelegatesNothingIsSwizzledHereAndAWarningSaysSo() throws {
        let domains = ["api.example.com": Sample.domain()]
        func warned(_ value: Any) throws -> [String] {
            let configuration = Sample.configuration(domains, ["TSKSwizzleNetworkDelegates": value])
            return try MigratedPins(trustKit: configuration).warned
        }
        #expect(try warned(true) == ["TSKSwizzleNetworkDelegates weaker"])
        #expect(try warned(false).isEmpty)
        // What is taken here changes no entry: of an unclear value both are said.
        #expect(try warned("maybe") == ["TSKSwizzleNetworkDelegates same", "TSKSwizzleNetworkDelegates weaker"])
    }

    @Test("TSKIgnorePinningForUserDefinedTrustAnchors: an interceptor with an installed root is not let in")
    func tskIgnorePinningForUserDefinedTrustAnchorsAnInterceptorWithAnInstalledRootIs() throws {
        let domains = ["api.example.com": Sample.domain()]
        let key = "TSKIgnorePinningForUserDefinedTrustAnchors"
        #expect(try MigratedPins(trustKit: Sample.configuration(domains, [key: true])).warned == ["\(key) stricter"])
        #expect(try MigratedPins(trustKit: Sample.configuration(domains, [key: false])).warned.isEmpty)
        // The default of TrustKit, on macOS alone.
        for (platform, warned) in [("LSMinimumSystemVersion", ["\(key) stricter"]), ("MinimumOSVersion", [])] {
            let migrated = try MigratedPins(infoPlist: [
                "TSKConfiguration": Sample.configuration(domains), platform: "15.0",
            ])
            #expect(migrated.warned == warned)
        }
    }

    @Test("TSKPublicKeyHashes: one pin, where TrustKit ends the app, is a warning; it still enforces")
    func tskPublicKeyHashesOnePinWhereTrustKitEndsTheAppIsAWarningItStillEnforces() throws {
        let migrated = try Sample.migrated(["TSKPublicKeyHashes": [Sample.hash("a")]])
        #expect(migrated.warned == ["TSKPublicKeyHashes same"])
        #expect(migrated.warnings[0].message.contains("no backup"))
        #expect(migrated.domains[0].mode == .enforce)
        // The same pin twice is one pin.
        let twice = try Sample.migrated(["TSKPublicKeyHashes": [Sample.hash("a"), "sha256/\(Sample.hash("a"))"]])
        #expect(twice.domains == migrated.domains && twice.warned == migrated.warned)
        #expect(
            try Sample.migrated(["TSKPublicKeyHashes": [Sample.hash("a")], "TSKEnforcePinning": false]).warned == [])
    }

    @Test("TSKPublicKeyHashes: no pin, or pins that are none: the host is not opened")
    func tskPublicKeyHashesNoPinOrPinsThatAreNoneTheHostIsNotOpened() throws {
        let long = String(repeating: "A", count: 100_000)
        for hashes in [[], ["AAAA"], ["not base64!"], [long], [""], [7], [[String: Any]()]] as [[Any]] {
            let migrated = try Sample.migrated(["TSKPublicKeyHashes": hashes])
            #expect(migrated.warned.last == "TSKPublicKeyHashes stricter")
            let decision = try migrated.policy().validate(
                ValidatedPath(uncheckedValidatedPath: [[0x30]]), for: "api.example.com",
                at: Timestamp(secondsSince1970: 0))
            #expect(decision.verdict == .block && decision.reason == .noMatchingPin)
        }
    }

    @Test("TSKPublicKeyHashes: a bad pin beside good ones goes, and is named")
    func tskPublicKeyHashesABadPinBesideGoodOnesGoesAndIsNamed() throws {
        let migrated = try Sample.migrated(["TSKPublicKeyHashes": [Sample.hash("a"), "oops", Sample.hash("b")]])
        #expect(migrated.domains[0].pins.count == 2)
        #expect(migrated.warned == ["TSKPublicKeyHashes stricter"] && migrated.warnings[0].message.contains("oops"))
    }

    @Test("TSKEnforcePinning, TSKIncludeSubdomains: as booleans, numbers and texts, as Objective-C reads them")
    func tskEnforcePinningTSKIncludeSubdomainsAsBooleansNumbersAndTexts() throws {
        for value in [false, 0, "NO", "no", "false", "0", "n", " No"] as [Any] {
            let entry = try Sample.migrated(["TSKEnforcePinning": value, "TSKIncludeSubdomains": value]).domains[0]
            #expect(entry.mode == .report && !entry.includeSubdomains, "\(value)")
        }
        for value in [true, 1, "YES", "yes", "true", "1", "Y", "2", " Yes ", "+01", "1.5", "Yup"] as [Any] {
            let entry = try Sample.migrated(["TSKEnforcePinning": value, "TSKIncludeSubdomains": value]).domains[0]
            #expect(entry.mode == .enforce && entry.includeSubdomains, "\(value)")
        }
    }

    @Test("TSKEnforcePinning, TSKIncludeSubdomains: an unclear value is taken for the one that refuses more, and named")
    func tskEnforcePinningTSKIncludeSubdomainsAnUnclearValueIsTakenForTheOneThatRefusesMore() throws {
        for value in ["maybe", "on", "nope", "0.5", "", [1], ["a": 1], Date(), Data()] as [Any] {
            let migrated = try Sample.migrated(["TSKEnforcePinning": value, "TSKIncludeSubdomains": value])
            #expect(migrated.domains[0].mode == .enforce && migrated.domains[0].includeSubdomains)
            #expect(migrated.warned == ["TSKIncludeSubdomains stricter", "TSKEnforcePinning stricter"])
        }
    }

    @Test("TSKExcludeSubdomainFromParentPolicy: an unclear value leaves the pins in force")
    func tskExcludeSubdomainFromParentPolicyAnUnclearValueLeavesThePinsInForce() throws {
        let migrated = try Sample.migrated(["TSKExcludeSubdomainFromParentPolicy": "maybe"])
        #expect(migrated.domains[0].mode == .enforce)
        #expect(migrated.warned == ["TSKExcludeSubdomainFromParentPolicy same"])
    }

    @Test("TSKExpirationDate: a day is midnight UTC; one that cannot be read never opens the host")
    func tskExpirationDateADayIsMidnightUTCOneThatCannotBeReadNeverOpensTheHost() throws {
        #expect(
            try Sample.migrated(["TSKExpirationDate": "2027-06-01"]).domains[0].expiresAt?.description
                == "2027-06-01T00:00:00Z")
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(
            try Sample.migrated(["TSKExpirationDate": date]).domains[0].expiresAt?.secondsSince1970 == 1_800_000_000)
        for text in ["2027-13-01", "2027-02-29", "01.06.2027", "", "2027-06-01T00:00", "２０２７-06-01", "9999999999999"] {
            let migrated = try Sample.migrated(["TSKExpirationDate": text])
            #expect(migrated.domains[0].expiresAt == nil && migrated.warned == ["TSKExpirationDate same"], "\(text)")
        }
        for value in [20_270_601, true, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan)]
            as [Any]
        {
            let migrated = try Sample.migrated(["TSKExpirationDate": value])
            #expect(migrated.domains[0].expiresAt == nil && migrated.warned == ["TSKExpirationDate stricter"])
        }
    }

    @Test("TSKReportUris: https is kept, everything else is not")
    func tskReportUrisHttpsIsKeptEverythingElseIsNot() throws {
        let migrated = try Sample.migrated([
            "TSKReportUris": [
                "https://a.example.com/r?x=1", "http://b.example.com/", "https://", "https://u@c.example.com/", 5,
                "https://[::1]:8443/", "https://d.example.com:0/", "https://a.example.com/r?x=1", "https://e e/",
            ]
        ])
        #expect(migrated.domains[0].reportTo == ["https://a.example.com/r?x=1", "https://[::1]:8443/"])
        #expect(migrated.warned == Array(repeating: "TSKReportUris same", count: 6))
        #expect(try Sample.migrated(["TSKReportUris": "https://a.example.com/"]).warned == ["TSKReportUris same"])
    }

    @Test("TSKDisableDefaultReportUri: nothing goes to the vendor, which is said once")
    func tskDisableDefaultReportUriNothingGoesToTheVendorWhichIsSaidOnce() throws {
        let domain = Sample.domain(without: "TSKDisableDefaultReportUri")
        let migrated = try MigratedPins(
            trustKit: Sample.configuration(["a.example.com": domain, "b.example.com": domain, "c.example.com": domain]))
        #expect(migrated.warned == ["TSKDisableDefaultReportUri same"])
        #expect(migrated.warnings[0].message.contains("a.example.com and 2 more"))
        #expect(migrated.domains.allSatisfy { $0.reportTo.isEmpty })
    }

    @Test("TSKPublicKeyAlgorithms is not needed, and unknown keys are named, both kinds")
    func tskPublicKeyAlgorithmsIsNotNeededAndUnknownKeysAreNamedBothKinds() throws {
        let migrated = try MigratedPins(
            trustKit: Sample.configuration(
                ["api.example.com": Sample.domain(["TSKPublicKeyAlgorithms": ["TSKAlgorithmRsa2048"], "TSKTypo": 1])],
                ["TSKOther": 2]))
        #expect(migrated.warned == ["TSKOther same", "TSKTypo same", "TSKPublicKeyAlgorithms same"])
        #expect(migrated.warnings.map(\.domain) == [nil, "api.example.com", "api.example.com"])
    }

    @Test(
        "TSKExcludeSubdomainFromParentPolicy beside pins, where TrustKit ends the app: the exclusion holds"
    )
    func tskExcludeSubdomainFromParentPolicyBesidePinsWhereTrustKitEndsTheApp() throws {
        let migrated = try Sample.migrated(["TSKExcludeSubdomainFromParentPolicy": true])
        #expect(migrated.domains[0].mode == .off && migrated.domains[0].pins.isEmpty)
        #expect(migrated.warned == ["TSKPublicKeyHashes same"])
    }
}

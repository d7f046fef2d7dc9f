// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinningMigration
import Testing

@Suite("Configurations that are wrong, or written to do harm")
struct HostileConfigurationTests {
    private typealias Sample = TrustKitConfiguration

    private static func code(_ body: () throws -> MigratedPins) -> MigrationError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? MigrationError)?.code
        }
    }

    @Test("nothing in it, or nothing that is a host")
    func nothingInItOrNothingThatIsAHost() throws {
        #expect(Self.code { try MigratedPins(trustKit: [:]) } == .nothingPinned)
        #expect(Self.code { try MigratedPins(trustKit: ["TSKPinnedDomains": [String: Any]()]) } == .nothingPinned)
        #expect(Self.code { try MigratedPins(trustKit: ["TSKPinnedDomains": ["a"]]) } == .malformed)
        #expect(
            Self.code { try MigratedPins(trustKit: ["TSKPinnedDomains": ["a b": Sample.domain()]]) } == .nothingPinned)
        #expect(Self.code { try MigratedPins(pinnedDomains: [:]) } == .nothingPinned)
        #expect(Self.code { try MigratedPins(infoPlist: ["CFBundleName": "x"]) } == .nothingPinned)
        #expect(Self.code { try MigratedPins(infoPlist: ["TSKConfiguration": 1]) } == .malformed)
        #expect(Self.code { try MigratedPins(certificates: [String: [[UInt8]]]()) } == .nothingPinned)
    }

    @Test("every value of the wrong type: no crash, and nothing that was pinned is open")
    func everyValueOfTheWrongTypeNoCrashAndNothingThatWasPinnedIsOpen() throws {
        let wrong: [Any] = [
            "text", 7, 7.5, true, Date(), Data([1]), [Any](), ["a", 1], [String: Any](), ["k": ["k": [1]]], NSNull(),
            Int.min, UInt64.max, Double.nan,
        ]
        let keys = [
            "TSKPublicKeyHashes", "TSKEnforcePinning", "TSKIncludeSubdomains", "TSKExcludeSubdomainFromParentPolicy",
            "TSKReportUris", "TSKDisableDefaultReportUri", "TSKExpirationDate", "TSKPublicKeyAlgorithms", "unknown",
        ]
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        for value in wrong {
            for key in keys where key != "TSKExcludeSubdomainFromParentPolicy" && key != "TSKEnforcePinning" {
                let policy = try Sample.migrated([key: value]).policy()
                let decision = policy.validate(
                    path, for: "api.example.com", at: Timestamp(secondsSince1970: 5_000_000_000))
                #expect(decision.verdict == .block || decision.reason == .domainExpired, "\(key): \(value)")
            }
            _ = try? Sample.migrated(["TSKEnforcePinning": value]).policy()
            _ = try? Sample.migrated(["TSKExcludeSubdomainFromParentPolicy": value]).policy()
            _ = try? MigratedPins(trustKit: ["TSKPinnedDomains": value, "TSKSwizzleNetworkDelegates": value])
            _ = try? MigratedPins(trustKit: ["TSKPinnedDomains": ["api.example.com": value]])
            _ = try? MigratedPins(infoPlist: ["TSKConfiguration": value, "NSAppTransportSecurity": value])
            _ = try? MigratedPins(infoPlist: ["NSAppTransportSecurity": ["NSPinnedDomains": value]])
            _ = try? MigratedPins(pinnedDomains: ["api.example.com": value])
            for key in ["NSIncludesSubdomains", "NSPinnedCAIdentities", "NSPinnedLeafIdentities"] {
                let policy = try MigratedPins(pinnedDomains: ["api.example.com": [key: value]]).policy()
                let decision = policy.validate(path, for: "api.example.com", at: Timestamp(secondsSince1970: 0))
                #expect(decision.verdict == .block, "\(key): \(value)")
                _ = try MigratedPins(pinnedDomains: ["api.example.com": ["NSPinnedLeafIdentities": [value]]])
            }
        }
    }

    @Test("a dictionary that is very deep, and one that is very wide")
    func dictionaryThatIsVeryDeepAndOneThatIsVeryWide() {
        var deep: Any = 1
        for _ in 0..<1_000 { deep = [deep] }
        #expect(Self.code { try MigratedPins(trustKit: ["TSKPinnedDomains": deep]) } == .tooLarge)
        let wide = [Int](repeating: 1, count: 600_000)
        #expect(Self.code { try Sample.migrated(["TSKPublicKeyHashes": wide]) } == .tooLarge)
        #expect(
            Self.code { try MigratedPins(infoPlist: ["NSAppTransportSecurity": ["NSPinnedDomains": deep]]) }
                == .tooLarge)
    }

    @Test("what else stands in an Info.plist is not looked at")
    func whatElseStandsInAnInfoPlistIsNotLookedAt() throws {
        var deep: Any = 1
        for _ in 0..<1_000 { deep = [deep] }
        let plist: [String: Any] = [
            "Other": deep, "TSKConfiguration": Sample.configuration(["api.example.com": Sample.domain()]),
            "NSAppTransportSecurity": ["NSAllowsArbitraryLoads": deep],
        ]
        #expect(try MigratedPins(infoPlist: plist).domains.count == 1)
    }

    @Test("10,000 hosts are read, 10,001 are an error and not 10,000")
    func of10000HostsAreRead10001AreAnErrorAndNot10000() throws {
        var domains: [String: Any] = [:]
        for number in 0..<10_000 { domains["h\(number).example.com"] = Sample.domain() }
        #expect(try MigratedPins(trustKit: Sample.configuration(domains)).domains.count == 10_000)
        domains["one.example.com"] = Sample.domain()
        #expect(Self.code { try MigratedPins(trustKit: Sample.configuration(domains)) } == .tooLarge)
    }

    @Test("17 pins: the first 16 are kept, and whom that may lock out is said")
    func of17PinsTheFirst16AreKeptAndWhomThatMayLockOutIsSaid() throws {
        let hashes = "abcdefghijklmnopq".map { Sample.hash($0) }
        let migrated = try Sample.migrated(["TSKPublicKeyHashes": hashes])
        #expect(migrated.domains[0].pins.count == 16 && migrated.warned == ["TSKPublicKeyHashes stricter"])
    }

    @Test(
        "a name that does not normalise is left out by its name, and the others stay",
        arguments: [
            "bücher.example", "*.example.com", "a..b", "", "https://a.example.com", "a.example.com:443", "1.2.3", "a b",
        ])
    func nameThatDoesNotNormaliseIsLeftOutByItsNameAndTheOthersStay(name: String) throws {
        let migrated = try MigratedPins(
            trustKit: Sample.configuration([name: Sample.domain(), "api.example.com": Sample.domain()]))
        #expect(migrated.domains.map(\.domain.description) == ["api.example.com"])
        #expect(migrated.warned == ["TSKPinnedDomains weaker"] && migrated.warnings[0].domain == name)
    }

    @Test("one host under two names: the normal form is the one that TrustKit could match")
    func oneHostUnderTwoNamesTheNormalFormIsTheOneThatTrustKitCouldMatch() throws {
        for other in ["API.example.com", "api.example.com."] {
            let migrated = try MigratedPins(
                trustKit: Sample.configuration([
                    other: Sample.domain(["TSKPublicKeyHashes": [Sample.hash("c"), Sample.hash("d")]]),
                    "api.example.com": Sample.domain(),
                ]))
            #expect(try migrated.entry("api.example.com")?.written.first == "any sha256/\(Sample.hash("a"))")
            #expect(migrated.warned == ["TSKPublicKeyHashes weaker"] && migrated.domains.count == 1)
        }
    }

    @Test(
        "an IP address with subdomains, and a public suffix: one has none, the other is the linter's to refuse")
    func ipAddressWithSubdomainsAndAPublicSuffixOneHasNone() throws {
        let migrated = try MigratedPins(
            trustKit: Sample.configuration([
                "192.0.2.1": Sample.domain(["TSKIncludeSubdomains": true]),
                "co.uk": Sample.domain(["TSKIncludeSubdomains": true]),
            ]))
        #expect(try migrated.entry("192.0.2.1")?.includeSubdomains == false)
        #expect(try migrated.entry("co.uk")?.includeSubdomains == true)
        #expect(migrated.warned == ["TSKPublicKeyHashes same"])
        _ = try migrated.policy()
    }

    @Test("a host with escape sequences does not reach a terminal by a warning")
    func hostWithEscapeSequencesDoesNotReachATerminalByAWarning() throws {
        let migrated = try MigratedPins(
            trustKit: Sample.configuration([
                "\u{1B}[2Jevil\n.example": Sample.domain(), "api.example.com": Sample.domain(["\u{1B}]0;x\u{07}": 1]),
            ]))
        #expect(migrated.warnings.count == 2)
        for warning in migrated.warnings {
            #expect(warning.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        }
    }

    @Test("a thousand thousand bad pins are a thousand warnings, and a number")
    func thousandThousandBadPinsAreAThousandWarningsAndANumber() throws {
        let migrated = try Sample.migrated(["TSKPublicKeyHashes": [String](repeating: "x", count: 100_000)])
        #expect(migrated.warnings.count == 1_001)
        #expect(migrated.warnings.last?.message.hasPrefix("99001 more") == true, "\(migrated.warnings.last!)")
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinningMigration
import Testing

@Suite("NSPinnedDomains, and what an Info.plist says")
struct PinnedDomainsTests {
    private typealias Sample = TrustKitConfiguration

    private static func identities(_ letters: String) -> [[String: String]] {
        letters.map { ["SPKI-SHA256-BASE64": Sample.hash($0)] }
    }

    @Test("authorities become issuer pins, leaves leaf pins, and where there are both, both must match")
    func authoritiesBecomeIssuerPinsLeavesLeafPinsAndWhereThereAreBothBothMustMatch() throws {
        let migrated = try MigratedPins(pinnedDomains: [
            "ca.example.com": ["NSPinnedCAIdentities": Self.identities("ab")],
            "leaf.example.com": ["NSPinnedLeafIdentities": Self.identities("cd")],
            "both.example.com": [
                "NSPinnedCAIdentities": Self.identities("a"), "NSPinnedLeafIdentities": Self.identities("cd"),
            ],
        ])
        #expect(migrated.warnings.isEmpty, "\(migrated.warnings)")
        let authorities = try #require(try migrated.entry("ca.example.com"))
        #expect(authorities.written == ["issuer sha256/\(Sample.hash("a"))", "issuer sha256/\(Sample.hash("b"))"])
        #expect(!authorities.requireIssuer)
        #expect(try migrated.entry("leaf.example.com")?.pins.map(\.position) == [.leaf, .leaf])
        let both = try #require(try migrated.entry("both.example.com"))
        #expect(both.requireIssuer && both.pins.map(\.position) == [.leaf, .leaf, .issuer])
    }

    @Test("an empty array matches no key, as in Apple's frameworks: every connection is refused, which is said")
    func anEmptyArrayMatchesNoKey() throws {
        let migrated = try MigratedPins(pinnedDomains: [
            "one.example.com": ["NSPinnedCAIdentities": [Any](), "NSPinnedLeafIdentities": Self.identities("cd")],
            "both.example.com": ["NSPinnedCAIdentities": [Any](), "NSPinnedLeafIdentities": [Any]()],
            "alone.example.com": ["NSPinnedLeafIdentities": [Any]()],
        ])
        let one = try #require(try migrated.entry("one.example.com"))
        #expect(one.requireIssuer && one.pins.map(\.position) == [.leaf, .leaf])
        for host in ["both.example.com", "alone.example.com"] {
            #expect(try migrated.entry(host)?.pins.isEmpty == true)
        }
        let warnings = migrated.warnings.filter { $0.message.contains("every connection to it is refused") }
        #expect(warnings.compactMap(\.domain).sorted() == ["alone.example.com", "both.example.com", "one.example.com"])
        #expect(warnings.allSatisfy { $0.effect == .stricter })
    }

    @Test("Apple covers one level of subdomains, this covers all: that is said")
    func appleCoversOneLevelOfSubdomainsThisCoversAllThatIsSaid() throws {
        let migrated = try MigratedPins(pinnedDomains: [
            "example.com": ["NSIncludesSubdomains": true, "NSPinnedLeafIdentities": Self.identities("ab")]
        ])
        #expect(migrated.domains[0].includeSubdomains && migrated.warned == ["NSIncludesSubdomains stricter"])
    }

    @Test("NSIncludesSubdomains: a number or a text is NO to Apple; here it is what it says, or true, with a warning")
    func nsIncludesSubdomainsANumberOrATextIsNOToAppleHereItIsWhatItSaysOrTrueWithAWarning() throws {
        let warning = "NSIncludesSubdomains stricter"
        let cases: [(value: Any, covers: Bool, warned: [String])] = [
            ("YES", true, [warning]), ("true", true, [warning]), (1, true, [warning]),
            ("NO", false, []), ("false", false, []), (0, false, []), ("maybe", true, [warning, warning]),
        ]
        for (value, covers, warned) in cases {
            let configuration: [String: Any] = [
                "example.com": ["NSIncludesSubdomains": value, "NSPinnedLeafIdentities": Self.identities("ab")]
            ]
            let migrated = try MigratedPins(pinnedDomains: configuration)
            #expect(migrated.domains[0].includeSubdomains == covers && migrated.warned == warned, "\(value)")
            let isNamed = migrated.warnings.last?.message.hasPrefix("Apple takes all but a boolean for NO") ?? false
            #expect(isNamed == covers, "\(value)")
            let subdomain = try HostName("api.example.com")
            #expect(try !ApplePinnedDomains(configuration).isPinned(subdomain), "\(value)")
        }
    }

    @Test("Apple joins an entry with the one above it, here the nearest one alone decides: that is said")
    func appleJoinsAnEntryWithTheOneAboveItHereTheNearestOneAloneDecidesThatIsSaid() throws {
        func joined(_ child: [String: Any], _ parent: [String: Any], above: String = "example.com") throws -> [String] {
            let migrated = try MigratedPins(pinnedDomains: [
                "api.example.com": child, above: parent.merging(["NSIncludesSubdomains": true]) { $1 },
            ])
            return migrated.warnings.filter { $0.message.contains("join") }.map {
                "\($0.domain ?? "") \($0.setting) \($0.effect.rawValue)"
            }
        }
        let (leaf, authority) = ("NSPinnedLeafIdentities", "NSPinnedCAIdentities")
        let (ab, cd) = (Self.identities("ab"), Self.identities("cd"))
        #expect(try joined([leaf: ab], [authority: cd]) == ["api.example.com \(authority) weaker"])
        #expect(try joined([authority: ab], [leaf: cd]) == ["api.example.com \(leaf) weaker"])
        #expect(try joined([leaf: ab], [leaf: cd]) == ["api.example.com \(leaf) stricter"])
        #expect(try joined([leaf: ab], [leaf: ab]).isEmpty)
        #expect(try joined([leaf: ab], [authority: cd], above: "com").isEmpty)
        #expect(try joined([leaf: ab], [authority: cd], above: "b.example.com").isEmpty)
    }

    @Test("two lists of which one holds nothing usable: a leaf alone does not pass for both")
    func twoListsOfWhichOneHoldsNothingUsableALeafAloneDoesNotPassForBoth() throws {
        let migrated = try MigratedPins(pinnedDomains: [
            "example.com": [
                "NSPinnedCAIdentities": [["SPKI-SHA256-BASE64": "AAAA"], ["SHA1": "x"], "text"],
                "NSPinnedLeafIdentities": Self.identities("ab"), "NSOther": 1,
            ]
        ])
        let entry = migrated.domains[0]
        #expect(entry.requireIssuer && entry.pins.map(\.position) == [.leaf, .leaf])
        #expect(
            migrated.warned == [
                "NSOther same", "NSPinnedCAIdentities stricter", "NSPinnedCAIdentities stricter",
                "NSPinnedCAIdentities stricter", "NSPinnedCAIdentities stricter",
            ])
    }

    @Test("an Info.plist with both: TrustKit's entry is kept, the system's others join it")
    func infoPlistWithBothTrustKitsEntryIsKeptTheSystemsOthersJoinIt() throws {
        let migrated = try MigratedPins(infoPlist: [
            "CFBundleIdentifier": "com.example.app",
            "TSKConfiguration": Sample.configuration(["api.example.com": Sample.domain()]),
            "NSAppTransportSecurity": [
                "NSAllowsArbitraryLoads": false,
                "NSPinnedDomains": [
                    "api.example.com": ["NSPinnedLeafIdentities": Self.identities("cd")],
                    "www.example.com": ["NSPinnedLeafIdentities": Self.identities("cd")],
                ],
            ] as [String: Any],
        ])
        #expect(migrated.domains.map(\.domain.description) == ["api.example.com", "www.example.com"])
        #expect(migrated.domains.map(\.pins.first?.position) == [.any, .leaf])
        #expect(migrated.warned == ["NSPinnedDomains weaker"])
    }

    @Test("an Info.plist with both, nested: no pin of either tool stops counting without a word")
    func infoPlistWithBothNestedNoPinOfEitherToolStopsCountingWithoutAWord() throws {
        func warned(_ trustKit: [String: Any], _ system: [String: Any]) throws -> [String] {
            let migrated = try MigratedPins(infoPlist: [
                "TSKConfiguration": Sample.configuration(trustKit),
                "NSAppTransportSecurity": ["NSPinnedDomains": system] as [String: Any],
            ])
            return migrated.warnings.filter { $0.effect == .weaker }.map { "\($0.domain ?? "") \($0.setting)" }
        }
        let leaves: [String: Any] = ["NSPinnedLeafIdentities": Self.identities("cd")]
        let pinned = Sample.domain()
        #expect(
            try warned(["example.com": Sample.domain(["TSKIncludeSubdomains": true])], ["api.example.com": leaves])
                == ["api.example.com TSKPinnedDomains"])
        #expect(
            try warned(
                ["api.example.com": pinned],
                ["example.com": leaves.merging(["NSIncludesSubdomains": true]) { $1 }])
                == ["api.example.com NSPinnedDomains"])
        // Neither covers the other's host.
        #expect(try warned(["example.com": pinned], ["api.example.com": leaves]).isEmpty)
        #expect(try warned(["api.example.com": pinned], ["example.com": leaves]).isEmpty)
    }

    @Test("a bundle without an Info.plist has nothing pinned")
    func bundleWithoutAnInfoPlistHasNothingPinned() async throws {
        try await withTemporaryFolder { folder in
            let bundle = try #require(Bundle(path: folder.path))
            #expect(throws: MigrationError(.nothingPinned, "", hint: "")) { try MigratedPins(infoPlistOf: bundle) }
        }
    }
}

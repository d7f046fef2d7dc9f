// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
@_spi(Tools) import PinningMigration
import Testing

@Suite("Out again: rules in another tool's form")
struct WritingTests {
    private static func pin(_ byte: UInt8, _ kind: Pin.Kind = .publicKey) -> Pin { Pin(kind: kind, hashing: [byte]) }

    private static func entry(
        _ host: String, _ positions: [KnownPin.Position] = [.any, .any],
        _ change: (inout PinnedDomain) -> Void = { _ in }
    ) throws -> PinnedDomain {
        let pins = positions.enumerated().map { KnownPin(Self.pin(UInt8($0.offset)), position: $0.element) }
        var entry = PinnedDomain(try HostName(host), pins: pins)
        change(&entry)
        return entry
    }

    private static func written(_ domains: [PinnedDomain], _ format: MigrationFormat) -> WrittenConfiguration {
        WrittenConfiguration(MigratedRules(domains: domains), as: format)
    }

    @Test("what a tool can say comes back as it was, and nothing is warned of")
    func whatAToolCanSayComesBackAsItWasAndNothingIsWarnedOf() throws {
        let day = try Timestamp("2027-06-01T00:00:00Z")
        let parent = try Self.entry("example.com") { $0.includeSubdomains = true }
        let trustKit = [
            try Self.entry("api.example.org") { entry in
                entry.mode = .report
                entry.expiresAt = day
                entry.reportTo = ["https://r.example.com/?a=1&b=2"]
            }, parent, PinnedDomain(try HostName("open.example.com"), mode: .off, pins: []),
        ]
        let android = [try Self.entry("api.example.org") { $0.expiresAt = day }, parent, trustKit[2]]
        let apple = [
            try Self.entry("api.example.org", [.leaf, .leaf]), try Self.entry("ca.example.org", [.issuer, .issuer]),
            try Self.entry("two.example.org", [.leaf, .issuer]) { $0.requireIssuer = true },
        ]
        let okHttp = [try Self.entry("192.0.2.1"), try Self.entry("api.example.org"), parent]
        let all: [(MigrationFormat, [PinnedDomain], [String])] = [
            (.trustKit, trustKit, []), (.pinnedDomains, apple, []), (.android, android, ["expiration same"]),
            (.okHttp, okHttp, []),
        ]
        for (format, domains, warned) in all {
            let written = Self.written(domains, format)
            #expect(written.warnings.isEmpty, "\(format): \(written.warnings)")
            let read = try MigratedPins(Array(written.text.utf8), as: format)
            #expect(read.domains == domains, "\(format): \(written.text)")
            #expect(read.warned == warned)
            #expect(Self.written(read.domains, format).text == written.text)
        }
    }

    @Test("what no other tool has: denied keys, suspensions, the rule for unlisted hosts, a rollout, certificate pins")
    func whatNoOtherToolHasDeniedKeysSuspensionsTheRuleForUnlistedHostsARollout() throws {
        let end = Timestamp(secondsSince1970: 1_800_000_000)
        let entry = try Self.entry("api.example.com", [.any, .any, .any]) { entry in
            entry.isInRollout = false
            entry.pins[2].pin = Self.pin(9, .certificate)
        }
        let whole = try Self.entry("whole.example.com") { entry in
            entry.pins = [KnownPin(Self.pin(9, .certificate))]
        }
        var rules = MigratedRules(
            domains: [entry, whole], denied: [DeniedKey(Self.pin(7))],
            suspended: [
                Suspension(.everything, until: end, reason: "x"),
                Suspension(.entry(entry.domain), until: end, reason: "x"),
            ],
            unlisted: .deny, reportTo: ["https://r.example.com/"])
        rules.unusablePins = 1
        for format in MigrationFormat.allCases {
            let written = WrittenConfiguration(rules, as: format)
            let warned = written.warnings.map { "\($0.setting) \($0.effect.rawValue)" }
            let position = format == .pinnedDomains ? ["position stricter"] : []
            #expect(
                warned == [
                    "denied weaker", "pins stricter", "suspended stricter", "suspended stricter", "unlisted weaker",
                    "reportTo same",
                ]
                    + ["rollout stricter", "cert-sha256 stricter"] + position
                    + ["cert-sha256 stricter", "pins weaker"], "\(format)")
            #expect(written.hostCount == 1 && !written.text.contains("whole.example.com"))
        }
    }

    @Test("a mode that a tool lacks: report is left out, and what then applies instead is said")
    func modeThatAToolLacksReportIsLeftOutAndWhatThenAppliesInsteadIsSaid() throws {
        let parent = try Self.entry("example.com") { $0.includeSubdomains = true }
        let report = try Self.entry("r.example.com") { $0.mode = .report }
        let off = PinnedDomain(try HostName("o.example.com"), mode: .off, pins: [])
        let far = PinnedDomain(try HostName("o.example.org"), mode: .off, pins: [])
        let alone = try Self.entry("r.example.org") { $0.mode = .report }
        let domains = [parent, off, far, report, alone]
        func warned(_ format: MigrationFormat) -> [String] {
            Self.written(domains, format).warnings.map { "\($0.domain ?? "") \($0.setting) \($0.effect.rawValue)" }
        }
        #expect(warned(.trustKit).isEmpty)
        #expect(warned(.android) == ["r.example.com mode same", "r.example.org mode same"])
        let android = try MigratedPins(Array(Self.written(domains, .android).text.utf8), as: .android)
        #expect(android.domains.map(\.mode) == [.enforce, .off, .off])
        #expect(
            warned(.okHttp) == [
                "o.example.com mode stricter", "r.example.com mode same", "r.example.com mode stricter",
                "r.example.org mode same",
            ])
        #expect(warned(.pinnedDomains).contains("example.com includeSubdomains weaker"))
    }

    @Test("positions, ends and second pins that a tool lacks: weaker or stricter, and which is said")
    func positionsEndsAndSecondPinsThatAToolLacksWeakerOrStricterAndWhichIsSaid() throws {
        let both = try Self.entry("api.example.com", [.leaf, .issuer]) { entry in
            entry.requireIssuer = true
            entry.expiresAt = Timestamp(secondsSince1970: 1_800_000_000)
            entry.reportTo = ["https://r.example.com/"]
        }
        func warned(_ entry: PinnedDomain, _ format: MigrationFormat) -> [String] {
            Self.written([entry], format).warnings.map { "\($0.setting) \($0.effect.rawValue)" }
        }
        #expect(warned(both, .trustKit) == ["position weaker", "expiresAt weaker"])
        #expect(warned(both, .android) == ["position weaker", "expiresAt weaker", "reportTo same"])
        #expect(warned(both, .okHttp) == ["position weaker", "expiresAt stricter", "reportTo same"])
        #expect(warned(both, .pinnedDomains) == ["expiresAt stricter", "reportTo same"])
        // Of the two that must match here, the one that cannot be written is not asked for there.
        let half = try Self.entry("api.example.com", [.leaf, .leaf]) { entry in
            entry.requireIssuer = true
            entry.pins.append(KnownPin(Self.pin(9, .certificate), position: .issuer))
        }
        #expect(warned(half, .pinnedDomains) == ["cert-sha256 stricter", "requireIssuer weaker"])
        let mixed = try Self.entry("api.example.com", [.leaf, .issuer, .any])
        #expect(warned(mixed, .pinnedDomains) == ["position stricter", "position stricter"])
        #expect(warned(try Self.entry("api.example.com", [.any]), .trustKit) == ["TSKPublicKeyHashes stricter"])
        let address = try Self.entry("192.0.2.1")
        for format in [MigrationFormat.trustKit, .pinnedDomains, .android] {
            #expect(warned(address, format) == ["domain weaker"] && Self.written([address], format).hostCount == 0)
        }
    }

    @Test("a policy of Certificate Transparency, which no other tool is told: left out, and what that accepts is said")
    func policyOfCertificateTransparencyWhichNoOtherToolIsToldLeftOutAndWhatThatAcceptsIsSaid() throws {
        func warned(_ demand: TransparencyRule.Mode, _ mode: PinnedDomain.Mode, _ format: MigrationFormat) throws
            -> [String]
        {
            let entry = try Self.entry("api.example.com", [.leaf, .leaf]) { entry in
                entry.mode = mode
                entry.transparency = TransparencyRule(demand, .chrome)
            }
            return Self.written([entry], format).warnings.filter { $0.setting == "transparency" }.map {
                "\($0.domain ?? "") \($0.effect.rawValue)"
            }
        }
        for format in MigrationFormat.allCases {
            #expect(try warned(.enforce, .enforce, format) == ["api.example.com weaker"], "\(format)")
            #expect(try warned(.report, .enforce, format) == ["api.example.com same"], "\(format)")
        }
        // An entry that only reports refuses nothing.
        #expect(try warned(.enforce, .report, .trustKit) == ["api.example.com same"])
    }

    @Test("Apple joins an entry with the one above it: what that locks out, and what it lets in, is said")
    func appleJoinsAnEntryWithTheOneAboveItWhatThatLocksOutAndWhatItLetsInIsSaid() throws {
        func unions(
            _ child: [KnownPin.Position], _ parent: [KnownPin.Position], covers: Bool = true,
            host: String = "api.example.com",
            samePins: Bool = false
        ) throws -> [String] {
            var above = try Self.entry("example.com", parent) { $0.includeSubdomains = covers }
            if !samePins {
                for index in above.pins.indices {
                    above.pins[index] = KnownPin(Self.pin(UInt8(100 + index)), position: above.pins[index].position)
                }
            }
            let written = Self.written([above, try Self.entry(host, child)], .pinnedDomains)
            return written.warnings.filter { $0.message.contains("join") }.map {
                "\($0.domain ?? "") \($0.setting) \($0.effect.rawValue)"
            }
        }
        let (leaf, authority) = ("NSPinnedLeafIdentities", "NSPinnedCAIdentities")
        #expect(try unions([.leaf], [.issuer]) == ["api.example.com \(authority) stricter"])
        #expect(try unions([.issuer], [.leaf]) == ["api.example.com \(leaf) stricter"])
        #expect(try unions([.leaf], [.leaf]) == ["api.example.com \(leaf) weaker"])
        #expect(try unions([.issuer], [.issuer]) == ["api.example.com \(authority) weaker"])
        #expect(try unions([.leaf], [.leaf], samePins: true).isEmpty)
        #expect(try unions([.leaf], [.issuer], covers: false).isEmpty)
        #expect(try unions([.leaf], [.issuer], host: "deep.api.example.com").isEmpty)
    }

    @Test("what is warned of is what Apple's rule does with the file that is written")
    func whatIsWarnedOfIsWhatApplesRuleDoesWithTheFileThatIsWritten() throws {
        func accepts(_ child: [KnownPin.Position], _ parent: [KnownPin.Position], path: [UInt8]) throws -> Bool {
            var above = try Self.entry("example.com", parent) { $0.includeSubdomains = true }
            for index in above.pins.indices {
                above.pins[index] = KnownPin(Self.pin(100), position: above.pins[index].position)
            }
            let text = Self.written([above, try Self.entry("api.example.com", child)], .pinnedDomains).text
            let file = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil) as? [String: Any]
            let transport = file?["NSAppTransportSecurity"] as? [String: Any]
            let rule = try ApplePinnedDomains(try #require(transport?["NSPinnedDomains"] as? [String: Any]))
            return rule.accepts(keys: path.map { Self.pin($0).digest }, for: try HostName("api.example.com"))
        }
        // Byte 0 is the key of the entry itself, 100 that of the one above it.
        #expect(try !accepts([.leaf], [.issuer], path: [0, 1]))
        #expect(try accepts([.leaf], [.issuer], path: [0, 100]))
        #expect(try !accepts([.issuer], [.leaf], path: [1, 0]))
        #expect(try accepts([.leaf], [.leaf], path: [100, 1]))
        #expect(try accepts([.issuer], [.issuer], path: [1, 100]))
    }

    @Test("OkHttp joins the pins of a farther pattern: that more is accepted there is said")
    func okHttpJoinsThePinsOfAFartherPatternThatMoreIsAcceptedThereIsSaid() throws {
        let domains = [
            try Self.entry("example.com") { $0.includeSubdomains = true }, try Self.entry("api.example.com"),
        ]
        let warnings = Self.written(domains, .okHttp).warnings
        #expect(warnings.map(\.domain) == ["api.example.com"] && warnings.map(\.effect) == [.weaker])
    }
}

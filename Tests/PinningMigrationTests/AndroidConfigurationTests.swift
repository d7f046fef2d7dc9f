// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Tools) import PinningMigration
import Testing

@Suite("Android's network security configuration")
struct AndroidConfigurationTests {
    private typealias Sample = TrustKitConfiguration

    private static func migrated(_ text: String) throws -> MigratedPins {
        try MigratedPins(
            androidNetworkSecurityConfig: Array("<network-security-config>\(text)</network-security-config>".utf8))
    }

    private static func pins(_ letters: String) -> String {
        letters.map { "<pin digest=\"SHA-256\">\(Sample.hash($0))</pin>" }.joined()
    }

    @Test("the example of Android's documentation: hosts, pins, an end")
    func exampleOfAndroidsDocumentationHostsPinsAnEnd() throws {
        let migrated = try MigratedPins(
            androidNetworkSecurityConfig: Array(
                """
                <?xml version="1.0" encoding="utf-8"?>
                <!-- pinned -->
                <network-security-config>
                    <domain-config>
                        <domain includeSubdomains="true"> Example.com
                        </domain>
                        <pin-set expiration="2018-01-01">
                            <pin digest="SHA-256">\(Sample.hash("a"))</pin>
                            <!-- backup pin -->
                            <pin digest="SHA-256">\(Sample.hash("b"))</pin>
                        </pin-set>
                    </domain-config>
                </network-security-config>
                """.utf8))
        let entry = migrated.domains[0]
        #expect(migrated.domains.count == 1 && entry.domain.description == "example.com" && entry.includeSubdomains)
        #expect(entry.written == ["any sha256/\(Sample.hash("a"))", "any sha256/\(Sample.hash("b"))"])
        #expect(entry.expiresAt == (try Timestamp("2018-01-01T00:00:00Z")))
        #expect(migrated.warned == ["expiration same"])
    }

    @Test(
        "true in each form in which Android reads it covers the subdomains", arguments: ["true", "TRUE", "True", "1"])
    func trueInEachFormInWhichAndroidReadsItCoversTheSubdomains(written: String) throws {
        let migrated = try Self.migrated(
            """
            <base-config><trust-anchors><certificates src="user" overridePins="\(written)"/></trust-anchors></base-config>
            <domain-config><domain includeSubdomains="\(written)">example.com</domain><pin-set>\(Self.pins("ab"))</pin-set>
              <trustkit-config enforcePinning="\(written == "1" ? "true" : written)" disableDefaultReportUri="\(written)"/>
            </domain-config>
            """)
        #expect(migrated.domains[0].includeSubdomains && migrated.domains[0].mode == .enforce)
        #expect(migrated.warned == ["base-config same", "overridePins stricter"])
    }

    @Test("a nested domain-config has the pins of the one around it, unless it has its own")
    func nestedDomainConfigHasThePinsOfTheOneAroundItUnlessItHasItsOwn() throws {
        let migrated = try Self.migrated(
            """
            <domain-config><domain includeSubdomains="true">example.com</domain><pin-set>\(Self.pins("ab"))</pin-set>
                <domain-config><domain>own.example.com</domain><pin-set>\(Self.pins("cd"))</pin-set></domain-config>
                <domain-config><domain>heir.example.com</domain></domain-config>
            </domain-config>
            """)
        #expect(migrated.warnings.isEmpty, "\(migrated.warnings)")
        #expect(try migrated.entry("own.example.com")?.written.first == "any sha256/\(Sample.hash("c"))")
        #expect(try migrated.entry("heir.example.com")?.written.first == "any sha256/\(Sample.hash("a"))")
    }

    @Test("a domain-config without pins carves its hosts out of a farther one, and is nothing elsewhere")
    func domainConfigWithoutPinsCarvesItsHostsOutOfAFartherOneAndIsNothingElsewhere() throws {
        let migrated = try Self.migrated(
            """
            <domain-config><domain includeSubdomains="true">open.example.com</domain><domain>other.org</domain></domain-config>
            <domain-config><domain includeSubdomains="true">example.com</domain><pin-set>\(Self.pins("ab"))</pin-set></domain-config>
            """)
        #expect(migrated.domains.map(\.domain.description) == ["example.com", "open.example.com"])
        #expect(try migrated.policy().entry(for: try HostName("a.open.example.com"))?.mode == .off)
    }

    @Test("what is not taken over is named: anchors, exemptions, debug builds, cleartext, other digests")
    func whatIsNotTakenOverIsNamedAnchorsExemptionsDebugBuildsCleartextOtherDigests() throws {
        let migrated = try Self.migrated(
            """
            <base-config cleartextTrafficPermitted="false"><trust-anchors><certificates src="system"/></trust-anchors></base-config>
            <debug-overrides><trust-anchors><certificates src="user"/></trust-anchors></debug-overrides>
            <domain-config cleartextTrafficPermitted="true"><domain>example.com</domain>
              <trust-anchors><certificates src="@raw/ca" overridePins="true"/></trust-anchors>
              <certificateTransparency enabled="true"/>
              <pin-set expiration="soon">\(Self.pins("ab"))<pin digest="SHA-1">AAAA</pin><pin>BBBB</pin><other/></pin-set>
            </domain-config>
            <unknown/>
            """)
        #expect(
            migrated.warned == [
                "base-config same", "debug-overrides stricter", "overridePins stricter", "trust-anchors same",
                "certificateTransparency same", "pin stricter", "pin stricter", "other same", "expiration stricter",
                "cleartextTrafficPermitted stricter", "unknown same",
            ])
        #expect(migrated.domains[0].pins.count == 2 && migrated.domains[0].expiresAt == nil)
    }

    @Test("an anchor of all hosts that is exempt from pins is said to be exempt no more")
    func anchorOfAllHostsThatIsExemptFromPinsIsSaidToBeExemptNoMore() throws {
        let migrated = try Self.migrated(
            """
            <base-config><trust-anchors><certificates src="user" overridePins="true"/></trust-anchors></base-config>
            <domain-config><domain>example.com</domain><pin-set>\(Self.pins("ab"))</pin-set></domain-config>
            """)
        #expect(migrated.warned == ["base-config same", "overridePins stricter"])
    }

    @Test("TrustKit for Android: enforcement and addresses of reports")
    func trustKitForAndroidEnforcementAndAddressesOfReports() throws {
        let migrated = try Self.migrated(
            """
            <domain-config><domain>example.com</domain><pin-set>\(Self.pins("ab"))</pin-set>
              <trustkit-config enforcePinning="false"><report-uri>https://r.example.com/?a=1&amp;b=2</report-uri>
              <report-uri>http://r.example.com</report-uri></trustkit-config></domain-config>
            """)
        #expect(
            migrated.domains[0].mode == .report && migrated.domains[0].reportTo == ["https://r.example.com/?a=1&b=2"])
        #expect(migrated.warned == ["disableDefaultReportUri same", "report-uri same"])
        let silent = "disableDefaultReportUri=\"true\"/></domain-config>"
        let host = "<domain-config><domain>example.com</domain><pin-set>\(Self.pins("ab"))</pin-set>"
        let reporting = try Self.migrated("\(host)<trustkit-config enforcePinning=\"FALSE\" \(silent)")
        #expect(reporting.domains[0].mode == .report && reporting.warned.isEmpty)
        let unclear = try Self.migrated("\(host)<trustkit-config enforcePinning=\"off\" \(silent)")
        #expect(unclear.domains[0].mode == .enforce && unclear.warned == ["enforcePinning stricter"])
    }

    @Test(
        "XML that is damaged, or written to do harm, is refused with its line",
        arguments: [
            "", "text", "<a>", "<network-security-config>", "<a></b>", "<a/><b/>", "<a b=c/>", "<a b='1' b='2'/>",
            "<a b='<'/>", "<a>&unknown;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&</a>", "<a/>x", "<!-- <a/>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"",
            "<a><![CDATA[</a>",
            "<a \u{0}/>", "<a>\u{0}</a>", "<?xml", "<>", "</a>", "<a/", "<network-security-config/>x",
        ])
    func xmlThatIsDamagedOrWrittenToDoHarmIsRefusedWithItsLine(text: String) {
        #expect(throws: MigrationError(.malformed, "", hint: "")) {
            try MigratedPins(androidNetworkSecurityConfig: Array(text.utf8))
        }
    }

    @Test("elements as deep as the file is long, a file of every length, and entities that would grow")
    func elementsAsDeepAsTheFileIsLongAFileOfEveryLengthAndEntitiesThatWouldGrow() throws {
        let deep = String(repeating: "<domain-config>", count: 100_000)
        #expect(throws: MigrationError(.tooLarge, "", hint: "")) { try Self.migrated(deep) }
        #expect(throws: MigrationError(.tooLarge, "", hint: "")) {
            try MigratedPins(androidNetworkSecurityConfig: [UInt8](repeating: 0x20, count: MigrationLimits.bytes + 1))
        }
        let whole = Array("<network-security-config><domain-config><domain>a.example</domain></domain-config></x>".utf8)
        for length in whole.indices {
            #expect(throws: MigrationError(.malformed, "", hint: "")) {
                try MigratedPins(androidNetworkSecurityConfig: Array(whole[..<length]))
            }
        }
    }
}

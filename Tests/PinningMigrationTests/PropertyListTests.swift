// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
@_spi(Tools) import PinningMigration
import Testing

@Suite("Property lists as files, against Python's plistlib")
struct PropertyListTests {
    private typealias Sample = TrustKitConfiguration

    private static let script = """
        import base64, datetime, json, plistlib, sys
        hashes = ["\(Sample.hash("a"))", "\(Sample.hash("b"))"]
        trustkit = {"TSKSwizzleNetworkDelegates": True, "TSKPinnedDomains": {
            "api.example.com": {"TSKPublicKeyHashes": hashes, "TSKIncludeSubdomains": True, "TSKEnforcePinning": False,
                "TSKExpirationDate": "2027-06-01", "TSKReportUris": ["https://r.example.com/?a&b"]},
            "dated.example.com": {"TSKPublicKeyHashes": hashes, "TSKEnforcePinning": 1,
                "TSKExpirationDate": datetime.datetime(2027, 6, 1, 12, 30)}}}
        ats = {"NSAllowsArbitraryLoads": False, "NSPinnedDomains": {"www.example.com": {
            "NSPinnedLeafIdentities": [{"SPKI-SHA256-BASE64": h} for h in hashes]}}}
        info = {"CFBundleName": "Größe ✓ app", "Real": 1.5, "Data": b"abc", "Many": list(range(300)),
            "Long": "x" * 70000, "TSKConfiguration": trustkit, "NSAppTransportSecurity": ats}
        def both(value):
            return [base64.b64encode(plistlib.dumps(value, fmt=f)).decode() for f in (plistlib.FMT_XML, plistlib.FMT_BINARY)]
        print(json.dumps([both(info), both(trustkit), both(ats), both(ats["NSPinnedDomains"])]))
        """

    @Test("XML and binary, a whole Info.plist and its parts: the same entries", .enabled(if: Python.installed != nil))
    func xmlAndBinaryAWholeInfoPlistAndItsPartsTheSameEntries() async throws {
        let printed = try await Python.run(Self.script, input: [])
        let files = try JSONDecoder().decode([[Data]].self, from: Data(printed.utf8)).map { $0.map { Array($0) } }
        for file in files[0] + files[1] {
            let migrated = try MigratedPins(trustKitPropertyList: file)
            #expect(migrated.domains.map(\.domain.description) == ["api.example.com", "dated.example.com"])
            let entry = migrated.domains[0]
            #expect(entry.mode == .report && entry.includeSubdomains && entry.pins.count == 2)
            #expect(entry.expiresAt?.description == "2027-06-01T00:00:00Z")
            #expect(entry.reportTo == ["https://r.example.com/?a&b"])
            #expect(migrated.domains[1].expiresAt?.description == "2027-06-01T12:30:00Z")
            #expect(migrated.domains[1].mode == .enforce)
            #expect(migrated.warned == ["TSKSwizzleNetworkDelegates weaker", "TSKDisableDefaultReportUri same"])
        }
        for file in files[0] + files[2] + files[3] {
            let migrated = try MigratedPins(pinnedDomainsPropertyList: file)
            #expect(migrated.domains.map(\.domain.description) == ["www.example.com"] && migrated.warnings.isEmpty)
        }
        // Cut anywhere, changed anywhere: an error or other entries, and no crash.
        for file in files[1] {
            for length in 0..<file.count { _ = try? MigratedPins(trustKitPropertyList: Array(file[..<length])) }
            for index in file.indices {
                var changed = file
                changed[index] ^= 0xFF
                _ = try? MigratedPins(trustKitPropertyList: changed)
            }
        }
    }

    /// A binary property list of objects as they are.
    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            bytes += object
        }
        func long(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
        let table = bytes.count
        return bytes + offsets + [0, 0, 0, 0, 0, 0, 2, 1] + long(objects.count) + long(0) + long(table)
    }

    @Test("forty objects that stand for a thousand thousand million, and one that holds itself: an error, at once")
    func fortyObjectsThatStandForAThousandThousandMillionAndOneThatHoldsItselfAnError() {
        let sharing = (0..<25).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] as [UInt8] } + [[0x09]]
        let chain = (0..<40).map { [0xA1, UInt8($0 + 1)] as [UInt8] } + [[0x09]]
        for objects in [sharing, chain, [[0xA1, 0x00]], [[0xD1, 0x00, 0x00]], [[0xA1, 0x01], [0xA1, 0x00]]] {
            #expect(throws: (any Error).self) { try MigratedPins(trustKitPropertyList: Self.binary(objects)) }
        }
    }

    @Test("a text of 4 KB that is referenced ten thousand times is an error, and not 40 MB")
    func textOf4KBThatIsReferencedTenThousandTimesIsAnErrorAndNot40MB() {
        func hundred(of object: UInt8) -> [UInt8] { [0xAF, 0x10, 100] + [UInt8](repeating: object, count: 100) }
        let text = [0x5F, 0x11, 0x10, 0x00] + [UInt8](repeating: 0x61, count: 4_096)
        #expect(throws: MigrationError(.tooLarge, "", hint: "")) {
            try MigratedPins(trustKitPropertyList: Self.binary([hundred(of: 1), hundred(of: 2), text]))
        }
    }

    @Test(
        "binary files whose numbers point elsewhere",
        arguments: [
            [[0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], [[0xAF, 0x12, 0x7F, 0xFF, 0xFF, 0xFF]],
            [[0x5F, 0x12, 0x7F, 0xFF, 0xFF, 0xFF]], [[0x6F, 0x10, 0xFF]], [[0xA1, 0xFF]], [[0xDF]], [[0x1F]], [[0x33]],
            [[0xD1, 0x01, 0x01], [0x09]], [[0xFF]], [[]],
        ] as [[[UInt8]]])
    func binaryFilesWhoseNumbersPointElsewhere(objects: [[UInt8]]) {
        #expect(throws: MigrationError(.malformed, "", hint: "")) {
            try MigratedPins(trustKitPropertyList: Self.binary(objects))
        }
    }

    @Test(
        "XML that is no property list, and the old text form",
        arguments: [
            "<plist/>", "<plist><dict/><dict/></plist>", "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><string>a</string><true/></dict></plist>", "<plist><other/></plist>",
            "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>", "{ TSKPinnedDomains = {}; }", "()",
            "<plist><string>a</string></plist>",
        ])
    func xmlThatIsNoPropertyListAndTheOldTextForm(text: String) {
        #expect(throws: MigrationError(.malformed, "", hint: "")) {
            try MigratedPins(trustKitPropertyList: Array(text.utf8))
        }
    }

    @Test("an Info.plist without pins is said to be one, in either reading")
    func infoPlistWithoutPinsIsSaidToBeOneInEitherReading() {
        let info = Array("<plist><dict><key>CFBundleName</key><string>x</string></dict></plist>".utf8)
        #expect(throws: MigrationError(.nothingPinned, "", hint: "")) { try MigratedPins(trustKitPropertyList: info) }
        #expect(throws: MigrationError(.nothingPinned, "", hint: "")) {
            try MigratedPins(pinnedDomainsPropertyList: info)
        }
    }
}

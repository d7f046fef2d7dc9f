// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Provisioning profiles: messages that openssl signed, and property lists that Python wrote; and some that lie.
@Suite struct ProvisioningProfileTests {
    @Test("what stands in a profile, in DER and in BER")
    func whatStandsInAProfileInDERAndInBER() throws {
        for name in ["enterprise", "enterprise-in-pieces"] {
            let profile = try ProvisioningProfile(RecordedPrograms.profile(name))
            #expect(profile.teams == ["A1B2C3D4E5"])
            #expect(profile.isForAllDevices)
            #expect(!profile.namesDevices)
            #expect(profile.entitlements?.applicationIdentifier == "A1B2C3D4E5.com.example.bank")
            #expect(!profile.isForDevelopment)
        }
        let development = try ProvisioningProfile(RecordedPrograms.profile("development"))
        #expect(development.isForDevelopment && development.namesDevices && !development.isForAllDevices)
    }

    @Test("a profile that is cut before its property list ends is refused")
    func profileThatIsCutBeforeItsPropertyListEndsIsRefused() throws {
        for name in ["ad-hoc", "enterprise-in-pieces"] {
            let whole = try RecordedPrograms.profile(name)
            let text = Array("</plist>".utf8)
            let end = try #require(whole.indices.first { whole[$0...].starts(with: text) })
            for length in 0..<end + text.count {
                #expect(throws: ImageError.self) { try ProvisioningProfile(Array(whole.prefix(length))) }
            }
        }
    }

    @Test("a profile with changed bytes is refused or read, and ends")
    func profileWithChangedBytesIsRefusedOrReadAndEnds() throws {
        for name in ["ad-hoc", "enterprise-in-pieces"] {
            let whole = try RecordedPrograms.profile(name)
            var refused = 0
            for place in 0..<200 {
                for value: UInt8 in [0x00, 0x7F, 0x80, 0x84, 0xFF] {
                    var bytes = whole
                    bytes[place] = value
                    if (try? ProvisioningProfile(bytes)) == nil { refused += 1 }
                }
            }
            #expect(refused > 100)
            #expect(refused < 1_000)
        }
    }

    @Test("octets in several pieces are put together; pieces of pieces are refused")
    func octetsInSeveralPiecesArePutTogetherPiecesOfPiecesAreRefused() throws {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        func message(_ octets: [UInt8]) -> [UInt8] {
            let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07]
            let wrapped = element(0x30, element(0x06, data + [1]) + element(0xA0, octets))
            let signed = element(0x30, element(0x02, [1]) + element(0x31, []) + wrapped)
            return element(0x30, element(0x06, data + [2]) + element(0xA0, signed))
        }
        let pieces = element(0x04, [1, 2]) + element(0x04, []) + element(0x04, [3])
        #expect(try SignedContent.read(message(element(0x24, pieces))) == [1, 2, 3])
        #expect(try SignedContent.read(message([0x24, 0x80] + pieces + [0, 0])) == [1, 2, 3])
        #expect(throws: ImageError(.malformed, "")) {
            try SignedContent.read(message(element(0x24, element(0x24, pieces))))
        }
        // As deep as it is long: no end within the limit.
        let deep = (0..<4_000).flatMap { _ in [0x30, 0x80] as [UInt8] }
        #expect(throws: ImageError(.tooLarge, "")) { try SignedContent.read(deep) }
    }

    private func list(_ inner: String) throws -> PropertyListText.Value {
        try PropertyListText.read(Array("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\(inner)</plist>\n".utf8))
    }

    @Test("a property list as Apple's tools write it")
    func propertyListAsApplesToolsWriteIt() throws {
        let value = try self.list(
            """
            <!-- one --><dict><key>a&amp;b</key><string>&lt;x&gt; </string><key>t</key><true/><key>f</key><false/>
            <key>l</key><array><string/><integer>1</integer><data>AA==</data><dict/></array></dict>
            """)
        #expect(value["a&b"] == .text("<x> "))
        #expect(value["t"] == .boolean(true) && value["f"] == .boolean(false))
        #expect(value["l"]?.members == [.text(""), .other, .other, .dictionary([:])])
    }

    @Test(
        "a property list that could mean two things, or grows, is refused",
        arguments: [
            "<dict><key>a</key><true/><key>a</key><false/></dict>", "<dict><key>a</key></dict>", "<dict><true/></dict>",
            "<dict><key>a</key><string>&x;</string></dict>", "<dict><key>a</key><string><b/></string></dict>",
            "<dict/><dict/>", "<array/>", "<dict>", "", "<dict><key>a</key><other/></dict>",
            "<dict><key>a</key><string>&amp</string></dict>",
        ])
    func propertyListThatCouldMeanTwoThingsOrGrowsIsRefused(_ inner: String) {
        #expect(throws: ImageError(.malformed, "")) { try self.list(inner) }
    }

    @Test("declarations of entities, deep lists and many values are refused")
    func declarationsOfEntitiesDeepListsAndManyValuesAreRefused() {
        let declared = "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><dict/></plist>"
        #expect(throws: ImageError(.malformed, "")) { try PropertyListText.read(Array(declared.utf8)) }
        let deep = "<dict><key>a</key>" + String(repeating: "<array>", count: 10_000)
        #expect(throws: ImageError(.tooLarge, "")) { try self.list(deep) }
        let many = "<dict><key>a</key><array>" + String(repeating: "<true/>", count: 30_000) + "</array></dict>"
        #expect(throws: ImageError(.tooLarge, "")) { try self.list(many) }
    }

    @Test("an identifier is held against the bundle's without its prefix, which need not be the team's")
    func identifierIsHeldAgainstTheBundlesWithoutItsPrefixWhichNeedNotBeTheTeams() {
        func isFor(_ identifier: String?) -> Bool {
            var members: [String: PropertyListText.Value] = [:]
            members["application-identifier"] = identifier.map { .text($0) }
            return Entitlements(.dictionary(members)).isFor("com.example.bank")
        }
        for right in [nil, "OLDPREFIX1.com.example.bank", "A.com.example.*", "A.*"] { #expect(isFor(right)) }
        for wrong in ["com.example.bank", "A.com.example.ban", "A.com.example.bank.x", "A.com.other.*", "A", ""] {
            #expect(!isFor(wrong), "\(wrong)")
        }
    }
}

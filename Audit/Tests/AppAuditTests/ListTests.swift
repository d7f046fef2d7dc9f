// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import CertificatePinning
import Crypto
import PinListMetadata
import Testing

/// A root and lists under it, signed here.
struct SignedPins {
    let key = P256.Signing.PrivateKey()
    let root: [UInt8]
    let rootValue: Root

    init() throws {
        let der = Array(self.key.publicKey.derRepresentation)
        let key = try #require(MetadataKey(subjectPublicKeyInfo: der))
        let role = Role(keyIDs: [key.keyID], threshold: 1)
        self.rootValue = Root(
            name: "com.acme.bank", version: 1, issuedAt: auditTime.moved(days: -400),
            expiresAt: auditTime.moved(days: 400),
            keys: [key], root: role, pins: role)
        self.root = try Self.sign(self.rootValue.payload, .root, self.key, key.keyID)
    }

    /// A list with two pins of one host.
    static func list(issued: Int64 = -5, expires: Int64 = 60, pins: [UInt8] = [7, 8]) throws -> PinList {
        let known = try pins.map {
            KnownPin(try #require(Pin(kind: .publicKey, digest: [UInt8](repeating: $0, count: 32))))
        }
        let entry = PinnedDomain(try HostName("api.acme.com"), pins: known)
        return PinList(
            name: "com.acme.bank", version: 3, issuedAt: auditTime.moved(days: issued),
            expiresAt: auditTime.moved(days: expires), domains: [PinList.Domain(entry, rollout: 100)])
    }

    func signed(_ list: PinList) throws -> [UInt8] {
        try Self.sign(list.payload, .pins, self.key, try #require(self.rootValue.keys.keys.first))
    }

    private static func sign(
        _ payload: [UInt8], _ kind: MetadataRole, _ key: P256.Signing.PrivateKey, _ keyID: String
    ) throws -> [UInt8] {
        var envelope = Envelope(payloadType: Envelope.payloadType(of: kind), payload: payload)
        let signature = try key.signature(for: envelope.signedBytes).rawRepresentation
        envelope.signatures = [Envelope.Signature(keyID: keyID, bytes: Array(signature))]
        return envelope.bytes
    }
}

extension Timestamp {
    func moved(days: Int64) -> Timestamp { Timestamp(secondsSince1970: self.secondsSince1970 + days * 86_400) }
}

@Suite("The list")
struct ListTests {
    private func rules(_ files: [(String, [UInt8])], list: PinList? = nil) -> [String] {
        RuleFixture.findings(files, list: list).map(\.rule.id)
    }

    @Test(
        "an embedded list verifies, expires soon, has expired, or is of other signers",
        arguments: [
            (60, "list-age"), (20, "list-expiring"), (-1, "list-expired"),
        ] as [(Int64, String)])
    func anEmbeddedListVerifies(_ days: Int64, _ rule: String) throws {
        let pins = try SignedPins()
        let list = try pins.signed(try SignedPins.list(issued: -70, expires: days))
        let found = RuleFixture.findings([("App/root.json", pins.root), ("App/pins.json", list)])
        #expect(found.map(\.rule.id) == [rule], "\(found.map(\.message))")
        let others = try SignedPins()
        #expect(self.rules([("App/root.json", others.root), ("App/pins.json", list)]) == ["list-unverified"])
        #expect(self.rules([("App/pins.json", list)]) == ["list-unverified"])
    }

    @Test("a list verifies under a root of its own program: that of another one does not help it")
    func aListVerifiesUnderARootOfItsOwnProgram() throws {
        let (pins, others) = (try SignedPins(), try SignedPins())
        let list = try pins.signed(try SignedPins.list())
        // The extension's root is of other signers, or is not there, and the app's would do.
        let app = [("Bank.app/root.json", pins.root), ("Bank.app/pins.json", list)]
        let widget = ("Bank.app/PlugIns/Widget.appex/pins.json", list)
        let roots: [[(String, [UInt8])]] = [[], [("Bank.app/PlugIns/Widget.appex/root.json", others.root)]]
        for root in roots {
            let found = RuleFixture.findings(app + [widget] + root).filter { $0.rule.id == "list-unverified" }
            #expect(found.map(\.file) == ["Bank.app/PlugIns/Widget.appex/pins.json"])
        }
        let own = ("Bank.app/PlugIns/Widget.appex/root.json", pins.root)
        #expect(RuleFixture.findings(app + [widget, own]).map(\.rule.id) == ["list-age", "list-age"])
    }

    @Test("an app with a root and a list that is cut, or with a root alone, is not clean")
    func anAppWithARootAndAListThatIsCutIsNotClean() throws {
        let pins = try SignedPins()
        let list = try pins.signed(try SignedPins.list())
        let app = [("Bank.app/Info.plist", Array(propertyList("").utf8)), ("Bank.app/root.json", pins.root)]
        #expect(self.rules(app) == ["list-missing"])
        for cut in [Array(list.dropLast()), Array(list.prefix(100))] {
            let report = RuleFixture.report(app + [("Bank.app/pins.json", cut)])
            #expect(report.findings.map(\.file) == ["Bank.app", "Bank.app/pins.json"])
            #expect(report.findings.map(\.rule.id) == ["list-missing", "unreadable"])
            #expect(report.exitCode == 2)
        }
        let root = ("Bank.app/root.json", Array(pins.root.dropLast()))
        #expect(self.rules([root, ("Bank.app/pins.json", list)]).sorted() == ["list-unverified", "unreadable"])
    }

    @Test("JSON of others is no list that is cut, also where one is quoted in it")
    func jsonOfOthersIsNoListThatIsCut() throws {
        let pins = try SignedPins()
        let list = String(decoding: try pins.signed(try SignedPins.list()), as: UTF8.self)
        for text in ["{", "{\"payloadType\": \"application/vnd.in-toto+json\"", "{\"list\": \(list)}", "[\(list)"] {
            #expect(self.rules([("Bank.app/other.json", Array(text.utf8))]).isEmpty, "\(text)")
        }
    }

    @Test("an extension without the list that its app has is said")
    func anExtensionWithoutTheListThatItsAppHasIsSaid() throws {
        let pins = try SignedPins()
        let list = try pins.signed(try SignedPins.list())
        let empty = Array(propertyList("").utf8)
        let found = RuleFixture.findings([
            ("Bank.app/Info.plist", empty), ("Bank.app/root.json", pins.root), ("Bank.app/pins.json", list),
            ("Bank.app/PlugIns/Widget.appex/Info.plist", empty),
        ])
        #expect(found.filter { $0.rule.id == "list-missing" }.map(\.file) == ["Bank.app/PlugIns/Widget.appex"])
    }

    @Test(
        "an exception of App Transport Security for a host that the list pins is an error, for another one it is not that one"
    )
    func anExceptionForAPinnedHostIsAnError() throws {
        let text = transport(
            "<key>NSExceptionDomains</key><dict><key>api.acme.com</key><dict><key>NSExceptionRequiresForwardSecrecy</key><false/></dict></dict>"
        )
        let files = [("Info.plist", Array(text.utf8))]
        #expect(self.rules(files, list: try SignedPins.list()).contains("ats-exception-for-pinned-host"))
        let other = Array(exception("<key>NSExceptionRequiresForwardSecrecy</key><false/>").utf8)
        #expect(
            !self.rules([("Info.plist", other)], list: try SignedPins.list()).contains("ats-exception-for-pinned-host"))
    }

    @Test(
        "an exception that covers subdomains is one for a host of the list below it, unless a nearer one decides there")
    func anExceptionThatCoversSubdomainsIsOneForAHostOfTheListBelowIt() throws {
        func rules(_ host: String, covers: Bool, _ others: String = "") throws -> [String] {
            let text = transport(
                "<key>NSExceptionDomains</key><dict><key>\(host)</key><dict><key>NSIncludesSubdomains</key><\(covers)/><key>NSExceptionRequiresForwardSecrecy</key><false/></dict>\(others)</dict>"
            )
            return self.rules([("Info.plist", Array(text.utf8))], list: try SignedPins.list())
                .filter { $0 == "ats-exception-for-pinned-host" }
        }
        let nearer = "<key>api.acme.com</key><dict><key>NSExceptionRequiresForwardSecrecy</key><true/></dict>"
        #expect(try rules("acme.com", covers: true) == ["ats-exception-for-pinned-host"])
        #expect(try rules("Acme.com", covers: true) == ["ats-exception-for-pinned-host"])
        #expect(try rules("acme.com", covers: false).isEmpty)
        #expect(try rules("pi.acme.com", covers: true).isEmpty)
        #expect(try rules("acme.com", covers: true, nearer).isEmpty)
    }

    private func pinned(_ pins: [UInt8]) -> [UInt8] {
        let identities = pins.map {
            "<dict><key>SPKI-SHA256-BASE64</key><string>\(Base64.encode([UInt8](repeating: $0, count: 32)))</string></dict>"
        }
        return Array(
            transport(
                "<key>NSPinnedDomains</key><dict><key>api.acme.com</key><dict><key>NSPinnedLeafIdentities</key><array>\(identities.joined())</array></dict></dict>"
            ).utf8)
    }

    @Test("NSPinnedDomains that say what the list says are silent, others are an error")
    func pinnedDomainsThatDisagreeAreAnError() throws {
        #expect(self.rules([("Info.plist", self.pinned([7, 8]))], list: try SignedPins.list()) == [])
        #expect(
            self.rules([("Info.plist", self.pinned([7, 9]))], list: try SignedPins.list()) == [
                "ats-pinned-domains-differ"
            ])
    }

    @Test("an entry of NSPinnedDomains covers a host of the list one label below it, and none farther down")
    func anEntryOfNSPinnedDomainsCoversAHostOfTheListOneLabelBelowIt() throws {
        func rules(_ host: String, covers: Bool) throws -> [String] {
            let text = String(decoding: self.pinned([7, 9]), as: UTF8.self).replacing(
                "<key>api.acme.com</key><dict>",
                with: "<key>\(host)</key><dict><key>NSIncludesSubdomains</key><\(covers)/>")
            let found = self.rules([("Info.plist", Array(text.utf8))], list: try SignedPins.list())
            return found.filter { $0 == "ats-pinned-domains-differ" }
        }
        #expect(try rules("acme.com", covers: true) == ["ats-pinned-domains-differ"])
        #expect(try rules("acme.com", covers: false) == [])
        #expect(try rules("com", covers: true) == [])
    }

    private func trustKit(_ host: String, _ pins: [UInt8], _ more: String = "") -> [(String, [UInt8])] {
        let hashes = pins.map { "<string>\(Base64.encode([UInt8](repeating: $0, count: 32)))</string>" }.joined()
        let text = propertyList(
            "<key>TSKConfiguration</key><dict><key>TSKPinnedDomains</key><dict><key>\(host)</key><dict><key>TSKPublicKeyHashes</key><array>\(hashes)</array>\(more)</dict></dict></dict>"
        )
        return [("Info.plist", Array(text.utf8))]
    }

    @Test("a host of the list that TrustKit is told to leave out is an error, also below one that is left out")
    func aHostOfTheListThatTrustKitIsToldToLeaveOutIsAnError() throws {
        let out = "<key>TSKExcludeSubdomainFromParentPolicy</key><true/>"
        let covers = "<key>TSKIncludeSubdomains</key><true/>"
        let list = try SignedPins.list()
        #expect(self.rules(self.trustKit("api.acme.com", [], out), list: list) == ["trustkit-pins-differ"])
        #expect(self.rules(self.trustKit("acme.com", [], out + covers), list: list) == ["trustkit-pins-differ"])
        #expect(self.rules(self.trustKit("acme.com", [], out), list: list).isEmpty)
        #expect(self.rules(self.trustKit("pay.acme.com", [], out), list: list).isEmpty)
    }

    @Test("pins of TrustKit and of Android that cover a host of the list are compared with its own")
    func pinsThatCoverAHostOfTheListAreCompared() throws {
        let list = try SignedPins.list(pins: [7, 8, 9])
        let covers = "<key>TSKIncludeSubdomains</key><true/>"
        #expect(self.rules(self.trustKit("acme.com", [7, 8], covers), list: list) == ["trustkit-pins-differ"])
        #expect(self.rules(self.trustKit("acme.com", [7, 8, 9], covers), list: list).isEmpty)
        #expect(self.rules(self.trustKit("acme.com", [7, 8]), list: list).isEmpty)
        func android(_ covers: Bool, _ pins: [UInt8], _ others: String = "") -> [String] {
            let set = pins.map { "<pin>\(Base64.encode([UInt8](repeating: $0, count: 32)))</pin>" }.joined()
            let text = networkSecurity(
                "<domain-config><domain includeSubdomains=\"\(covers)\">acme.com</domain><pin-set>\(set)</pin-set></domain-config>\(others)"
            )
            return self.rules([("network_security_config.xml", Array(text.utf8))], list: list)
        }
        #expect(android(true, [7, 8]) == ["android-pins-differ"])
        #expect(android(true, [7, 8, 9]).isEmpty)
        #expect(android(false, [7, 8]).isEmpty)
        #expect(android(true, [7, 8], "<domain-config><domain>api.acme.com</domain></domain-config>").isEmpty)
    }

    @Test("TrustKit's pins that say what the list says are silent, others are an error")
    func trustKitsPinsThatDisagreeAreAnError() throws {
        #expect(self.rules(self.trustKit("api.acme.com", [7, 8]), list: try SignedPins.list()) == [])
        #expect(
            self.rules(self.trustKit("api.acme.com", [7, 9]), list: try SignedPins.list()) == ["trustkit-pins-differ"])
        #expect(self.rules(self.trustKit("api.acme.com", [7, 9])) == [])
    }

    @Test(
        "pins of a configuration for a host that the list lacks are not in the list, and without one they belong there")
    func pinsOfAConfigurationForAHostThatTheListLacksAreNotInTheList() throws {
        let files = self.trustKit("pay.acme.com", [3, 4])
        #expect(self.rules(files, list: try SignedPins.list()) == ["pin-not-in-list", "pin-not-in-list"])
        #expect(self.rules(files) == [])
    }

    @Test("Android's pins that say what the list says are silent, others are an error")
    func androidPinsThatDisagreeAreAnError() throws {
        func file(_ pins: [UInt8]) -> [(String, [UInt8])] {
            let set = pins.map { "<pin digest=\"SHA-256\">\(Base64.encode([UInt8](repeating: $0, count: 32)))</pin>" }
                .joined()
            let text = networkSecurity(
                "<domain-config><domain>api.acme.com</domain><pin-set>\(set)</pin-set></domain-config>")
            return [("network_security_config.xml", Array(text.utf8))]
        }
        #expect(self.rules(file([7, 8]), list: try SignedPins.list()) == [])
        #expect(self.rules(file([7, 9]), list: try SignedPins.list()) == ["android-pins-differ"])
    }

    @Test("Android's pins that a host inherits from the domain around it are compared with the list")
    func androidPinsThatAHostInheritsAreCompared() throws {
        func file(_ second: UInt8) -> [(String, [UInt8])] {
            let set = [7, second].map { "<pin>\(Base64.encode([UInt8](repeating: $0, count: 32)))</pin>" }.joined()
            let text = networkSecurity(
                "<domain-config><domain>acme.com</domain><pin-set>\(set)</pin-set><domain-config><domain>api.acme.com</domain></domain-config></domain-config>"
            )
            return [("network_security_config.xml", Array(text.utf8))]
        }
        #expect(self.rules(file(8), list: try SignedPins.list()) == [])
        #expect(self.rules(file(9), list: try SignedPins.list()).contains("android-pins-differ"))
    }

    @Test("a pin in the code that the list has not is an error, and one that it has is none")
    func aPinInTheCodeThatTheListHasNotIsAnError() throws {
        func file(_ digit: UInt8) -> [(String, [UInt8])] {
            [("A.swift", Array("let pinned = \"\(Base64.encode([UInt8](repeating: digit, count: 32)))\"".utf8))]
        }
        #expect(self.rules(file(7), list: try SignedPins.list()) == [])
        #expect(self.rules(file(9), list: try SignedPins.list()) == ["pin-not-in-list"])
    }

    @Test("cleartext to a host that the list pins is an error")
    func cleartextToAHostThatTheListPinsIsAnError() throws {
        let files = [("A.swift", Array("let a = \"http://api.acme.com/a\"\nlet b = \"http://www.acme.com/a\"".utf8))]
        let found = RuleFixture.findings(files, list: try SignedPins.list())
        #expect(found.map(\.severity) == [.error, .warning])
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import PinListMetadata
import PinListRepository
import Testing

@Suite("Each rule of lint: a source that breaks it, and one that does not")
struct LintRuleTests {
    private static let a = SourceText.pin("a")
    private static let b = SourceText.pin("b")
    private static let now = SourceText.now

    /// The rules that a source breaks.
    private static func rules(
        _ text: String, published: PinList? = nil, root: Root? = nil, at time: Timestamp = now
    ) throws -> [String] {
        try self.findings(text, published: published, root: root, at: time).map(\.rule.id)
    }

    private static func findings(
        _ text: String, published: PinList? = nil, root: Root? = nil, at time: Timestamp = now
    ) throws -> [LintFinding] {
        let source = try SourceText.read(text)
        var linter = Linter(try PinListBuilt.list(source, after: published, at: time), at: time)
        linter.source = source
        linter.published = published
        linter.root = root
        return linter.findings
    }

    @Test("a source that nothing is wrong with")
    func sourceThatNothingIsWrongWith() throws { #expect(try Self.rules(SourceText.good()).isEmpty) }

    @Test(
        "rules that need the source alone",
        arguments: [
            ("no-backup-pin", SourceText.good().replacing(", {pin: \"\(b)\"}", with: "")),
            ("backup-equals-primary", SourceText.good().replacing(b, with: a)),
            ("certificate-pin", SourceText.good().replacing(b, with: "cert-\(b)")),
            (
                "only-issuer-pins",
                SourceText.good().replacing("\"}", with: "\", position: issuer}")
            ),
            ("valid-too-long", SourceText.good(list: "validFor: 91d")),
            ("valid-shorter-than-refresh", SourceText.good(list: "validFor: 11h")),
            ("refresh-clamped", SourceText.good(list: "refreshAfter: 25h")),
            ("domain-expiry", SourceText.good(entry: "expiresAt: 2027-06-01T00:00:00Z")),
            (
                "suspension-over-a-day",
                SourceText.good("suspended: [{domain: '*', until: \(now.later(86_401)), reason: x}]")
            ),
            ("suspension-ended", SourceText.good("suspended: [{domain: '*', until: \(now), reason: x}]")),
            (
                "suspension-of-nothing",
                SourceText.good("suspended: [{domain: www.api.example.com, until: \(now.later(60)), reason: x}]")
            ),
            (
                "deny-without-report",
                SourceText.good(list: "unlisted: deny").replacing("https://reports.example.net/v1", with: "")
            ),
            (
                "share-without-report",
                SourceText.good(list: "reportPerMillion: 5").replacing("https://reports.example.net/v1", with: "")
            ),
            (
                "share-without-report",
                SourceText.good(entry: "reportPerMillion: 5").replacing("https://reports.example.net/v1", with: "")
            ),
            ("public-suffix", SourceText.good().replacing("api.example.com", with: "co.uk")),
            ("list-host-pinned", SourceText.good(list: "server: https://api.example.com")),
            ("list-host-pinned", SourceText.good().replacing("reports.example.net", with: "api.example.com")),
            ("denied-key-pinned", SourceText.good("denied: [\"\(b)\"]")),
        ])
    func rulesThatNeedTheSourceAlone(rule: String, text: String) throws {
        let findings = try Self.findings(text)
        #expect(findings.map(\.rule.id) == [rule])
        let isOfTheList = ["valid-too-long", "refresh-clamped", "valid-shorter-than-refresh", "deny-without-report"]
            .contains(rule)
        #expect((findings.first?.position == nil) == (isOfTheList || findings.first?.subject == "list"))
        #expect(findings.allSatisfy { $0.line.contains("\($0.rule.severity): \(rule): ") && !$0.line.contains("\n") })
    }

    @Test(
        "just within what the rules ask for",
        arguments: [
            SourceText.good(list: "validFor: 90d"), SourceText.good(list: "validFor: 12h"),
            SourceText.good(list: "refreshAfter: 15m"),
            SourceText.good("suspended: [{domain: '*', until: \(now.later(86_400)), reason: x}]"),
            SourceText.good("suspended: [{domain: api.example.com, until: \(now.later(60)), reason: x}]"),
            SourceText.good(list: "reportPerMillion: 1"), SourceText.good(entry: "reportPerMillion: 1"),
            SourceText.good(entry: "reportPerMillion: 1000000").replacing("https://reports.example.net/v1", with: ""),
            SourceText.good(entry: "reportTo: [https://reports.example.net/v1]", list: "reportPerMillion: 1")
                .replacing("reportTo: [https://reports.example.net/v1]\nreport", with: "report"),
            SourceText.good(list: "unlisted: deny"), SourceText.good().replacing("api.example.com", with: "x.co.uk"),
            SourceText.good(entry: "mode: report", list: "server: https://api.example.com"),
            SourceText.good("denied: [{pin: \"\(b)\", mode: report}]"),
            SourceText.good("  - {domain: com, mode: off}"),
            SourceText.good().replacing("\(a)\"}", with: "\(a)\", position: issuer}"),
            SourceText.good(entry: "mode: report").replacing(", {pin: \"\(b)\"}", with: ""),
        ])
    func justWithinWhatTheRulesAskFor(text: String) throws { #expect(try Self.rules(text).isEmpty) }

    @Test("where a leaf and an issuer must match, each needs a backup of its own")
    func whereALeafAndAnIssuerMustMatchEachNeedsABackupOfItsOwn() throws {
        func rules(leaves: String, issuers: String) throws -> [String] {
            let pins =
                leaves.map { "{pin: \"\(SourceText.pin($0))\", position: leaf}" }
                + issuers.map { "{pin: \"\(SourceText.pin($0))\", position: issuer}" }
            let whole = "{pin: \"\(Self.a)\"}, {pin: \"\(Self.b)\"}"
            let text = SourceText.good(entry: "requireIssuer: true")
            return try Self.rules(text.replacing(whole, with: pins.joined(separator: ", ")))
        }
        #expect(try rules(leaves: "a", issuers: "b") == ["no-backup-pin"])
        #expect(try rules(leaves: "ab", issuers: "c") == ["no-backup-pin"])
        #expect(try rules(leaves: "a", issuers: "bc") == ["no-backup-pin"])
        #expect(try rules(leaves: "ab", issuers: "cd").isEmpty)
    }

    @Test("a root that ends soon, has ended, or has one key for both roles")
    func rootThatEndsSoonHasEndedOrHasOneKeyForBothRoles() throws {
        let keys = try (1...2).map { number in
            let raw = [UInt8](repeating: UInt8(number), count: 32)
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: raw).publicKey.rawRepresentation
            let prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
            return try #require(MetadataKey(subjectPublicKeyInfo: prefix + Array(key)))
        }
        func root(_ days: Int64, shared: Bool = false) -> Root {
            Root(
                name: "com.example.app", version: 1, issuedAt: Self.now.later(-400 * 86_400),
                expiresAt: Self.now.later(days * 86_400), keys: keys, root: Role(keyIDs: [keys[0].keyID], threshold: 1),
                pins: Role(keyIDs: [keys[shared ? 0 : 1].keyID], threshold: 1))
        }
        #expect(try Self.rules(SourceText.good(), root: root(180)).isEmpty)
        #expect(try Self.rules(SourceText.good(), root: root(179)) == ["root-expires-soon"])
        #expect(try Self.rules(SourceText.good(), root: root(0)) == ["root-expired"])
        #expect(try Self.rules(SourceText.good(), root: root(400, shared: true)) == ["shared-key"])
    }

    @Test("rollout is lowered where it enforced")
    func rolloutIsLoweredWhereItEnforced() throws {
        let published = try PinListBuilt.list(SourceText.good(entry: "rollout: 50"))
        #expect(try Self.rules(SourceText.good(entry: "rollout: 49"), published: published) == ["rollout-lowered"])
        #expect(try Self.rules(SourceText.good(entry: "rollout: 50"), published: published).isEmpty)
        #expect(try Self.rules(SourceText.good(), published: published).isEmpty)
        let reporting = try PinListBuilt.list(SourceText.good(entry: "rollout: 50\n    mode: report"))
        #expect(try Self.rules(SourceText.good(entry: "rollout: 5"), published: reporting).isEmpty)
    }

    @Test("a version that is not above the published one")
    func versionThatIsNotAboveThePublishedOne() throws {
        let published = try PinListBuilt.list(SourceText.good())
        var linter = Linter(published, at: Self.now)
        linter.published = published
        #expect(linter.findings.isEmpty)
        linter.list.refreshAfter = 3_600
        #expect(linter.findings.map(\.rule.id) == ["version-not-above"])
        linter.list.version = 2
        #expect(linter.findings.isEmpty)
    }

    @Test("a pin goes while its successor is not out for long enough")
    func pinGoesWhileItsSuccessorIsNotOutForLongEnough() throws {
        let published = try PinListBuilt.list(SourceText.good(), at: Self.now.later(-30 * 86_400))
        let next = SourceText.good().replacing(Self.a, with: SourceText.pin("c"))
        #expect(try Self.rules(next, published: published).isEmpty)
        #expect(try Self.rules(next, published: published, at: Self.now.later(-1)) == ["propagation"])
        #expect(
            try Self.rules("propagation: 29d\n" + next, published: published, at: Self.now.later(-1)).isEmpty)
        // Nothing that was out stays: no time is long enough.
        let new = next.replacing(Self.b, with: SourceText.pin("d"))
        #expect(try Self.rules(new, published: published, at: Self.now.later(300 * 86_400)) == ["propagation"])
        // A pin that is only added harms no client, and where nothing is enforced no client is locked out.
        let more = SourceText.good().replacing(
            "{pin: \"\(Self.a)\"}", with: "{pin: \"\(Self.a)\"}, {pin: \"\(SourceText.pin("c"))\"}")
        #expect(try Self.rules(more, published: published, at: Self.now.later(-1)).isEmpty)
        let reporting = new.replacing("    pins:", with: "    mode: report\n    pins:")
        #expect(try Self.rules(reporting, published: published).isEmpty)
    }

    @Test("a signer that the newest root does not have: the stolen one, still in signers:")
    func signerThatTheNewestRootDoesNotHaveTheStolenOneStillInSigners() throws {
        func key(_ byte: UInt8) throws -> MetadataKey {
            let prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: byte, count: 32))
            return try #require(MetadataKey(subjectPublicKeyInfo: prefix + Array(key.publicKey.rawRepresentation)))
        }
        let (known, ofRoots) = (try key(7), try key(8))
        let root = Root(
            name: "com.example.app", version: 1, issuedAt: Self.now, expiresAt: Self.now.later(400 * 86_400),
            keys: [known, ofRoots], root: Role(keyIDs: [ofRoots.keyID], threshold: 1),
            pins: Role(keyIDs: [known.keyID], threshold: 1))
        var linter = Linter(try PinListBuilt.list(SourceText.good()), at: Self.now)
        linter.signers = [LintSigner(.pins, named: "file:keys/pins.pem", keyID: String(repeating: "f", count: 64))]
        // Without a root there is nothing to compare with.
        #expect(linter.findings.isEmpty)
        linter.root = root
        #expect(linter.findings.map(\.rule.id) == ["signer-not-in-root"])
        #expect(linter.findings.first?.detail?.contains("keys/pins.pem") == true)
        linter.signers = [LintSigner(.pins, named: "file:keys/new.pem", keyID: known.keyID)]
        #expect(linter.findings.isEmpty)
        // A key that may sign lists may not sign roots.
        linter.signers = [LintSigner(.root, named: "file:keys/new.pem", keyID: known.keyID)]
        #expect(linter.findings.map(\.rule.id) == ["signer-not-in-root"])
        // A key of the hybrid demand is asked for as well.
        linter.root?.root.hybrid = Role.Demand(keyIDs: [known.keyID], threshold: 1)
        #expect(!linter.findings.map(\.rule.id).contains("signer-not-in-root"))
    }

    @Test("members and pins that this version does not know")
    func membersAndPinsThatThisVersionDoesNotKnow() throws {
        let list = try PinListBuilt.list(SourceText.good())
        let text = String(decoding: list.payload, as: UTF8.self)
        func rules(_ text: String) throws -> [String] {
            Linter(try PinList(payload: Array(text.utf8)), at: Self.now).findings.map(\.rule.id)
        }
        #expect(try rules(text).isEmpty)
        #expect(try rules(text.replacing("\"unlisted\"", with: "\"extra\":1,\"unlisted\"")) == ["unknown-member"])
        #expect(
            try rules(text.replacing("{\"pin\":\"\(Self.b)\"}", with: "{\"pin\":\"sha512/x\"}"))
                == ["no-backup-pin", "unusable-pin"])
    }

    @Test("all rules have a name of their own, a reason and a fix")
    func allRulesHaveANameOfTheirOwnAReasonAndAFix() {
        #expect(Set(LintRule.all.map(\.id)).count == LintRule.all.count)
        for rule in LintRule.all {
            #expect(LintRule.named(rule.id) == rule)
            #expect(!rule.reason.isEmpty && !rule.fix.isEmpty && !rule.reason.hasSuffix("."))
        }
    }
}

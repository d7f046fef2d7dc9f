// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("Rules of lint about what is served now", .needsOpenSSL)
struct LintLiveTests {
    /// A served chain of leaf, authority and anchor, for two hosts.
    private struct Chain {
        let path: ValidatedPath
        let pins: [String]
    }

    private func withChain(_ body: (Chain) throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let authority = ["basicConstraints=critical,CA:TRUE"]
            try await openssl.makeCertificate("root", subject: "/CN=root", extensions: authority, in: folder)
            try await openssl.makeCertificate(
                "ca", subject: "/CN=ca", issuedBy: "root", extensions: authority, in: folder)
            try await openssl.makeCertificate(
                "leaf", subject: "/CN=api.example.com", issuedBy: "ca",
                extensions: ["subjectAltName=DNS:api.example.com,DNS:*.shop.example.com"], in: folder)
            let files = ["leaf.pem", "ca.pem", "root.pem"]
            let certificates = try files.flatMap { file in
                try PEMBlock.blocks(in: Array(try folder.contents(of: file))).map(\.bytes)
            }
            let pins = try await openssl.pins(ofCertificates: files, in: folder)
            try body(Chain(path: ValidatedPath(uncheckedValidatedPath: certificates), pins: pins))
        }
    }

    private func rules(
        _ text: String, _ served: [ServedPath], only prefix: String = ""
    ) throws -> [String] {
        let source = try SourceText.read(text)
        var linter = Linter(try PinListBuilt.list(source), at: SourceText.now)
        linter.source = source
        linter.served = served
        return linter.findings.map(\.rule.id)
    }

    private func entry(_ pins: [String], rest: String = "") -> String {
        SourceText.good(rest).replacing(
            "{pin: \"\(SourceText.pin("a"))\"}, {pin: \"\(SourceText.pin("b"))\"}",
            with: pins.map { "{pin: \"\($0)\"}" }.joined(separator: ", "))
    }

    @Test("the served chain matches no pin, or one")
    func servedChainMatchesNoPinOrOne() async throws {
        try await self.withChain { chain in
            let served = [ServedPath(try HostName("api.example.com"), path: chain.path)]
            let foreign = [SourceText.pin("a"), SourceText.pin("b")]
            #expect(try self.rules(self.entry(foreign), served) == ["would-cut-off"])
            #expect(try self.rules(self.entry([chain.pins[0], SourceText.pin("b")]), served).isEmpty)
            let reporting = self.entry(foreign).replacing("    pins:", with: "    mode: report\n    pins:")
            #expect(try self.rules(reporting, served).isEmpty)
            let leafAlone = self.entry([chain.pins[1], SourceText.pin("b")]).replacing(
                "\(chain.pins[1])\"", with: "\(chain.pins[1])\", position: leaf")
            #expect(try self.rules(leafAlone, served) == ["would-cut-off"])
        }
    }

    @Test("a pin that is added and served on one day: the new list matches, and installations hold the one before")
    func pinThatIsAddedAndServedOnOneDayTheNewListMatches() async throws {
        try await self.withChain { chain in
            let host = try HostName("api.example.com")
            let old = try PinListBuilt.list(
                self.entry([SourceText.pin("a"), SourceText.pin("b")]), at: SourceText.now.later(-60 * 86_400))
            func rules(_ text: String, heldFor days: Int64, _ measured: [Int64: Int64]? = nil) throws -> [String] {
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "tumbler-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: folder) }
                let project = ProjectFolder(folder)
                try ListHistory.keep(old.payload, in: project, publishedAt: old.issuedAt)
                let source = try SourceText.read(text)
                let time = SourceText.now.later(-days * 86_400)
                let new = try PinListBuilt.list(source, after: old, at: time)
                if days > 0 { try ListHistory.keep(new.payload, in: project, publishedAt: time) }
                var linter = Linter(new, at: SourceText.now)
                linter.source = source
                linter.served = [ServedPath(host, path: chain.path)]
                linter.held =
                    try measured.map {
                        try HeldLists(
                            of: project, and: nil, measured: .init(period: 86_400, requests: 1_000, versions: $0))
                    }
                    ?? HeldLists(
                        of: project, and: nil, propagation: source.propagation, at: SourceText.now,
                        notMeasured: "there is no service")
                return linter.findings.map(\.rule.id)
            }
            let added = self.entry([SourceText.pin("a"), SourceText.pin("b"), chain.pins[0]])
            #expect(try rules(added, heldFor: 0) == ["held-list-refuses"])
            #expect(try rules(added, heldFor: 29) == ["held-list-refuses"])
            #expect(try rules(added, heldFor: 30).isEmpty)
            // Time decides nothing where installations were counted, neither way.
            #expect(try rules(added, heldFor: 1, [1: 10, 2: 990]).isEmpty)
            #expect(try rules(added, heldFor: 90, [1: 11, 2: 989]) == ["held-list-refuses"])
            // An entry that is gone is still enforced by those who hold it.
            let moved = self.entry([chain.pins[0], SourceText.pin("b")]).replacing(
                "api.example.com", with: "www.example.com")
            #expect(try rules(moved, heldFor: 0) == ["held-list-refuses"])
        }
    }

    /// The findings of a list that comes after another one.
    private func findings(_ text: String, after old: PinList, _ served: [ServedPath]) throws -> [LintFinding] {
        let source = try SourceText.read(text)
        var linter = Linter(try PinListBuilt.list(source, after: old), at: SourceText.now)
        linter.source = source
        linter.published = old
        linter.served = served
        return linter.findings
    }

    /// A source whose one entry has two pins that no server has.
    private func foreign(_ domain: String, _ entry: String = "", list: String = "", rest: String = "") -> String {
        SourceText.good(rest, entry: entry, list: list).replacing("api.example.com", with: domain)
    }

    @Test("an entry that goes below a parent that lacks the served key: the parent's entry would cut its host off")
    func entryThatGoesBelowAParentThatLacksTheServedKeyCutsItsHostOff() async throws {
        try await self.withChain { chain in
            let served = [ServedPath(try HostName("api.example.com"), path: chain.path)]
            let old = try PinListBuilt.list(self.entry([chain.pins[0], SourceText.pin("b")]))
            let subdomains = "includeSubdomains: true"
            func findings(_ entry: String, rest: String = "") throws -> [LintFinding] {
                try self.findings(self.foreign("example.com", entry, rest: rest), after: old, served)
            }
            let cut = try findings(subdomains)
            #expect(cut.map(\.rule.id) == ["would-cut-off"])
            #expect(cut.map(\.subject) == ["api.example.com"])
            #expect(cut.first?.detail?.hasSuffix("and the entry example.com applies to it") == true, "\(cut)")
            #expect(cut.first?.position != nil)
            // A suspension ends, and a rollout that any installation is in locks that one out.
            let suspended = "suspended: [{domain: '*', until: \(SourceText.now.later(60)), reason: drill}]"
            #expect(try findings(subdomains, rest: suspended).map(\.rule.id) == ["would-cut-off"])
            #expect(try findings("\(subdomains)\n    rollout: 1").map(\.rule.id) == ["would-cut-off"])
            // What no installation enforces refuses nothing, and an entry for itself alone does not apply.
            for harmless in ["mode: report", "mode: \"off\"", "rollout: 0"] {
                #expect(try findings("\(subdomains)\n    \(harmless)").isEmpty, "\(harmless)")
            }
            #expect(try findings("").isEmpty)
            // A parent that has the issuer's pin accepts it.
            let known = self.foreign("example.com", subdomains).replacing(SourceText.pin("a"), with: chain.pins[1])
            #expect(try self.findings(known, after: old, served).isEmpty)
        }
    }

    @Test("an entry that goes under unlisted: deny cuts its host off, and not where only lists and reports go")
    func entryThatGoesUnderUnlistedDenyCutsItsHostOff() async throws {
        try await self.withChain { chain in
            let served = try ["api.example.com", "reports.example.net"].map { host in
                ServedPath(try HostName(host), path: chain.path)
            }
            let old = try PinListBuilt.list(self.entry([chain.pins[0], SourceText.pin("b")]))
            for (unlisted, rules) in [
                ("deny", ["would-cut-off"]), ("report", []), ("allow", []),
            ] as [(String, [String])] {
                let text = self.foreign("www.example.com", list: "unlisted: \(unlisted)")
                let found = try self.findings(text, after: old, served)
                #expect(found.map(\.rule.id) == rules, "\(found)")
                #expect(found.allSatisfy { $0.subject == "api.example.com" }, "\(found)")
                #expect(found.allSatisfy { $0.detail?.contains("unlisted is deny") == true }, "\(found)")
            }
        }
    }

    @Test("an entry that goes below a parent that enforces Certificate Transparency: its host has to satisfy that")
    func entryThatGoesBelowAParentThatEnforcesCertificateTransparency() async throws {
        try await self.withChain { chain in
            let logs = #"{"log_list_timestamp": "2026-11-20T00:00:00Z", "operators": []}"#
            let entry = "includeSubdomains: true\n    transparency: {mode: enforce, policy: chrome}"
            let text = self.foreign("example.com", entry, list: "logs: logs.json").replacing(
                SourceText.pin("a"), with: chain.pins[1])
            let source = try SourceText.read(text, ["logs.json": logs])
            let old = try PinListBuilt.list(self.entry([chain.pins[0], SourceText.pin("b")]))
            var linter = Linter(try PinListBuilt.list(source, after: old), at: SourceText.now)
            linter.source = source
            linter.published = old
            let satisfied = [Envelope.digest(of: Array(logs.utf8)): ["chrome"]]
            let sight: [String: Any] = [
                "at": "2026-11-20T00:00:00Z", "issuer": "", "issuerName": "", "pins": [String](),
                "satisfied": satisfied,
            ]
            let file: [String: Any] = ["schema": 1, "hosts": ["example.com": sight]]
            linter.probed = ProbeMemory(Array(try JSONSerialization.data(withJSONObject: file)))
            #expect(linter.findings.isEmpty)
            // Its certificate is in no log, and its key is one of the authority that the parent pins.
            linter.served = [ServedPath(try HostName("api.example.com"), path: chain.path)]
            let findings = linter.findings
            #expect(findings.map(\.rule.id) == ["unseen-transparency"])
            #expect(findings.first?.detail?.hasPrefix("api.example.com, chrome: ") == true, "\(findings)")
        }
    }

    @Test("a host whose own entry is gone is asked where what applies to it now may refuse, whatever its entry did")
    func hostWhoseOwnEntryIsGoneIsAskedWhereWhatAppliesToItNowMayRefuse() throws {
        let parent = self.foreign("example.com", "includeSubdomains: true")
        let tame = self.foreign("example.com", "includeSubdomains: true\n    mode: report")
        for (mode, text, isAsked) in [
            ("\"off\"", parent, true), ("report", parent, true), ("enforce", parent, true), ("\"off\"", tame, false),
            ("report", tame, false), ("enforce", tame, true),
        ] {
            let old = try PinListBuilt.list(SourceText.good(entry: "mode: \(mode)"))
            var linter = Linter(try PinListBuilt.list(text, after: old), at: SourceText.now)
            linter.published = old
            let hosts = linter.hostsToObserve.map(\.description)
            #expect(hosts.contains("api.example.com") == isAsked, "\(mode): \(hosts)")
        }
    }

    @Test("all pins in one chain, the anchor among them, or only what is above the leaf")
    func allPinsInOneChainTheAnchorAmongThemOrOnlyWhatIsAboveTheLeaf() async throws {
        try await self.withChain { chain in
            let served = [ServedPath(try HostName("api.example.com"), path: chain.path)]
            #expect(try self.rules(self.entry([chain.pins[0], chain.pins[1]]), served) == ["pins-in-one-chain"])
            #expect(
                try self.rules(self.entry([chain.pins[0], SourceText.pin("b"), chain.pins[2]]), served)
                    == ["root-ca-pinned"])
            #expect(
                try self.rules(self.entry([chain.pins[1], chain.pins[2]]), served)
                    == ["pins-in-one-chain", "root-ca-pinned", "only-issuer-pins"])
        }
    }

    @Test("a revoked certificate is served by a listed host, or where lists and reports go, unless it is only reported")
    func revokedCertificateIsServedByAListedHostOrWhereListsAndReportsGoUnlessItIsOnlyReported() async throws {
        try await self.withChain { chain in
            func text(_ index: Int, mode: String = "enforce") throws -> String {
                let certificate = chain.path.certificates[index]
                let serial = SerialNumber(
                    contents: certificate[try CertificateFields(walking: certificate).serialNumber])
                let issuer = chain.pins[index + 1]
                return self.entry(
                    [chain.pins[0], SourceText.pin("b")],
                    rest:
                        "revoked: [{issuer: \"\(issuer)\", serials: [\"\(try #require(serial))\"], mode: \(mode)}]")
            }
            for host in ["api.example.com", "reports.example.net"] {
                let served = [ServedPath(try HostName(host), path: chain.path)]
                for index in 0...1 {
                    #expect(try self.rules(text(index), served).contains("revoked-served"), "\(host)")
                }
                #expect(try !self.rules(text(0, mode: "report"), served).contains("revoked-served"))
                // The same serial number of another issuer.
                let other = try text(0).replacing(
                    "issuer: \"\(chain.pins[1])\"", with: "issuer: \"\(chain.pins[2])\"")
                #expect(try !self.rules(other, served).contains("revoked-served"))
            }
        }
    }

    @Test("a denied key is served by a listed host, or where lists and reports go")
    func deniedKeyIsServedByAListedHostOrWhereListsAndReportsGo() async throws {
        try await self.withChain { chain in
            let text = self.entry([chain.pins[0], SourceText.pin("b")], rest: "denied: [\"\(chain.pins[1])\"]")
            for host in ["api.example.com", "reports.example.net"] {
                let served = [ServedPath(try HostName(host), path: chain.path)]
                #expect(try self.rules(text, served) == ["denied-key-served"])
                let reporting = text.replacing(
                    "[\"\(chain.pins[1])\"]", with: "[{pin: \"\(chain.pins[1])\", mode: report}]")
                #expect(try self.rules(reporting, served).isEmpty)
            }
        }
    }

    @Test("a certificate that also names a host of another entry, by name or by a wildcard")
    func certificateThatAlsoNamesAHostOfAnotherEntryByNameOrByAWildcard() async throws {
        try await self.withChain { chain in
            let served = [ServedPath(try HostName("api.example.com"), path: chain.path)]
            func text(_ host: String, _ pin: String) -> String {
                self.entry(
                    [chain.pins[0], SourceText.pin("b")],
                    rest: "  - {domain: \(host), pins: [{pin: \"\(pin)\"}, {pin: \"\(SourceText.pin("d"))\"}]}")
            }
            let other = SourceText.pin("c")
            #expect(try self.rules(text("a.shop.example.com", other), served) == ["certificate-names-other-entry"])
            #expect(try self.rules(text("a.shop.example.com", chain.pins[0]), served).isEmpty)
            #expect(try self.rules(text("a.b.shop.example.com", other), served).isEmpty)
            #expect(try self.rules(text("shop.example.com", other), served).isEmpty)
            let parent = text("shop.example.com", other).replacing(
                "shop.example.com,", with: "shop.example.com, includeSubdomains: true,")
            #expect(try self.rules(parent, served) == ["certificate-names-other-entry"])
        }
    }

    @Test("the host of the lists serves the key of a pinned host: what breaks the one breaks the way to its cure")
    func hostOfTheListsServesTheKeyOfAPinnedHost() async throws {
        try await self.withChain { chain in
            let (api, lists) = (try HostName("api.example.com"), try HostName("pins.example.org"))
            let text = self.entry([chain.pins[0], SourceText.pin("b")]).replacing(
                "reportTo:", with: "server: https://pins.example.org:8443/\nreportTo:")
            let both = [ServedPath(api, path: chain.path), ServedPath(lists, path: chain.path)]
            #expect(try self.rules(text, both) == ["list-host-shares-fate"])
            // Where reports go is not where the cure comes from.
            let reports = [both[0], ServedPath(try HostName("reports.example.net"), path: chain.path)]
            #expect(try self.rules(text, reports).isEmpty)
            #expect(try self.rules(text, [both[1]]).isEmpty)
            #expect(try self.rules(text.replacing("    pins:", with: "    mode: off\n    pins:"), both).isEmpty)
            let silent = [both[0], ServedPath(lists, failure: "no answer")]
            #expect(try self.rules(text, silent) == ["not-observed"])
        }
    }

    @Test("a host that could not be probed is said, and its hosts are those of entries, lists and reports")
    func hostThatCouldNotBeProbedIsSaidAndItsHostsAreThoseOfEntriesListsAndReports() async throws {
        let source = try SourceText.read(
            SourceText.good("  - {domain: x.example.com, mode: off}", list: "server: https://pins.example.org:8443/"))
        var linter = Linter(try PinListBuilt.list(source), at: SourceText.now)
        linter.source = source
        #expect(
            linter.hostsToObserve.map(\.description) == ["api.example.com", "pins.example.org", "reports.example.net"])
        linter.served = [ServedPath(try HostName("api.example.com"), failure: "no such host")]
        #expect(linter.findings.map(\.rule.id) == ["not-observed"])
    }
}

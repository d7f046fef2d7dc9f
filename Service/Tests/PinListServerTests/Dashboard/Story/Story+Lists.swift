// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

extension Story {
    /// Shares in windows of six hours for three weeks: version 43 takes over from 42 within days.
    static var estimate: AdoptionViewModel {
        let windows = 84
        func share(publishedAt window: Int, _ index: Int) -> Double {
            guard index >= window else { return 0 }
            var missing = 1.0
            for _ in window...index { missing *= 0.86 }
            return 1 - missing
        }
        let published = [70, 34, -10, -60]
        let versions = published.indices.map { number in
            AdoptionViewModel.Version(
                version: 43 - Int64(number),
                publishedAt: self.ago(Int64(windows - published[number]) * 21_600),
                shares: (0..<windows).map { index in
                    if (52..<56).contains(index) { return nil }
                    let newer = number == 0 ? 0 : share(publishedAt: published[number - 1], index)
                    let own = number == published.count - 1 ? 1 : share(publishedAt: published[number], index)
                    let hidden = published.prefix(number).map { share(publishedAt: $0, index) }.max() ?? newer
                    return max(0, own - hidden)
                })
        }
        let start = self.now.secondsSince1970 / 21_600 * 21_600 - Int64(windows) * 21_600
        return AdoptionViewModel(
            start: Timestamp(secondsSince1970: start), step: 21_600, versions: versions, requests: 1_204_331,
            askedEvery: 43_200, forecast: .expected(self.ahead(days: 4)))
    }

    static var adoptionPage: AdoptionPage {
        AdoptionPage(
            measurement: .measured(self.estimate),
            unverified: [
                UnverifiedDigest(digest: self.digest(999), requests: 14, lastSeen: self.ago(7_000)),
                UnverifiedDigest(digest: self.digest(998), requests: 1, lastSeen: self.ago(400_000)),
            ])
    }

    static var unmeasuredPage: AdoptionPage {
        AdoptionPage(measurement: .notMeasured(self.unmeasured[0]), unverified: [])
    }

    static var hostsPage: HostsPage {
        HostsPage(
            version: 43,
            hosts: [
                HostPins(
                    domain: "api.bank.example", includesSubdomains: true, mode: "enforce", rollout: 100, expiresAt: nil,
                    suspendedUntil: nil,
                    pins: [
                        .init(
                            pin: self.pin("c"), position: "any", note: "current", service: .notServed, probes: [],
                            evaluation: .refused(share: 0.002)),
                        .init(
                            pin: self.pin("d"), position: "any", note: "backup, in the safe", service: .notServed,
                            probes: [], evaluation: .refused(share: 0.38)),
                    ], probedAt: self.ago(10_800), rotation: "announced"),
                HostPins(
                    domain: "login.bank.example", includesSubdomains: false, mode: "enforce", rollout: 50,
                    expiresAt: nil,
                    suspendedUntil: nil,
                    pins: [
                        .init(
                            pin: self.pin("e"), position: "leaf", note: "current",
                            service: .served(until: self.ahead(days: 11)), probes: ["frankfurt-1", "ci"],
                            evaluation: .notMeasured("12 requests in 24 hours are too few, and 300 are needed")),
                        .init(pin: self.pin("f"), position: "leaf", note: "backup", service: .notServed, probes: []),
                    ], probedAt: self.ago(10_800)),
                HostPins(
                    domain: "cdn.bank.example", includesSubdomains: true, mode: "report", rollout: 100,
                    expiresAt: self.ahead(days: 200), suspendedUntil: self.ago(-14_400),
                    pins: [
                        .init(
                            pin: self.pin("g"), position: "issuer", note: "the CA",
                            service: .served(until: self.ahead(days: 74)),
                            probes: ["frankfurt-1", "ci", "singapore-2", "ohio"])
                    ], probedAt: self.ago(4_000)),
                HostPins(
                    domain: "cards.bank.example", includesSubdomains: false, mode: "enforce", rollout: 100,
                    expiresAt: nil,
                    suspendedUntil: nil,
                    pins: [
                        .init(pin: self.pin("h"), position: "any", note: "", service: .neverProbed, probes: []),
                        .init(pin: self.pin("i"), position: "any", note: "backup", service: .neverProbed, probes: []),
                    ], probedAt: nil),
                HostPins(
                    domain: "legacy.bank.example", includesSubdomains: false, mode: "off", rollout: 100, expiresAt: nil,
                    suspendedUntil: nil, pins: [], probedAt: nil),
            ])
    }

    static var listsPage: ListsPage {
        func publication(_ version: Int64, days: Int64, _ changes: [ListsPage.Change]) -> ListsPage.Publication {
            ListsPage.Publication(
                what: "list", version: version, digest: self.digest(Int(version)),
                publishedAt: self.ago(days * 86_400 + 7_200),
                publishedBy: "token k3f9 (release-ci)", issuedAt: self.ago(days * 86_400 + 7_500),
                expiresAt: self.ahead(days: 60 - days), isServed: version == 43, changes: changes)
        }
        return ListsPage(
            publications: [
                publication(
                    43, days: 3,
                    [
                        .init(kind: .added, text: "api.bank.example: pin \(self.pin("d")) (backup, in the safe)"),
                        .init(kind: .removed, text: "api.bank.example: pin \(self.pin("b")) (old backup)"),
                        .init(kind: .changed, text: "login.bank.example: rollout 10 to 50"),
                    ]),
                publication(
                    42, days: 12,
                    [.init(kind: .changed, text: "cdn.bank.example: mode enforce to report")]),
                publication(41, days: 23, []),
            ], total: 43)
    }

    static var auditPage: AuditPage {
        var entries: [AuditEntry] = []
        let actions = [
            ("publish", "com.example.bank: list 43, \(self.digest(43))"),
            ("token-create", "k3f9, publish, com.example.bank"),
            ("publish-refused", "com.example.bank: rollback: version 41 was offered, 42 is published"),
        ]
        for number in 1...24 {
            let (action, detail) = actions[(24 - number) % 3]
            entries.append(
                AuditEntry(
                    number: Int64(number), time: self.ago(Int64(24 - number) * 50_000 + 300),
                    actor: number % 3 == 2 ? "cli" : "k3f9",
                    action: action, detail: detail, previous: entries.last?.digest ?? AuditEntry.origin))
        }
        func token(
            _ id: String, _ scope: String, _ names: [String], _ label: String, _ owner: String,
            _ end: TokenViewModel.End
        ) -> TokenViewModel {
            TokenViewModel(
                id: id, scope: scope, names: names, label: label, owner: owner, madeAt: self.ago(5 * 86_400), end: end)
        }
        return AuditPage(
            entries: entries.reversed(), head: entries.last, older: 20, newer: nil,
            tokens: [
                token("8d1e04b7c2a96f35", "read", [], "login link", "anna", .ends(self.ahead(days: 0))),
                token("51c0ffee00d15ea5", "read", [], "Prometheus", "ops", .open),
                token("7e4a1b2c3d5f6071", "read", [], "login link", "anna", .ended(self.ago(3_600))),
                token("2b7c9d0e1f3a4b5c", "publish", ["com.example.bank"], "CI of the app", "mobile", .open),
                token("90f1e2d3c4b5a697", "probe", ["com.example.bank"], "", "", .revoked(self.ago(86_400))),
            ])
    }

    static var alarmsPage: AlarmsPage {
        var over = self.alarms[2]
        over.title = "A server's certificate is about to expire: cdn.bank.example, expires in 12 days"
        over.until = self.ago(9 * 86_400)
        over.since = self.ago(12 * 86_400)
        var firing = self.alarms
        firing[0].acknowledged = .init(at: self.ago(4_000), by: "0123456789abcdef")
        let silence = StoredSilence(
            what: "probe-unreached", severity: .notice, endsAt: self.ahead(days: 1), madeAt: self.ago(3_000),
            madeBy: "0123456789abcdef", reason: "the probe moves to another network")
        return AlarmsPage(
            firing: firing, recent: [over], silences: [silence],
            targets: [
                .init(id: "0", kind: "slack", label: "#mobile-operations", delivery: .delivered(self.ago(19_000))),
                .init(
                    id: "1", kind: "pagerduty", label: "Mobile on call",
                    delivery: .failed(self.ago(19_000), "HTTP 403: the key is not valid")),
                .init(id: "2", kind: "webhook", label: "https://hooks.bank.example/…", delivery: .none),
                .init(
                    id: "3", kind: "of another instance", label: "old pager", delivery: .unknown(waiting: 2, lost: 5),
                    isHere: false),
            ], mayOperate: true, token: "0f3c9a", notice: nil)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// The same pages, where each text from outside is as bad as its author could make it.
enum HostileStory {
    /// Text that HTML, browsers or people might take for something else.
    static let texts = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
        "</title></textarea></pre><script src=//evil.example>", "{{{token}}}{{#x}}", "&lt;b&gt;&#x3c;",
        "javascript:alert(1)", "\u{202e}elpmaxe.live\u{2066}", "a\u{0}b\u{7f}\u{1b}[31m\u{feff}\u{200b}",
        "api\u{2028}\u{2029}\u{a0}\u{3164}\u{e0041}", "x" + String(repeating: "\u{300}\u{489}", count: 400),
        "\"\u{301} onfocus=alert(1) autofocus x=\"\u{301}", "\u{600}\"\u{600}<b>", "<\u{301}script>",
        "\u{430}pi.example.com", String(repeating: "A", count: 100_000), "e\u{301}te\u{301}",
    ]

    static let all = Self.texts.joined(separator: " ")

    private static var silence: StoredSilence {
        StoredSilence(
            what: self.all, severity: .critical, endsAt: Timestamp(secondsSince1970: .max), madeAt: Story.now,
            madeBy: self.all, reason: self.all)
    }

    private static var alarm: AlarmViewModel {
        AlarmViewModel(
            id: self.all, severity: .now, title: self.all, advice: self.all, runbook: "/runbook/silence",
            path: "/failures",
            since: Story.now, acknowledged: .init(at: Story.now, by: self.all), silenced: self.silence)
    }

    private static func group(_ text: String) -> FailureGroup {
        FailureGroup(
            id: text, host: text, reason: text, cause: .unknown, evidence: [text], listVersion: .max, leafPin: text,
            issuer: text, appVersion: text, reports: .max, networks: .max, firstSeen: Story.now, lastSeen: Story.now,
            series: Story.hours(mean: 1e300, seed: 1))
    }

    static var pages: [(String, any DashboardPage)] {
        let texts = self.texts + [self.all]
        var filter = FailureFilter()
        filter.host = self.texts[1]
        filter.version = self.texts[11]
        let failures = FailuresPage(
            filter: filter, hosts: texts, reasons: texts, versions: texts, groups: texts.map(self.group), isCut: true,
            pinReports: .max, otherReports: .max, series: Story.hours(mean: 1e300, seed: 1))
        let certificate = SeenCertificate(
            subject: self.all, issuer: self.all, names: texts, validity: nil, pin: self.all, isPinned: false,
            key: self.all, otherHost: self.all, pem: self.all)
        let group = FailureGroupPage(
            group: self.group(self.all), certificates: [certificate], networks: [.init(label: self.all, count: 1)],
            apps: texts.map { .init(label: $0, count: 1) },
            samples: texts.map { .init(receivedAt: Story.now, json: "{\n\t\"a\": \"\($0)\"\n}") })
        let hosts = texts.map { text in
            HostPins(
                domain: text, includesSubdomains: true, mode: text, rollout: 1, expiresAt: nil, suspendedUntil: nil,
                pins: [
                    .init(
                        pin: text, position: text, note: text, service: .served(until: Story.now), probes: texts,
                        evaluation: .notMeasured(text))
                ],
                probedAt: nil, revoked: [text], rotation: text)
        }
        let publication = ListsPage.Publication(
            what: self.all, version: 1, digest: self.all, publishedAt: Story.now, publishedBy: self.all, issuedAt: nil,
            expiresAt: nil, isServed: true, changes: texts.map { .init(kind: .added, text: $0) })
        let entry = AuditEntry(
            number: 1, time: Story.now, actor: self.all, action: self.all, detail: self.all, previous: self.all)
        let target = AlarmsPage.Target(
            id: self.all, kind: self.all, label: self.all, delivery: .failed(Story.now, self.all))
        let rates = texts.map { text in
            HostRateViewModel(
                host: text, lastHour: .max, usual: .infinity, hours: Story.hours(mean: .nan, seed: 1), otherTLS: .max,
                state: .high)
        }
        let served = ServedList(
            name: self.all, version: .max, digest: self.all, publishedAt: Timestamp(secondsSince1970: .min),
            expiresAt: Timestamp(secondsSince1970: .max), rootVersion: .min,
            rootExpiresAt: Timestamp(secondsSince1970: .min), share: .nan)
        let rotation = RotationViewModel(
            host: self.all, entries: .max, state: self.all, since: Timestamp(secondsSince1970: .min),
            nextState: self.all, due: Timestamp(secondsSince1970: .max), newPin: self.all, oldPins: texts,
            kept: self.all, maxRefusing: "1%", wayBack: self.all,
            events: texts.map { .init(label: $0, time: Timestamp(secondsSince1970: .max), isDone: false) },
            adoption: Story.hours(mean: .nan, seed: 1), seen: texts,
            forced: [.init(state: self.all, time: Story.now, reason: self.all)])
        let token = TokenViewModel(
            id: self.all, scope: self.all, names: texts, label: self.all, owner: self.all, madeAt: Story.now, end: .open
        )
        let sighting = SightingViewModel(
            names: texts, issuer: self.all, key: self.all, log: self.all, loggedAt: Story.now,
            toldAt: Timestamp(secondsSince1970: .min), toldBy: self.all, notBefore: Timestamp(secondsSince1970: .min),
            notAfter: Timestamp(secondsSince1970: .max), state: .unknown, isEnforced: true, isPrecertificate: true,
            probedAt: Story.now, networks: .max, acknowledgedBy: self.all)
        let unmeasured = Unmeasured(what: self.all, why: self.all, next: self.all)
        return [
            (
                "now",
                NowPage(
                    alarms: [self.alarm], hosts: rates, lists: [served], unmeasured: [unmeasured],
                    attestations: [
                        AttestedReports(
                            name: self.all, attested: .min, all: .max, share: .nan, keys: .max,
                            unattested: .countWhileOthersAreMissing)
                    ])
            ),
            ("failures", failures), ("failure", group), ("hosts", HostsPage(version: 1, hosts: hosts)),
            (
                "adoption",
                AdoptionPage(
                    measurement: .notMeasured(unmeasured),
                    unverified: texts.map { UnverifiedDigest(digest: $0, requests: .max, lastSeen: Story.now) })
            ),
            (
                "certificates",
                CertificatesPage(
                    hosts: texts.map { .init(domain: $0, certificates: [sighting]) }, counts: [.unknown: .max],
                    isFiltered: true)
            ),
            (
                "rotations",
                RotationsPage(rotations: [rotation], total: .max, unreadable: texts, isFiltered: false)
            ),
            ("lists", ListsPage(publications: [publication], total: 1)),
            ("audit", AuditPage(entries: [entry], head: entry, older: .max, newer: .min, tokens: [token])),
            (
                "alarms",
                AlarmsPage(
                    firing: [self.alarm], recent: [self.alarm], silences: [self.silence], targets: [target],
                    mayOperate: true, token: self.all, notice: self.all)
            ),
            ("login", LoginPage(wasRefused: true, next: self.all)),
            ("error", ErrorPage(status: 503, detail: self.all)),
        ]
    }

    static var frame: PageFrame {
        PageFrame(names: self.texts, name: self.texts[1], time: Story.now, firing: .max, logoutToken: self.all)
    }
}

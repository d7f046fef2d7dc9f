// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@testable import PinListServer
@testable import PinReportAnalysis

/// A week of an operator: a host changed its key without an announcement, and a company's proxy opens the connections
/// of its staff. The numbers are the same each time.
enum Story {
    static let now = Timestamp(secondsSince1970: 1_795_286_525)  // 2026-11-21T18:42:05Z
    static let name = "com.example.bank"

    static var frame: PageFrame {
        var frame = PageFrame(
            names: ["com.example.bank", "com.example.bank.business"], name: Self.name, time: Self.now)
        frame.firing = 3
        return frame
    }

    static func ago(_ seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: self.now.secondsSince1970 - seconds) }
    static func ahead(days: Int64) -> Timestamp { self.ago(-days * 86_400) }

    /// The start of the hour that is not over yet: series end there.
    private static var hour: Int64 { self.now.secondsSince1970 / 3_600 * 3_600 }

    /// Hourly counts for a week: small and uneven, with a burst in the newest hours, and a gap where asked.
    static func hours(mean: Double, burst: [Double] = [], gap: Range<Int>? = nil, seed: UInt64) -> PlotSeries {
        var state = seed
        let values = (0..<168).map { hour -> Double? in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            if let gap, gap.contains(hour) { return nil }
            if hour >= 168 - burst.count { return burst[hour - (168 - burst.count)] }
            let day = 0.55 + 0.45 * Double((hour + 7) % 24 < 15 ? 1 : 0)
            return (mean * day * (0.4 + 1.2 * Double(state >> 40) / Double(1 << 24))).rounded()
        }
        return PlotSeries(start: Timestamp(secondsSince1970: self.hour - 168 * 3_600), step: 3_600, values: values)
    }

    static func pin(_ letter: String) -> String { "sha256/" + String(repeating: letter, count: 42) + "A=" }

    static func digest(_ number: Int) -> String {
        var state = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        return (0..<64).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return String(state >> 60, radix: 16)
        }.joined()
    }

    static let rotationBurst: [Double] = [3, 12, 96, 388, 702, 911, 874]

    static let alarms = [
        AlarmViewModel(
            id: "rate-api", severity: .now,
            title: "A server presents a key that no list has: api.bank.example, since 13:35 UTC, 391 networks; "
                + "886 failures in the last hour, 874 of them pin failures; the usual number is 4.2",
            advice: LikelyCause.Kind.rotation.action, runbook: "/runbook/failure-rate", path: "/failures",
            since: Self.ago(5 * 3_600 + 400)),
        AlarmViewModel(
            id: "list-expiry", severity: .soon,
            title: "The list is about to expire: com.example.bank.business, version 18 expires in 6 days, on "
                + "2026-11-27T18:42:05Z",
            advice: AlarmRunbook(.listExpiry).action, runbook: "/runbook/list-expiry", path: "/lists",
            since: Self.ago(8 * 86_400)),
        AlarmViewModel(
            id: "certificate", severity: .later,
            title: "A server's certificate is about to expire: login.bank.example, expires in 20 days, on "
                + "2026-12-11T18:42:05Z",
            advice: AlarmRunbook(.certificateExpiry).action, runbook: "/runbook/certificate-expiry", path: "/hosts",
            since: Self.ago(2 * 86_400)),
    ]

    static let hosts = [
        HostRateViewModel(
            host: "api.bank.example", lastHour: 874, usual: 4.2,
            hours: Self.hours(mean: 5, burst: Self.rotationBurst, seed: 1), otherTLS: 12, state: .high),
        HostRateViewModel(
            host: "cdn.bank.example", lastHour: 41, usual: 17.6,
            hours: Self.hours(mean: 21, burst: [22, 30, 38, 41], seed: 2), otherTLS: 0, state: .raised),
        HostRateViewModel(
            host: "login.bank.example", lastHour: 3, usual: 2.8, hours: Self.hours(mean: 3, seed: 3), otherTLS: 1,
            state: .usual),
        HostRateViewModel(
            host: "push.bank.example", lastHour: 0, usual: 0.4,
            hours: Self.hours(mean: 0.8, gap: 40..<66, seed: 4), otherTLS: 0, state: .usual),
        HostRateViewModel(
            host: "statements.bank.example", lastHour: 1, usual: 1.1, hours: Self.hours(mean: 1.4, seed: 5),
            otherTLS: 0,
            state: .usual),
        HostRateViewModel(
            host: "cards.bank.example", lastHour: nil, usual: nil,
            hours: Self.hours(mean: 0, gap: 0..<168, seed: 6), otherTLS: 0, state: .unknown),
    ]

    static let lists = [
        ServedList(
            name: "com.example.bank", version: 43, digest: Self.digest(43), publishedAt: Self.ago(3 * 86_400 + 7_200),
            expiresAt: Self.ahead(days: 57), rootVersion: 2, rootExpiresAt: Self.ahead(days: 804), share: 0.871),
        ServedList(
            name: "com.example.bank.business", version: 18, digest: Self.digest(18), publishedAt: Self.ago(54 * 86_400),
            expiresAt: Self.ahead(days: 6), rootVersion: 1, rootExpiresAt: Self.ahead(days: 151), share: nil),
    ]

    static let unmeasured = [
        Unmeasured(
            what: "Adoption of com.example.bank.business",
            why: "Its requests come through a cache, so that most of them are never seen here.",
            next: "Feed the edge's logs in with tumbler adoption import."),
        Unmeasured(
            what: "What cards.bank.example serves", why: "No probe has seen it.",
            next: "Run tumbler probe --push daily from two places."),
    ]

    static let attestations = [
        AttestedReports(
            name: "com.example.bank", attested: 18_204, all: 19_640, share: 0.9269, keys: 241_377, unattested: .warn),
        AttestedReports(
            name: "com.example.bank.business", attested: 96, all: 412, share: 0.233, keys: 1_029,
            unattested: .countForTheirShare),
    ]

    static var nowPage: NowPage {
        NowPage(
            alarms: self.alarms, hosts: self.hosts, lists: self.lists, unmeasured: self.unmeasured,
            attestations: self.attestations)
    }

    static var quietPage: NowPage {
        let calm = self.hosts.dropFirst(2).prefix(3)
        return NowPage(alarms: [], hosts: Array(calm), lists: [self.lists[0]], unmeasured: [])
    }
}

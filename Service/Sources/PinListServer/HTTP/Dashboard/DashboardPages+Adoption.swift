// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

extension DashboardPages {
    /// The maximum number of windows that are drawn: bars that can be told apart on a phone.
    private static let windows: Int64 = 56
    /// The maximum number of publications whose versions are shown: those of many weeks, and a page that loads at once.
    private static let maximumPublications = 50

    static func adoption(_ asked: DashboardRequest) async throws -> AdoptionPage {
        guard let name = asked.name else {
            return AdoptionPage(
                measurement: .notMeasured(
                    Unmeasured(what: "Adoption", why: "no list is published", next: "", steps: .list)),
                unverified: [])
        }
        let unverified = name.adoption.unverified.map {
            UnverifiedDigest(digest: $0.digest, requests: Int($0.count), lastSeen: $0.lastSeen)
        }
        guard case .measured(let base) = name.adoption.state else {
            return AdoptionPage(
                measurement: .notMeasured(
                    Self.unmeasured(name) ?? Unmeasured(what: "Adoption", why: "not measured", next: "")),
                unverified: unverified)
        }
        let now = asked.overview.time
        let hours = max(1, (name.adoption.window + 3_599) / 3_600)
        let versions = asked.parts.lists.names[name.name]?.versions ?? [:]
        let (windows, published) = try await asked.parts.store.read { store in
            (
                try store.listRequests(of: name.name, windows: Self.windows, of: hours, until: now.hour),
                try store.publicationTimes(of: name.name, limit: Self.maximumPublications)
            )
        }
        let all = windows.enumerated().map { index, listRequests in
            let last = now.hour - (Self.windows - 1 - Int64(index)) * hours
            return WindowCount(listRequests, hours: (last - hours + 1)...last, versions)
        }
        let counts = Array(all.suffix(all.count - Self.first(of: all, hours, published, now)))
        let start = Timestamp(secondsSince1970: (now.hour - Int64(counts.count) * hours + 1) * 3_600)
        let shown = published.keys.sorted(by: >).map { version in
            AdoptionViewModel.Version(
                version: version, publishedAt: published[version] ?? now,
                shares: counts.map { count in
                    count.whyNotMeasured == nil ? Double(count.versions[version] ?? 0) / Double(count.base) : nil
                })
        }
        return AdoptionPage(
            measurement: .measured(
                AdoptionViewModel(
                    start: start, step: Int(hours * 3_600), versions: shown, requests: Int(base),
                    surplus: Int(clamping: counts.last?.surplus ?? 0), askedEvery: Int(name.adoption.window),
                    forecast: Self.forecast(name, counts, from: start, step: hours * 3_600))),
            unverified: unverified)
    }

    /// The first window that is shown: that in which the first list was published, and where it is not known, or is
    /// further back, the first that was measured.
    static func first(
        of windows: [WindowCount], _ hours: Int64, _ published: [Int64: Timestamp], _ now: Timestamp
    ) -> Int {
        let isKnown = published.count < Self.maximumPublications
        if isKnown, let began = published.values.min() {
            let back = (now.hour - began.hour) / hours
            if back >= 0, back < Int64(windows.count) { return windows.count - 1 - Int(back) }
        }
        return min(windows.firstIndex { $0.whyNotMeasured == nil } ?? 0, max(0, windows.count - 1))
    }

    /// The time at which 99 % hold the newest list, or since when they do: since the first window of those up to now in
    /// which they did.
    private static func forecast(
        _ name: NameOverview, _ counts: [WindowCount], from start: Timestamp, step: Int64
    ) -> AdoptionViewModel.Forecast {
        if let time = name.adoption.everybodyAt { return .expected(time) }
        if name.adoption.isYoung {
            return .unknown("two windows after its publication have to be measured first")
        }
        if name.adoption.isStalled { return .unknown("the share no longer grows") }
        let before = counts.lastIndex { $0.share(of: name.list.version) < AdoptionEstimate.shareOfAll }
        let first = start.before(-Int64(before.map { $0 + 1 } ?? 0) * step)
        return .reached(max(first, name.publishedAt))
    }
}

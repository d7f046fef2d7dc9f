// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

extension DashboardPages {
    static func failures(_ asked: DashboardRequest) async throws -> FailuresPage {
        let filter = FailureFilter(query: asked.query)
        let now = asked.overview.time
        let since = filter.span.seconds.map { now.before($0) } ?? Timestamp(secondsSince1970: 0)
        let newest = asked.overview.newestVersions
        let wanted = GroupFilter(
            host: filter.host, reason: filter.reason, appVersion: filter.version, since: since,
            limit: FailuresPage.maximumGroups + 1)
        let grid = HourGrid(filter.span, until: now.hour)
        let ((listed, isCut), counts, choices, kinds, unreported) = try await asked.parts.store.read { store in
            let found = try store.groups(wanted, newest: newest, at: now)
            let listed = Self.listed(found.prefix(FailuresPage.maximumGroups), by: filter, grid)
            return (
                (listed, isCut: found.count > FailuresPage.maximumGroups),
                try store.groupCounts(listed.prefix(FailuresPage.maximumPlots).map(\.number), in: grid),
                try store.groupChoices(limit: FailuresPage.maximumChoices), try store.kindCounts(in: grid),
                try store.unreported(in: grid)
            )
        }
        var groups = listed.map(\.group)
        for (index, entry) in listed.enumerated() {
            if let counts = counts[entry.number] { groups[index].series = grid.series(counts) }
        }
        // A week of which nothing is known but the last hours says less than a day.
        if grid.step == 1, !groups.contains(where: \.series.reachesBeyondDay) {
            for index in groups.indices { groups[index].series = groups[index].series.newest(PlotSeries.day) }
        }
        let pins = kinds.filter { CountedKind.isPinFailure($0.kind) }
        let incidents = kinds.filter { $0.kind == CollectedReport.Kind.incident.rawValue }.reduce(0) { $0 + $1.count }
        var windows: [Int64: Int64] = [:]
        for count in pins { windows[count.window, default: 0] += count.count }
        return FailuresPage(
            filter: filter, hosts: choices.hosts, reasons: choices.reasons, versions: choices.versions, groups: groups,
            isCut: isCut, pinReports: Int(pins.reduce(0) { $0 + $1.count }),
            otherReports: Int(kinds.reduce(0) { $0 + $1.count } - pins.reduce(0) { $0 + $1.count } - incidents),
            listReports: Int(incidents),
            series: grid.series(windows, adding: unreported.windows), since: filter.span.seconds.map { now.before($0) },
            caption: ReportRate.caption(unreported.factors))
    }

    static func failure(_ asked: DashboardRequest) async throws -> FailureGroupPage {
        guard let id = asked.id, id.utf8.count == 64 else { throw DashboardRequest.NotFoundError() }
        let newest = asked.overview.newestVersions
        let grid = HourGrid(.week, until: asked.overview.time.hour)
        let now = asked.overview.time
        let names = asked.overview.names.map(\.name)
        let found = try await asked.parts.store.read { store -> (GroupSummary, GroupDetails, String)? in
            guard let summary = try store.group(id: id, newest: newest, at: now) else { return nil }
            // A report of a sender that is none of ours names no list.
            let lists = names.filter { summary.listName.isEmpty || $0 == summary.listName }
            let logged = try summary.leafPin.flatMap { key in
                try lists.lazy.compactMap { try Self.explanation(of: key, in: $0, store, at: now) }.first
            }
            return (summary, try store.details(of: summary.number, in: grid), logged ?? "")
        }
        guard let (summary, details, logged) = found else { throw DashboardRequest.NotFoundError() }
        let list = asked.overview.names.first { $0.name == summary.listName }?.list
        let domain = list?.domains.first { $0.entry.domain.description == summary.host }
        let pinned = domain?.entry.pins.map(\.pin.description) ?? []
        let share = domain.flatMap { list?.reportPerMillion(of: $0) } ?? ReportRate.all
        let report = details.bodies.lazy.compactMap { body in
            (try? CollectedReport.read(body.bytes, at: body.receivedAt))?.reports.first { !$0.chain.isEmpty }
        }.first
        return FailureGroupPage(
            group: Self.group(summary, details.counts, grid),
            certificates: (report?.chain ?? []).enumerated().map { index, der in
                Self.certificate(der, pinned: Set(pinned), host: index == 0 ? report?.hostname : nil)
            },
            networks: details.networks.map { day, count in
                let text = Timestamp(secondsSince1970: day * 86_400).description.prefix(10)
                return FailureGroupPage.Tally(label: String(text), count: Int(count))
            },
            apps: details.platforms.map { FailureGroupPage.Tally(label: $0.platform, count: Int($0.count)) },
            samples: details.bodies.map { body in
                FailureGroupPage.Sample(receivedAt: body.receivedAt, json: Self.indented(body.bytes))
            }, sampling: summary.reason == CountedKind.deniedKey ? "" : ReportRate.words(share), logged: logged)
    }

    /// The groups of a cause in the order that was asked for, with their numbers, and without their series.
    private static func listed(
        _ summaries: ArraySlice<GroupSummary>, by filter: FailureFilter, _ grid: HourGrid
    ) -> [(number: Int64, group: FailureGroup)] {
        let order = Self.order(filter.order)
        return summaries.map { (number: $0.number, group: Self.group($0, [:], grid)) }
            .filter { filter.cause == nil || $0.group.cause == filter.cause }
            .sorted { order($0.group, $1.group) }
    }

    private static func group(_ summary: GroupSummary, _ counts: [Int64: Int64], _ grid: HourGrid) -> FailureGroup {
        FailureGroup(
            id: summary.id, host: summary.host.isEmpty ? "(lists)" : summary.host, reason: summary.reason,
            cause: Self.cause(summary.cause.kind),
            evidence: summary.cause.evidence,
            listVersion: summary.listVersion, leafPin: summary.leafPin, issuer: summary.issuer,
            appVersion: summary.appVersion, reports: Int(summary.count), networks: summary.networks?.number ?? 0,
            firstSeen: summary.seen.lowerBound, lastSeen: summary.seen.upperBound,
            series: grid.series(counts), title: summary.cause.title,
            advice: summary.cause.advice.joined(separator: " "),
            attestation: summary.attestation == .notAsked ? "" : summary.attestation.rawValue)
    }

    private static func cause(_ kind: LikelyCause.Kind) -> FailureCause {
        switch kind {
        case .rotation: .rotation
        case .interception: .interception
        case .staleClients: .staleClients
        case .clock: .clockErrors
        case .cleartext: .cleartext
        case .certificateTime: .otherTLS
        case .refusedList: .refusedList
        case .unclear, .unlogged: .unknown
        }
    }

    private static func order(_ order: FailureFilter.Order) -> (FailureGroup, FailureGroup) -> Bool {
        switch order {
        case .reports: { ($1.reports, $0.id) < ($0.reports, $1.id) }
        case .networks: { ($1.networks, $0.id) < ($0.networks, $1.id) }
        case .last: { ($1.lastSeen, $0.id) < ($0.lastSeen, $1.id) }
        case .first: { ($1.firstSeen, $0.id) < ($0.firstSeen, $1.id) }
        case .host: { ($0.host, $0.id) < ($1.host, $1.id) }
        }
    }

    /// - Parameter host: The host that it was presented for; `nil` for the certificate of an issuer.
    private static func certificate(_ der: [UInt8], pinned: Set<String>, host: String?) -> SeenCertificate {
        let readable = ReadableCertificate(der)
        var validity: ClosedRange<Timestamp>?
        if let from = readable?.notBefore, let to = readable?.notAfter, from <= to { validity = from...to }
        return SeenCertificate(
            subject: readable?.subject ?? "", issuer: readable?.issuer ?? "", names: readable?.names ?? [],
            validity: validity, pin: readable?.pin.description,
            isPinned: readable.map { pinned.contains($0.pin.description) } ?? false, key: "",
            otherHost: host.flatMap { host in readable?.names(host) == false ? host : nil },
            pem: PEMBlock(label: PEMBlock.certificateLabel, bytes: der).text)
    }

    /// A report as people read it; as it came where it cannot be read.
    private static func indented(_ body: [UInt8]) -> String {
        guard let value = try? JSONSerialization.jsonObject(with: Data(body)),
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        else { return String(decoding: body, as: UTF8.self) }
        return String(decoding: data, as: UTF8.self)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import NIOConcurrencyHelpers
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Builds each page from the state of the service.
enum DashboardPages {
    static func now(_ asked: DashboardRequest) async throws -> NowPage {
        let overview = asked.overview
        var unmeasured = overview.names.compactMap(Self.unmeasured)
        let listed = overview.names.listedHosts
        let probed = Set(overview.probes.map(\.host))
        let missing = listed.subtracting(probed)
        if !missing.isEmpty {
            unmeasured.append(
                Unmeasured(
                    what: "What \(missing.count) of \(listed.count) hosts serve",
                    why: "no probe has handed in a result",
                    next: "Run tumbler probe --push daily; the service itself makes no connections to hosts."))
        }
        // Hosts of the list without reports are there, too: zero is a figure. Those of no list are last.
        let isOurs = { (rate: HostRate) in rate.host.isEmpty || listed.contains(rate.host) }
        let silent = listed.subtracting(overview.hosts.map(\.host)).sorted().map { host in
            HostRate(host, [:], hour: overview.time.hour, part: overview.time.partOfHour)
        }
        let rates = overview.hosts.filter(isOurs) + silent + overview.hosts.filter { !isOurs($0) }
        var hosts = rates.map { rate in
            var model = Self.rate(rate, overview.time)
            model.isListed = isOurs(rate)
            return model
        }
        // A week of which nothing is known but the last hours says less than a day.
        if !hosts.contains(where: \.hours.reachesBeyondDay) {
            for index in hosts.indices { hosts[index].hours = hosts[index].hours.newest(PlotSeries.day) }
        }
        return NowPage(
            alarms: overview.alarms.map { Self.alarm($0, overview.silences) },
            hosts: hosts,
            lists: overview.names.map(Self.served), unmeasured: unmeasured,
            attestations: overview.attestations.sorted { $0.key < $1.key }.map { AttestedReports(of: $0, $1) },
            room: asked.parts.room.withLockedValue { $0 }?.sentence ?? "")
    }

    static func hosts(_ asked: DashboardRequest) async throws -> HostsPage {
        guard let name = asked.name else { return HostsPage(version: nil, hosts: []) }
        let probes = Dictionary(
            asked.overview.probes.filter { $0.name == name.name }.map { ($0.host, $0) }
        ) { first, _ in first }
        let versions = asked.parts.lists.names[name.name]?.versions ?? [:]
        let (window, now) = (name.list.refreshInterval, asked.overview.time)
        // No more than are shown.
        let entries = name.list.domains.prefix(HostsPage.maximumHosts).map(\.entry).filter { $0.mode != .off }
        let keys = try await asked.parts.store.read { store in
            try store.deployableKeys(of: name.name, entries: entries, versions: versions, window: window, at: now)
        }
        let logged = try await Self.logged(name.name, asked)
        let rotations = Dictionary(
            asked.overview.rotations.filter { $0.name == name.name }.map { ($0.host, $0.state) }
        ) { first, _ in first }
        let hosts = name.list.domains.enumerated().map { index, domain in
            var host = Self.pins(domain, probes[domain.entry.domain.description], name.list)
            host.rotation = rotations[domain.entry.domain.description]
            (host.loggedCertificates, host.unexpected) = logged[domain.entry.domain.description] ?? (0, "")
            guard index < HostsPage.maximumHosts, domain.entry.mode != .off else { return host }
            for (place, known) in domain.entry.pins.enumerated() where host.pins.indices.contains(place) {
                host.pins[place].evaluation = keys.evaluation(of: known, in: domain.entry)
            }
            return host
        }
        return HostsPage(version: name.list.version, hosts: hosts, measured: keys.measured)
    }

    static func audit(_ asked: DashboardRequest) async throws -> AuditPage {
        let length = Int64(AuditPage.pageLength)
        let (head, oldest) = try await asked.parts.store.read { store in
            (try store.newestAuditEntry(), try store.oldestAuditNumber() ?? 1)
        }
        let newest = head?.number ?? 0
        let from =
            asked.member(AuditPage.beforeMember).flatMap { Int64($0) }.map { min(max($0, oldest), newest) } ?? newest
        let first = max(oldest, from - length + 1)
        let (entries, tokens) = try await asked.parts.store.read { store in
            (
                try store.auditEntries(from: first, limit: Int(max(0, from - first + 1))),
                try store.newestTokens(limit: AuditPage.maximumTokens)
            )
        }
        return AuditPage(
            entries: entries.reversed(), head: head, older: first > oldest ? first - 1 : nil,
            newer: from < newest ? min(newest, from + length) : nil,
            tokens: tokens.map { TokenViewModel($0, at: asked.overview.time) })
    }

    // MARK: Parts

    static func unmeasured(_ name: NameOverview) -> Unmeasured? {
        guard case .notMeasured(let why) = name.adoption.state else { return nil }
        return Unmeasured(
            what: "Adoption of \(name.name)", why: why,
            next: "It is estimated from the clients' own requests; behind a cache, from the cache's log.")
    }

    static func served(_ name: NameOverview) -> ServedList {
        ServedList(
            name: name.name, version: name.list.version, digest: name.digest, publishedAt: name.publishedAt,
            expiresAt: name.list.expiresAt, rootVersion: name.root.version, rootExpiresAt: name.root.expiresAt,
            share: name.adoption.share(of: name.list.version))
    }

    static func rate(_ rate: HostRate, _ now: Timestamp) -> HostRateViewModel {
        let start = Timestamp(secondsSince1970: (now.hour - HostRate.week + 1) * 3_600)
        let state: HostRateViewModel.State =
            rate.isAboveUsual ? .high : rate.lastHour > 2 * rate.usual && rate.lastHour >= 3 ? .raised : .usual
        return HostRateViewModel(
            host: rate.host.isEmpty ? "(lists)" : rate.host, lastHour: HostRate.whole(rate.multiplied.pinFailures),
            usual: rate.multiplied.usual,
            hours: PlotSeries(start: start, step: 3_600, values: rate.multiplied.hours),
            otherTLS: HostRate.whole(rate.multiplied.lastHour - rate.multiplied.pinFailures), state: state,
            reported: HostRate.whole(rate.pinFailures), isOfLists: rate.host.isEmpty,
            caption: ReportRate.caption(rate.multiplied.factors))
    }

    static func pins(_ domain: PinList.Domain, _ probe: StoredProbe?, _ list: PinList) -> HostPins {
        let entry = domain.entry
        let facts = probe.map { ProbeFacts($0.result) }
        let suspended = list.suspended.filter { $0.scope == .everything || $0.scope == .entry(entry.domain) }.map(
            \.until
        )
        .max()
        return HostPins(
            domain: entry.domain.description, includesSubdomains: entry.includeSubdomains,
            mode: entry.mode.rawValue, rollout: domain.rollout, expiresAt: entry.expiresAt, suspendedUntil: suspended,
            pins: entry.pins.map { known in
                let seen = facts?.path.first { $0.pin == known.pin.description }
                let service: HostPins.Pinned.Service =
                    facts == nil
                    ? .neverProbed : seen.map { .served(until: $0.end ?? probe?.at ?? list.expiresAt) } ?? .notServed
                return HostPins.Pinned(
                    pin: known.pin.description, position: known.position.rawValue, note: known.note ?? "",
                    service: service, probes: [])
            },
            probedAt: probe?.at, revoked: facts?.revoked ?? [],
            reporting: ReportRate.words(list.reportPerMillion(of: domain)))
    }
}

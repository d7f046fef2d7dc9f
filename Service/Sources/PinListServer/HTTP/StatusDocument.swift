// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import Foundation
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `GET /v1/status`: the dashboard's figures as JSON, for `tumbler status` and other programs.
struct StatusDocument: Encodable {
    /// The number of groups in the document.
    static let maximumGroups = 20

    struct Name: Encodable {
        let name: String
        let list: List
        let root: Root
        let adoption: Adoption
        /// Left out where the list asks for no attestations.
        let attestation: Attestation?
    }

    struct Attestation: Encodable {
        /// Reports of the last 30 days.
        let attested, unattested: Int64
        /// Registered keys.
        let keys: Int64
        /// The attested reports of 30 days over all of them, 0 to 1; left out without reports.
        let share: Double?
        /// Whether unattested reports alarm as attested ones do.
        let countsUnattested: Bool

        init(_ rate: AttestationRate) {
            (self.attested, self.unattested, self.keys) = (rate.attested, rate.unattested, rate.keys)
            self.share = rate.share.map { ($0 * 1e6).rounded() / 1e6 }
            self.countsUnattested = rate.countsUnattested
        }
    }

    struct List: Encodable {
        let version: Int64
        let digest, publishedAt, expiresAt: String
    }

    struct Root: Encodable {
        let version: Int64
        let expiresAt: String
    }

    struct Adoption: Encodable {
        let state: String
        let window: Int64
        let why: String?
        let base: Int64?
        let share: [String: Double]?
        let ninetyNine: String?
        let stalled: Bool
        let unverified: [Unverified]
    }

    struct Unverified: Encodable {
        let digest: String
        let count: Int64
    }

    struct Host: Encodable {
        let host: String
        let lastHour, pinFailures: Int
        let usual: Double
    }

    struct Group: Encodable {
        let id, host, reason: String
        let count: Int64
        let lastAt, cause, kind: String
        /// The issuer as the certificate names it; empty where none came along.
        let issuer: String
        /// `attested`, `unattested` or `not asked`.
        let attestation: String
    }

    struct Firing: Encodable {
        let key, kind, severity, since, detail: String
        /// The one action, and the path of the dashboard's page about the kind; left out for a kind of a later version.
        let action, runbook: String?
        /// The token of the person who has seen it, with its label and owner, and when; absent when no person said so.
        let acknowledgedBy, acknowledgedAt: String?
        /// The time until which it is silenced; left out when it is not.
        let silencedUntil: String?

        init(_ alarm: StoredAlarm, _ silences: [StoredSilence]) {
            self.key = alarm.key
            self.kind = alarm.kind
            self.severity = alarm.severity
            self.since = alarm.since.description
            self.detail = alarm.detail
            self.action = AlarmRunbook.action(alarm.kind, alarm.detail)
            self.runbook = self.action.flatMap { _ in
                Alarm.Kind(rawValue: alarm.kind).map { AlarmRunbook.path($0) }
            }
            self.acknowledgedBy = alarm.acknowledgement?.by
            self.acknowledgedAt = alarm.acknowledgement?.at.description
            self.silencedUntil = silences.covering(alarm)?.endsAt.description
        }
    }

    struct Probe: Encodable {
        let name, host: String
        let ok: Bool
        let at, detail: String
    }

    /// The use of the database's room, in bytes, about.
    struct Database: Encodable {
        /// The time of this instance's measurement.
        let at: String
        /// The limit of the configuration, and the size of all of it.
        let limit, total: Int64
        let reports: Int64
        /// Left out where counts are among the reports: on SQLite.
        let counts: Int64?
        let lists, auditLog, other: Int64

        init(_ room: StoreRoom) {
            let parts = Dictionary(uniqueKeysWithValues: room.parts.map { ($0.part, $0.bytes) })
            self.at = room.at.description
            (self.limit, self.total) = (room.limit, room.total)
            (self.reports, self.counts) = (parts[.reports] ?? 0, parts[.counts])
            (self.lists, self.auditLog, self.other) = (parts[.lists] ?? 0, parts[.auditLog] ?? 0, parts[.other] ?? 0)
        }
    }

    let time, auditHead: String
    let auditEntries: Int64
    let names: [Name]
    let hosts: [Host]
    let groups: [Group]
    let alarms: [Firing]
    let probes: [Probe]
    let sightings: [Sightings]
    /// Left out before this instance has looked, and for who sees some names alone.
    let database: Database?

    /// The document of what there is, as far as it is in a scope.
    ///
    /// - Parameters:
    ///   - overview: The overview.
    ///   - groups: The groups of reports, chosen among those of hosts in the scope.
    ///   - scope: The part that the token may see.
    ///   - room: The use of the database's room, where this instance has looked.
    init(_ overview: Overview, _ groups: [GroupSummary], in scope: StatusScope, room: StoreRoom? = nil) {
        self.database = scope.isWhole ? room.map(Database.init) : nil
        self.time = overview.time.description
        self.auditHead = overview.auditHead
        self.auditEntries = overview.auditCount
        self.names = overview.names.filter { scope.hasName($0.name) }.map { name in
            Name(
                name: name.name,
                list: List(
                    version: name.list.version, digest: name.digest, publishedAt: name.publishedAt.description,
                    expiresAt: name.list.expiresAt.description),
                root: Root(version: name.root.version, expiresAt: name.root.expiresAt.description),
                adoption: Adoption(name.adoption),
                attestation: overview.attestations[name.name].map(Attestation.init))
        }
        self.hosts = overview.hosts.filter { scope.hasHost($0.host) }.map { rate in
            Host(
                host: rate.host, lastHour: HostRate.whole(rate.lastHour),
                pinFailures: HostRate.whole(rate.pinFailures),
                usual: (rate.usual * 10).rounded() / 10)
        }
        let newestFirst = groups.sorted { ($1.seen.upperBound, $0.number) < ($0.seen.upperBound, $1.number) }
        self.groups = newestFirst.filter { scope.hasHost($0.host) }.map { group in
            Group(
                id: group.id, host: group.host, reason: group.reason, count: group.count,
                lastAt: group.seen.upperBound.description, cause: group.cause.title, kind: group.cause.kind.rawValue,
                issuer: group.issuer, attestation: group.attestation.rawValue)
        }
        self.alarms = overview.alarms.filter { scope.hasAlarm(about: Alarm.subject(of: $0.key)) }
            .map { Firing($0, overview.silences) }
        self.sightings = overview.sightings.filter { scope.hasName($0.name) }.map(Sightings.init)
        self.probes = overview.probes.filter { scope.hasName($0.name) }.map { probe in
            Probe(
                name: probe.name, host: probe.host, ok: probe.isOK && probe.miss == nil, at: probe.at.description,
                detail: probe.miss.map { "not reached at \($0.at): \($0.why)" } ?? Self.detail(ProbeFacts(probe.result))
            )
        }
    }

    /// The sightings of one list.
    struct Sightings: Encodable {
        let name: String
        /// The numbers of sightings by state; those without any are left out.
        let counts: [String: Int64]
        /// Certificates that apps would refuse, the newest first.
        let unexpected: [Unexpected]

        init(_ found: SightingOverview) {
            self.name = found.name
            self.counts = found.counts.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
            self.unexpected = found.unexpected.prefix(StatusDocument.maximumGroups).map(Unexpected.init)
        }
    }

    /// A certificate that apps would refuse.
    struct Unexpected: Encodable {
        let identity, host, key, issuer: String
        let names: [String]
        /// Left out where the monitor did not say.
        let log, loggedAt: String?
        let toldAt, toldBy, validFrom, validTo: String
        /// The time at which a probe saw its key served; left out when none did.
        let probedAt: String?
        /// The number of networks from which reports named its key, on the day with the most; left out when none did.
        let networks: Int64?

        init(_ unexpected: SightingOverview.Unexpected) {
            let sighting = unexpected.sighting
            (self.identity, self.host, self.key) = (sighting.identity, sighting.host, sighting.key)
            (self.issuer, self.names) = (sighting.issuer, Array(sighting.names.prefix(SightingViewModel.maximumNames)))
            (self.log, self.loggedAt) = (sighting.log.isEmpty ? nil : sighting.log, sighting.loggedAt?.description)
            (self.toldAt, self.toldBy) = (sighting.firstAt.description, sighting.toldBy)
            (self.validFrom, self.validTo) = (sighting.notBefore.description, sighting.notAfter.description)
            (self.probedAt, self.networks) = (sighting.servedAt?.description, unexpected.networks)
        }
    }

    private static func detail(_ facts: ProbeFacts) -> String {
        facts.trouble ?? facts.revoked.first ?? facts.missedAddresses.map { "not reached: \($0)" } ?? ""
    }

    /// The document as UTF-8.
    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}

extension StatusDocument.Adoption {
    fileprivate init(_ adoption: AdoptionEstimate) {
        var (why, base): (String?, Int64?)
        switch adoption.state {
        case .notMeasured(let reason): why = reason
        case .measured(let count): base = count
        }
        // Six digits: more would pretend to know more.
        let shares = adoption.shares.map { ("\($0.key)", ($0.value * 1e6).rounded() / 1e6) }
        self.init(
            state: base == nil ? "not-measured" : "measured", window: adoption.window, why: why, base: base,
            share: base == nil ? nil : Dictionary(uniqueKeysWithValues: shares),
            ninetyNine: adoption.everybodyAt?.description, stalled: adoption.isStalled,
            unverified: adoption.unverified.map { .init(digest: $0.digest, count: $0.count) })
    }
}

/// The part of the status that a token may see: all of it, or what is about the names that it publishes. A rotation is
/// not ended while an alarm of its host is open, so who publishes must see that; other names are none of its business.
struct StatusScope: Sendable {
    private let names: Set<String>?
    private let hosts: Set<String>
    private let foreign: Set<String>

    /// The scope of some names; `nil` for all there is.
    init(_ overview: Overview, _ names: [String]?) {
        self.names = names.map { Set($0) }
        let isOwn = { (overview: NameOverview) in names?.contains(overview.name) != false }
        let others = overview.names.filter { !isOwn($0) }
        self.hosts = overview.names.filter(isOwn).listedHosts
        self.foreign = others.listedHosts.subtracting(self.hosts).union(others.map(\.name))
    }

    /// Whether all there is is in it.
    var isWhole: Bool { self.names == nil }

    /// Whether a name is in it.
    func hasName(_ name: String) -> Bool { self.names?.contains(name) != false }

    /// Whether a host is in it: one that a list of its names has.
    func hasHost(_ host: String) -> Bool { self.names == nil || self.hosts.contains(host) }

    /// Whether an alarm is in it. One that is not known to be about another name alone is: an alarm that is left out would
    /// let a rotation go on.
    func hasAlarm(about subject: String) -> Bool { !self.foreign.contains(subject) }
}

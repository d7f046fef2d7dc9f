// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// What there is to know at a glance: for the dashboard, `tumbler status`, the metrics and the alarms, which all look at
/// the same.
public struct Overview: Sendable {
    /// When it was taken.
    public let time: Timestamp
    /// The newest digest of the audit log.
    public let auditHead: String
    /// The number of the newest entry of the audit log: how many there ever were, those that were removed included.
    public let auditCount: Int64
    /// The lists.
    public let names: [NameOverview]
    /// Names whose stored metadata does not verify, with what is wrong.
    public let broken: [String: String]
    /// How often hosts fail; the most in the last hour first.
    public let hosts: [HostRate]
    /// How many reports are attested, of the lists that ask for it.
    public let attestations: [String: AttestationRate]
    /// Which hosts attested installations report, in the last hour.
    public let attestedHosts: [String: AttestedHost]
    /// What probes found last.
    public let probes: [StoredProbe]
    /// The plans of rotations that were pushed, by list and host.
    public let rotations: [RotationOverview]
    /// The alarms that fire.
    public let alarms: [StoredAlarm]
    /// The silences that are not over.
    let silences: [StoredSilence]
    /// The targets of alarms that an instance knows, or that something waits for.
    let targets: [StoredTarget]
    /// How the last attempt to tell each target went.
    let deliveries: [String: StoredDelivery]
    /// What is remembered for days: publications that were refused, lists that prove two versions of the truth, and lists
    /// from before the first that was published here.
    let remembered: [AuditEntry]

    /// The actions of the audit log that are an alarm for a while.
    static let rememberedActions = ["publish-refused", "equivocation", "unknown-list"]
    /// For how long, in seconds: a day or a week.
    static let rememberedFor: [String: Int64] = [
        "publish-refused": 86_400, "equivocation": 604_800, "unknown-list": 604_800,
    ]

    /// Looks.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - lists: What is served.
    ///   - plans: Plans of rotations that were read before.
    ///   - asking: The lists that ask for attestations.
    ///   - now: The time.
    init(
        _ store: StoreTransaction, _ lists: [String: ServedLists.Name], _ plans: RotationPlans,
        asking: Set<String> = [], broken: [String: String], at now: Timestamp
    ) throws {
        self.time = now
        let head = try store.newestAuditEntry()
        self.auditHead = head?.digest ?? AuditEntry.origin
        self.auditCount = head?.number ?? 0
        self.broken = broken
        self.names = try lists.sorted { $0.key < $1.key }.compactMap { try Self.name($0.key, $0.value, store, now) }
        let listed = self.names.flatMap { $0.list.domains.map(\.entry.domain.description) }
        self.hosts = try store.hostRates(listed: Set(listed), at: now)
        self.attestations = try store.attestationRates(of: asking, at: now)
        self.attestedHosts = asking.isEmpty ? [:] : try store.attestedHosts(at: now)
        self.probes = try store.probes()
        self.rotations = plans.overviews(of: try store.rotations())
        self.alarms = try store.firingAlarms()
        self.silences = try store.silences(at: now)
        self.targets = try store.targets()
        self.deliveries = try store.deliveries()
        self.remembered = try store.auditEntries(of: Self.rememberedActions, since: now.before(604_800)).filter {
            now.secondsSince1970 - $0.time.secondsSince1970 <= Self.rememberedFor[$0.action] ?? 0
        }
    }

    /// Whether unattested reports of a host only warn: each list that has it asks for attestations, and gets them. Of
    /// incidents, whose host is empty, each list.
    func onlyAttestedAlarm(_ host: String) -> Bool {
        let names = self.names.filter { name in
            host.isEmpty || name.list.domains.contains { $0.entry.domain.description == host }
        }
        return !names.isEmpty && names.allSatisfy { self.attestations[$0.name].map { !$0.countsUnattested } ?? false }
    }

    /// The newest version of each list.
    var newestVersions: [String: Int64] {
        Dictionary(uniqueKeysWithValues: self.names.map { ($0.name, $0.list.version) })
    }

    private static func name(
        _ name: String, _ served: ServedLists.Name, _ store: StoreTransaction, _ now: Timestamp
    ) throws -> NameOverview? {
        guard let held = served.published.list, let root = served.published.newestRoot else { return nil }
        let published = try store.publicationTime(of: held.list.version, name: name) ?? held.list.issuedAt
        let window = held.list.refreshInterval
        let hours = max(1, (window + 3_599) / 3_600)
        let inquiries = try store.inquiries(of: name, windows: 2, of: hours, until: now.hour)
        let counts = try store.inquiryTotals(of: name, since: now.hour - HostRate.week).mapValues {
            (all: $0, pins: Int64(0))
        }
        return NameOverview(
            name: name, list: held.list, digest: held.digest, publishedAt: published, root: root,
            adoption: AdoptionEstimate.make(
                inquiries.reduce(into: [:]) { all, window in all.merge(window) { $0 + $1 } }, versions: served.versions,
                newest: (held.list.version, published), window: window, at: now),
            questions: HostRate(name, counts, hour: now.hour, part: now.partOfHour))
    }
}

extension Timestamp {
    /// How much of the hour has passed, 0 to 1.
    var partOfHour: Double { Double(self.secondsSince1970 - self.hour * 3_600) / 3_600 }

    /// So many seconds before.
    func before(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: self.secondsSince1970.subtractingReportingOverflow(seconds).partialValue)
    }
}

/// One list as it is published, and how far it has spread.
public struct NameOverview: Sendable {
    /// The name.
    public let name: String
    /// The list that is served.
    public let list: PinList
    /// Its digest.
    public let digest: String
    /// When it was published.
    public let publishedAt: Timestamp
    /// The newest root.
    public let root: Root
    /// How far it has spread.
    public let adoption: AdoptionEstimate
    /// Questions by the hour, of the last week: clients and caches together.
    public let questions: HostRate
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata
package import PinListStore
package import PinReportAnalysis

/// The overview of the service at one time: for the dashboard, `tumbler status`, the metrics and the alarms, which all
/// look at the same.
package struct Overview: Sendable {
    /// The time at which it was taken.
    package let time: Timestamp
    /// The newest digest of the audit log.
    package let auditHead: String
    /// The number of the newest entry of the audit log: how many there ever were, those that were removed included.
    package let auditCount: Int64
    /// The lists.
    package let names: [NameOverview]
    /// Names whose stored metadata does not verify, with what is wrong.
    package let broken: [String: String]
    /// The failure rates of hosts: of listed ones first, of each kind those with the most in the last hour.
    package let hosts: [HostRate]
    /// The share of attested reports, of the lists that ask for it.
    package let attestations: [String: AttestationRate]
    /// The hosts that attested installations report, in the last hour.
    package let attestedHosts: [String: AttestedHost]
    /// The last results of probes, of configured names.
    package let probes: [StoredProbe]
    /// The plans of rotations that were pushed, of configured names, by list and host.
    package let rotations: [RotationOverview]
    /// The sightings of monitors of Certificate Transparency, by list.
    package let sightings: [SightingOverview]
    /// The alarms that fire.
    package let alarms: [StoredAlarm]
    /// The silences that are not over.
    let silences: [StoredSilence]
    /// The targets of alarms that an instance knows, or that something waits for.
    let targets: [StoredTarget]
    /// The time by which instances say that they know a target.
    let targetTime: Timestamp
    /// The results of the last attempts to notify each target.
    let deliveries: [String: StoredDelivery]
    /// The entries that are remembered for days: publications that were refused, lists that prove two versions of the
    /// truth, and lists from before the first that was published here.
    let remembered: [AuditEntry]

    /// The actions of the audit log that are an alarm for a while.
    static let rememberedActions = ["publish-refused", "equivocation", "unknown-list"]
    /// The times for which entries are remembered, in seconds: a day or a week.
    static let rememberedFor: [String: Int64] = [
        "publish-refused": 86_400, "equivocation": 604_800, "unknown-list": 604_800,
    ]

    /// Takes an overview of the store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - lists: The served lists.
    ///   - plans: Plans of rotations that were read before.
    ///   - asking: The lists that ask for attestations.
    ///   - keys: The numbers of keys that are registered for them.
    ///   - now: The time.
    init(
        _ store: StoreTransaction, _ lists: [String: ServedLists.Name], _ plans: RotationPlans,
        asking: Set<String> = [], keys: [String: Int64] = [:], broken: [String: String], at now: Timestamp
    ) throws {
        self.time = now
        let head = try store.newestAuditEntry()
        self.auditHead = head?.digest ?? AuditEntry.origin
        self.auditCount = head?.number ?? 0
        self.broken = broken
        self.names = try lists.sorted { $0.key < $1.key }.compactMap { try Self.name($0.key, $0.value, store, now) }
        self.hosts = try store.hostRates(listed: self.names.listedHosts, at: now)
        var attestations = try store.attestationRates(of: asking, at: now)
        for (name, count) in keys { attestations[name]?.keys = count }
        self.attestations = attestations
        self.attestedHosts = asking.isEmpty ? [:] : try store.attestedHosts(at: now)
        // Of a name that was taken out of the configuration probes and plans stay, and nothing replaces them any more.
        let configured = Set(lists.keys).union(broken.keys)
        // A probe of a host that its list lost may come just behind the publication that removed them; nothing replaces it.
        let listed = Dictionary(uniqueKeysWithValues: self.names.map { ($0.name, [$0].listedHosts) })
        self.probes = try store.probes().filter { probe in
            configured.contains(probe.name) && listed[probe.name]?.contains(probe.host) ?? true
        }
        self.rotations = plans.overviews(of: try store.rotations().filter { configured.contains($0.name) })
        self.sightings = try self.names.map { try store.sightingOverview(of: $0.name, at: now) }
        self.alarms = try store.firingAlarms()
        self.silences = try store.silences(at: now)
        self.targets = try store.targets()
        self.targetTime = try store.sharedTime(by: now)
        self.deliveries = try store.deliveries()
        // What is dated over half a day ahead was dated by a wrong clock.
        self.remembered = try store.auditEntries(of: Self.rememberedActions, since: now.before(604_800)).filter {
            (-BelievedTime.step...(Self.rememberedFor[$0.action] ?? 0)).contains(
                now.secondsSince1970 - $0.time.secondsSince1970)
        }
    }

    /// The facts that the rules of alarms look at, but for the causes of failures.
    var alarmFacts: AlarmFacts { self.alarmFacts([:]) }

    /// The hosts of a list whose failures are far above usual, those with the most first.
    var alarmingHosts: [String] {
        let listed = self.names.listedHosts
        return self.hosts.filter { rate in
            listed.contains(rate.host) && (rate.isAboveUsual || self.attestedHosts[rate.host]?.isAlarming == true)
        }.map(\.host)
    }

    /// The causes of most failures of ``alarmingHosts``: where attested installations alarm, of what these reported.
    func leadingCauses(in store: StoreTransaction) throws -> [String: LeadingCause] {
        try store.leadingCauses(
            of: self.alarmingHosts, attested: Set(self.attestedHosts.filter(\.value.isAlarming).keys),
            newest: self.newestVersions, at: self.time)
    }

    /// The facts that the rules of alarms look at.
    ///
    /// - Parameter causes: The causes of most failures of ``alarmingHosts``.
    func alarmFacts(_ causes: [String: LeadingCause]) -> AlarmFacts {
        AlarmFacts(
            at: self.time, names: self.names, broken: self.broken, hosts: self.hosts, probes: self.probes,
            rotations: self.rotations, sightings: self.sightings, attestations: self.attestations,
            attestedHosts: self.attestedHosts, leadingCauses: causes,
            remembered: self.remembered.map {
                AlarmFacts.Remembered(number: $0.number, action: $0.action, detail: $0.detail)
            })
    }

    /// The newest version of each list.
    var newestVersions: [String: Int64] {
        Dictionary(uniqueKeysWithValues: self.names.map { ($0.name, $0.list.version) })
    }

    private static func name(
        _ name: String, _ served: ServedLists.Name, _ store: StoreTransaction, _ now: Timestamp
    ) throws -> NameOverview? {
        guard let held = served.published.list, let root = served.published.newestRoot else { return nil }
        // A time that is over half a day ahead is one of a wrong clock: until then the list would count as new.
        let stored = try store.publicationTime(of: held.list.version, name: name)
        let published = stored.flatMap { $0 > now.before(-BelievedTime.step) ? nil : $0 } ?? held.list.issuedAt
        let window = held.list.refreshInterval
        let hours = max(1, (window + 3_599) / 3_600)
        let listRequests = try store.listRequests(of: name, windows: 2, of: hours, until: now.hour)
        let counts = try store.inquiryTotals(of: name, since: now.hour - HostRate.week).mapValues {
            (all: $0, pins: Int64(0))
        }
        return NameOverview(
            name: name, list: held.list, digest: held.digest, publishedAt: published, root: root,
            adoption: AdoptionEstimate.make(
                listRequests.reduce(into: [:]) { all, window in all.merge(window) { $0 + $1 } },
                versions: served.versions,
                newest: (held.list.version, published), window: window, at: now),
            questions: HostRate(name, counts, hour: now.hour, part: now.partOfHour))
    }
}

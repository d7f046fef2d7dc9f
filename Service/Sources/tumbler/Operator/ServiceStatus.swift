// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The status of a service, `GET /v1/status`. Read tolerantly: a member that is missing or of another type is unknown,
/// an element of a list that cannot be read is left out, and the rest counts all the same. Only an answer without names
/// and alarms is none.
struct ServiceStatus: Decodable, Sendable {
    /// The time at which it was made, RFC 3339.
    var time: String?
    /// The digest of the newest entry of the audit log.
    var auditHead: String?
    /// The number of entries of the audit log.
    var auditEntries: Int?
    /// The lists.
    var names: [PublishedNameStatus]
    /// The hosts of the reports.
    var hosts: [HostStatus]
    /// The groups of failures.
    var groups: [GroupStatus]
    /// The alarms, which need an action.
    var alarms: [AlarmStatus]
    /// The results of the last probe.
    var probes: [ProbeStatus]
    /// The sightings of monitors in logs.
    var sightings: [SightingStatus]

    private enum CodingKeys: CodingKey {
        case time, auditHead, auditEntries, names, hosts, groups, alarms, probes, sightings
    }

    /// Reads it.
    ///
    /// - Throws: `DecodingError` when there are no names, no alarms, or an alarm that cannot be read: it might be the
    ///   one that counts.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.time = container.lenient(.time)
        self.auditHead = container.lenient(.auditHead)
        self.auditEntries = container.lenient(.auditEntries)
        self.names = container.lenientList(.names)
        self.hosts = container.lenientList(.hosts)
        self.groups = container.lenientList(.groups)
        self.alarms = try container.decode([AlarmStatus].self, forKey: .alarms)
        self.probes = container.lenientList(.probes)
        self.sightings = container.lenientList(.sightings)
        _ = try container.nestedUnkeyedContainer(forKey: .names)
    }

    /// Failures at one host.
    struct HostStatus: Decodable, Sendable {
        /// The host.
        var host: String
        /// Failures in the last hour.
        var lastHour: Int?
        /// The usual number for an hour.
        var usual: Double?
        /// The list.
        var list: String?
    }

    /// Failures that are alike.
    struct GroupStatus: Decodable, Sendable {
        /// The host.
        var host: String
        /// The reason, by its code.
        var reason: String?
        /// The number of reports.
        var count: Int?
        /// The likely cause, in words.
        var cause: String?
        /// The issuer that was seen, as the certificate says.
        var issuer: String?
    }

    /// An alarm, which needs an action. Every member may be missing: that there is an alarm is what counts.
    struct AlarmStatus: Decodable, Sendable {
        /// The kind and the subject: `failure-rate:api.example.com`.
        var key: String?
        /// The kind.
        var kind: String?
        /// The severity.
        var severity: String?
        /// The time since which it fires.
        var since: String?
        /// The problem, in a sentence.
        var detail: String?
        /// The one action.
        var action: String?
        /// The path of the dashboard's page about it.
        var runbook: String?

        private enum CodingKeys: CodingKey { case key, kind, severity, since, detail, action, runbook }

        /// The place of its severity among those that are known; an unknown one counts as the most urgent.
        var urgency: Int {
            ServiceAlarms.severities.firstIndex { $0 == self.severity } ?? ServiceAlarms.severities.count
        }

        /// Reads it.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.key = container.lenient(.key)
            self.kind = container.lenient(.kind)
            self.severity = container.lenient(.severity)
            self.since = container.lenient(.since)
            self.detail = container.lenient(.detail)
            self.action = container.lenient(.action)
            self.runbook = container.lenient(.runbook)
        }
    }

    /// The sightings of monitors in logs, of one list.
    struct SightingStatus: Decodable, Sendable {
        /// The list.
        var name: String
        /// The numbers of certificates, by state.
        var counts: [String: Int64]
        /// The certificates that apps would refuse.
        var unexpected: [UnexpectedStatus]?
    }

    /// A certificate that apps would refuse.
    struct UnexpectedStatus: Decodable, Sendable {
        /// The entry's domain.
        var host: String
        /// The pin of its key.
        var key: String
        /// The issuer's name.
        var issuer: String?
        /// The time at which it was logged, or handed in.
        var loggedAt: String?
        var toldAt: String?
        /// The time at which a probe saw it served.
        var probedAt: String?
    }

    /// The result of a probe at a host.
    struct ProbeStatus: Decodable, Sendable {
        /// The host.
        var host: String
        /// Whether all was well.
        var ok: Bool?
        /// The result in words.
        var detail: String?
        /// The time.
        var at: String?
    }
}

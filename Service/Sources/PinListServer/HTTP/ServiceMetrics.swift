// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `GET /metrics`. Labels are names of lists, hosts of lists and bounded codes: never what a sender of reports chose.
enum ServiceMetrics {
    /// The text.
    ///
    /// - Parameter room: The use of the database's room, where this instance has looked.
    static func text(
        _ overview: Overview, _ counters: ReportCounters.Numbers, _ written: (Int64, Int64), _ room: StoreRoom?
    ) -> String {
        var text = MetricsText()
        Self.addLists(overview, &text)
        Self.addReports(overview, counters, written, &text)
        Self.addAlarms(overview, &text)
        text.add(
            "tumbler_probe_ok", "gauge", "Whether the last probe that reached a host found all well.",
            overview.probes.filter { !ProbeFacts($0.result).isUnreached }
                .map { ([("name", $0.name), ("host", $0.host)], $0.isOK ? 1 : 0) })
        text.add(
            "tumbler_probe_reached", "gauge", "Whether the last probe reached a host.",
            overview.probes.map { ([("name", $0.name), ("host", $0.host)], $0.miss == nil ? 1 : 0) })
        text.add(
            "tumbler_probe_time_seconds", "gauge", "When a host was probed last, reached or not.",
            overview.probes.map { probe in
                ([("name", probe.name), ("host", probe.host)], Double(probe.lastAttempt.secondsSince1970))
            })
        text.add(
            "tumbler_probe_certificate_expiry_seconds", "gauge", "When the first certificate that a host serves ends.",
            overview.probes.compactMap { probe in
                ProbeFacts(probe.result).firstEnd.map {
                    ([("name", probe.name), ("host", probe.host)], Double($0.secondsSince1970))
                }
            })
        text.add(
            "tumbler_sightings", "gauge",
            "Certificates that monitors found in logs, by state; unlisted ones are counted and not kept.",
            overview.sightings.flatMap { found in
                SightingState.allCases.map { state in
                    ([("name", found.name), ("state", state.rawValue)], Double(found.counts[state] ?? 0))
                }
            })
        text.add(
            "tumbler_audit_entries", "gauge", "Entries of the audit log, with the digest of the newest.",
            [([("head", overview.auditHead)], Double(overview.auditCount))])
        if let room {
            text.add(
                "tumbler_database_bytes", "gauge", "The approximate size of a table at the last run of retention.",
                room.sizes.sorted { $0.key < $1.key }.map { table, bytes in
                    ([("table", table), ("part", StoreRoom.Part(of: table).rawValue)], Double(bytes))
                })
            text.add(
                "tumbler_database_limit_bytes", "gauge", "What retention.megabytes gives the database.",
                [([], Double(room.limit))])
        }
        return text.text
    }

    private static func addLists(_ overview: Overview, _ text: inout MetricsText) {
        func gauge(_ name: String, _ help: String, _ value: (NameOverview) -> Double?) {
            text.add(
                name, "gauge", help,
                overview.names.compactMap { overview in value(overview).map { ([("name", overview.name)], $0) } })
        }
        gauge("tumbler_list_version", "The version of the list that is served.") { Double($0.list.version) }
        gauge("tumbler_list_expiry_seconds", "When the list that is served expires.") {
            Double($0.list.expiresAt.secondsSince1970)
        }
        gauge("tumbler_root_expiry_seconds", "When the newest root expires.") {
            Double($0.root.expiresAt.secondsSince1970)
        }
        gauge("tumbler_adoption_ratio", "Estimated share of active installations with the list that is served.") {
            $0.adoption.share(of: $0.list.version)
        }
        gauge("tumbler_adoption_base", "Requests of the last window that the estimate is made from.") {
            if case .measured(let base) = $0.adoption.state { Double(base) } else { nil }
        }
        gauge("tumbler_list_requests_last_hour", "Requests for the list in the last sixty minutes.") {
            $0.questions.lastHour
        }
    }

    private static func addAlarms(_ overview: Overview, _ text: inout MetricsText) {
        func count(_ alarms: [StoredAlarm]) -> [(labels: [(String, String)], value: Double)] {
            Alarm.Kind.allCases.flatMap { kind in
                Alarm.Severity.allCases.map { severity -> (labels: [(String, String)], value: Double) in
                    let count = alarms.count { $0.kind == kind.rawValue && $0.severity == severity.rawValue }
                    return ([("kind", kind.rawValue), ("severity", severity.rawValue)], Double(count))
                }
            }
        }
        let silent = overview.alarms.filter { overview.silences.covering($0) != nil }
        text.add(
            "tumbler_alarms", "gauge", "Alarms that fire and are not silenced.",
            count(overview.alarms.filter { overview.silences.covering($0) == nil }))
        text.add("tumbler_alarms_silenced", "gauge", "Alarms that fire and are silenced.", count(silent))
        text.add(
            "tumbler_notifications_waiting", "gauge",
            "Notifications that wait for a target, and whether an instance knows it.",
            overview.targets.map { target in
                (
                    [("target", target.name), ("known", "\(target.isKnown(at: overview.targetTime))")],
                    Double(target.waiting)
                )
            })
        text.add(
            "tumbler_notifications_lost_total", "counter", "Notifications that were given up after a day.",
            overview.deliveries.sorted { $0.key < $1.key }.map { ([("target", $0.key)], Double($0.value.lost)) })
    }

    private static func addReports(
        _ overview: Overview, _ counters: ReportCounters.Numbers, _ written: (Int64, Int64), _ text: inout MetricsText
    ) {
        text.add(
            "tumbler_reports_accepted_total", "counter", "Reports that this instance stored, by kind.",
            CollectedReport.Kind.allCases.map { kind in
                ([("kind", kind.rawValue)], Double(counters.accepted[kind.rawValue] ?? 0))
            })
        text.add(
            "tumbler_reports_attestation_total", "counter", "Reports that this instance stored, by attestation.",
            AttestationState.allCases.map { ([("state", $0.rawValue)], Double(counters.states[$0] ?? 0)) })
        let attestations = overview.attestations.sorted { $0.key < $1.key }
        text.add(
            "tumbler_attested_keys", "gauge", "Keys of installations that are registered for a list.",
            attestations.map { ([("name", $0.key)], Double($0.value.keys)) })
        text.add(
            "tumbler_attested_ratio", "gauge", "Attested reports of 30 days over all reports of 30 days.",
            attestations.compactMap { name, rate in rate.share.map { ([("name", name)], $0) } })
        text.add(
            "tumbler_unattested_counted", "gauge",
            "Whether unattested reports count as attested ones: too few are attested, or fewer than usual.",
            attestations.map { ([("name", $0.key)], $0.value.countsUnattested ? 1 : 0) })
        text.add(
            "tumbler_reports_refused_total", "counter", "Reports that this instance refused, by reason.",
            counters.refused.sorted { $0.key < $1.key }.map { ([("reason", $0.key)], Double($0.value)) })
        text.add(
            "tumbler_incidents_unexamined_total", "counter",
            "Incidents whose envelope this instance could not look at.",
            [([], Double(counters.unexamined))])
        text.add(
            "tumbler_report_commits_total", "counter", "Transactions that reports were stored in.",
            [([], Double(written.0))])
        // Hosts of reports are what senders say; those of the lists are ours.
        let pinned = overview.names.listedHosts
        text.add(
            "tumbler_failures_last_hour", "gauge", "Failures of a listed host in the last sixty minutes.",
            overview.hosts.filter { pinned.contains($0.host) }.map { ([("host", $0.host)], $0.lastHour) })
        text.add(
            "tumbler_pin_failures_last_hour", "gauge", "Pin failures of a listed host in the last sixty minutes.",
            overview.hosts.filter { pinned.contains($0.host) }.map { ([("host", $0.host)], $0.pinFailures) })
        text.add(
            "tumbler_failures_usual", "gauge", "Failures of a listed host in a usual hour.",
            overview.hosts.filter { pinned.contains($0.host) }.map { ([("host", $0.host)], $0.usual) })
    }
}

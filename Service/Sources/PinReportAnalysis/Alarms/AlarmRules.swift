// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// The rules of alarms: derives the alarms that fire from facts. Pure: what there is to see in, alarms out.
package enum AlarmRules {
    /// A time that is left, in days, and how urgent it is then.
    package typealias Steps = [(days: Int64, severity: Alarm.Severity)]

    /// The steps of warning before a list expires.
    package static let list: Steps = [(2, .critical), (7, .warning), (14, .notice)]
    /// The steps of warning before a root expires: people with keys in safes have to meet.
    package static let root: Steps = [(14, .critical), (60, .warning), (180, .notice)]
    /// The steps of warning before a certificate or the pins of a domain expire.
    package static let certificate: Steps = [(3, .critical), (14, .warning), (30, .notice)]

    /// The time after which a host that was probed before counts as no longer probed, in seconds: three days, for a job that
    /// runs daily.
    package static let missingProbe: Int64 = 259_200

    /// The alarms of what there is to see.
    package static func alarms(_ known: AlarmFacts) -> [Alarm] {
        known.names.flatMap { Self.alarms($0, known.time) } + Self.rates(known) + Self.probes(known)
            + Self.rotations(known) + Self.sightings(known) + Self.remembered(known)
            + known.broken.sorted { $0.key < $1.key }.map {
                Alarm(.notVerified, .critical, $0.key, $0.value)
            }
    }

    private static func alarms(_ name: NameOverview, _ now: Timestamp) -> [Alarm] {
        var alarms: [Alarm] = []
        let version = name.list.version
        if let severity = Self.severity(Self.list, until: name.list.expiresAt, now) {
            alarms.append(
                Alarm(
                    .listExpiry, severity, name.name,
                    "version \(version) \(Self.ends(name.list.expiresAt, now))"))
        }
        if let severity = Self.severity(Self.root, until: name.root.expiresAt, now) {
            alarms.append(
                Alarm(
                    .rootExpiry, severity, name.name,
                    "version \(name.root.version) \(Self.ends(name.root.expiresAt, now))"))
        }
        for domain in name.list.domains {
            guard let end = domain.entry.expiresAt, let severity = Self.severity(Self.certificate, until: end, now)
            else { continue }
            alarms.append(
                Alarm(
                    .pinExpiry, severity, domain.entry.domain.description,
                    "its entry in \(name.name) \(Self.ends(end, now))", key: name.name))
        }
        if name.adoption.isStalled, let share = name.adoption.share(of: version) {
            alarms.append(
                Alarm(
                    .adoptionStalled, .warning, name.name,
                    "version \(version) is held by \(Self.percent(share)) of active installations (estimated)"))
        }
        if name.questions.isSilent {
            alarms.append(
                Alarm(
                    .silence, .warning, name.name,
                    "no client has asked for the list for \(name.questions.silentHours) hours; "
                        + "the usual number is \(Self.number(name.questions.usual)) requests an hour",
                    key: "questions"))
        }
        return alarms
    }

    private static func rates(_ known: AlarmFacts) -> [Alarm] {
        let listed = known.names.listedHosts
        let isOurs = { (rate: HostRate) in rate.host.isEmpty || listed.contains(rate.host) }
        let others = HostRate(HostRate.otherHosts, adding: known.hosts.filter { !isOurs($0) })
        return (known.hosts.filter(isOurs) + [others]).flatMap { rate -> [Alarm] in
            // Any sender can report a host that does not exist: those of no list are one subject, and never urgent.
            let isOther = rate.host == HostRate.otherHosts
            let subject = rate.host.isEmpty ? "lists" : isOther ? "hosts of no list" : rate.host
            let lead = isOther ? nil : known.leadingCauses[rate.host]
            if !isOther, let attested = known.attestedHosts[rate.host], attested.isAlarming {
                return [
                    Alarm(
                        .failureRate, .critical, subject,
                        (lead.map { AlarmSentence.since($0.since, at: known.time) + "; " } ?? "")
                            + "\(attested.keys) attested installations in \(attested.networks) networks reported "
                            + "failures in the last hour", opening: Self.opening(of: lead, rate),
                        count: Double(attested.keys))
                ]
            }
            if rate.isAboveUsual {
                let onlyWarns = known.onlyAttestedAlarm(rate.host)
                return [
                    Alarm(
                        .failureRate,
                        rate.pinFailures >= HostRate.minimumAlarming && !isOther && !onlyWarns
                            ? .critical : .warning, subject,
                        (lead.map { $0.facts(at: known.time) + "; " } ?? "")
                            + "\(Self.number(rate.lastHour)) failures in the last hour, "
                            + "\(Self.number(rate.pinFailures)) of them pin failures; "
                            + "the usual number is \(Self.number(rate.usual))"
                            + (onlyWarns ? "; too few of them are attested to be urgent" : ""),
                        opening: Self.opening(of: lead, rate), count: rate.lastHour)
                ]
            }
            guard rate.isSilent, !isOther else { return [] }
            return [
                Alarm(
                    .silence, .warning, subject,
                    "no report for \(rate.silentHours) hours; the usual number is \(Self.number(rate.usual)) an hour",
                    key: "reports")
            ]
        }
    }

    /// The beginning of the sentence on a rate; `nil` where nothing is known of its cause. Reports of no host are all
    /// of lists and roots.
    private static func opening(of lead: LeadingCause?, _ rate: HostRate) -> String? {
        rate.host.isEmpty ? LikelyCause.Kind.refusedList.opening : lead?.kind.opening
    }

    private static func probes(_ known: AlarmFacts) -> [Alarm] {
        known.probes.flatMap { probe -> [Alarm] in
            let facts = ProbeFacts(probe.result)
            var alarms: [Alarm] = []
            if let miss = probe.miss {
                let last = facts.isUnreached ? "no probe has reached it yet" : "the last that did was at \(probe.at)"
                // The network of the probe may be at fault: a host that it does not reach locks no client out.
                alarms.append(
                    Alarm(
                        .probeUnreached, .notice, probe.host,
                        "at \(miss.at): \(miss.why); \(last)", key: probe.name))
            } else if let missed = facts.missedAddresses {
                alarms.append(
                    Alarm(
                        .probeUnreached, .notice, probe.host, "at \(probe.at): \(missed)",
                        key: probe.name))
            }
            if known.time.secondsSince1970 - probe.lastAttempt.secondsSince1970 > Self.missingProbe {
                alarms.append(
                    Alarm(.probeMissing, .notice, probe.host, "the last was at \(probe.lastAttempt)", key: probe.name))
            }
            if !facts.revoked.isEmpty {
                // Someone else may have its key; browsers refuse it, and apps once a list with it is out.
                alarms.append(
                    Alarm(
                        .revokedCertificate, .critical, probe.host,
                        "seen at \(probe.at): \(facts.revoked.joined(separator: "; "))", key: probe.name))
            }
            if !probe.isOK, !facts.isUnreached, let trouble = facts.trouble {
                // The sentence opens with that already.
                let refused = "apps refuse it: "
                let facts = trouble.hasPrefix(refused) ? String(trouble.dropFirst(refused.count)) : trouble
                alarms.append(Alarm(.probeFailed, .critical, probe.host, facts, key: probe.name))
            }
            if let end = facts.firstEnd, let severity = Self.severity(Self.certificate, until: end, known.time) {
                alarms.append(
                    Alarm(
                        .certificateExpiry, severity, probe.host,
                        Self.ends(end, known.time), key: probe.name))
            }
            return alarms
        }
    }

    private static func remembered(_ known: AlarmFacts) -> [Alarm] {
        let isProof = { (entry: AlarmFacts.Remembered) in entry.action == "equivocation" }
        // A job that tries again and again is one thing to look at.
        return known.remembered.filter { !isProof($0) }.map { entry in
            Alarm(
                entry.action == "unknown-list" ? .unknownList : .publishRefused,
                entry.action == "unknown-list" ? .notice : .warning, Self.subject(of: entry.detail),
                Self.facts(of: entry.detail))
        } + Self.equivocations(known.remembered.filter(isProof))
    }

    /// One alarm for each name and version: that of the first payload, with the number of others.
    private static func equivocations(_ proofs: [AlarmFacts.Remembered]) -> [Alarm] {
        let versions = Dictionary(grouping: proofs) { proof in
            [Self.subject(of: proof.detail), EquivocationCheck.version(ofDetail: proof.detail) ?? "\(proof.number)"]
        }
        return versions.map { (place: $0, proofs: $1.sorted { $0.number < $1.number }) }
            .sorted { ($0.proofs.first?.number ?? 0) < ($1.proofs.first?.number ?? 0) }
            .map { place, proofs in
                let others = proofs.count - 1
                let more = others == 0 ? "" : ", and \(others) other \(others == 1 ? "payload" : "payloads") of it"
                return Alarm(
                    .equivocation, .critical, place[0], Self.facts(of: proofs[0].detail) + more,
                    count: Double(proofs.count), key: place[1])
            }
    }

    /// The name that an entry begins with.
    private static func subject(of detail: String) -> String { String(detail.prefix { $0 != ":" }) }

    /// The words of an entry on the list that it begins with.
    private static func facts(of detail: String) -> String {
        let rest = detail.drop { $0 != ":" }.dropFirst()
        return String(rest.first == " " ? rest.dropFirst() : rest)
    }

    package static func severity(_ steps: Steps, until end: Timestamp, _ now: Timestamp) -> Alarm.Severity? {
        let left = end.secondsSince1970 - now.secondsSince1970
        return steps.first { left <= $0.days * 86_400 }?.severity
    }

    package static func ends(_ end: Timestamp, _ now: Timestamp) -> String {
        let left = end.secondsSince1970 - now.secondsSince1970
        guard left > 0 else { return "expired on \(end)" }
        let (days, hours) = (left / 86_400, left / 3_600)
        return days >= 2 ? "expires in \(days) days, on \(end)" : "expires in \(hours) hours, on \(end)"
    }

    package static func percent(_ share: Double) -> String { "\(Self.number(share * 100)) %" }

    /// A number with one decimal where that says something.
    package static func number(_ value: Double) -> String {
        guard let tenths = Int64(exactly: (min(max(value, 0), 9e15) * 10).rounded()) else { return "?" }
        return value >= 100 || tenths % 10 == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

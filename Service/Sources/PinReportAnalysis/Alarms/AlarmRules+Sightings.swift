// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// Certificates of pinned hosts whose key apps refuse: a deployment is about to lock clients out, or a stranger got a
/// certificate.
extension AlarmRules {
    package static func sightings(_ known: AlarmFacts) -> [Alarm] {
        known.sightings.flatMap { found -> [Alarm] in
            let list = known.names.first { $0.name == found.name }?.list
            let alarms = found.unexpected.compactMap { unexpected -> Alarm? in
                let sighting = unexpected.sighting
                let severity: Alarm.Severity = unexpected.isServed ? .critical : .warning
                let seen = sighting.acknowledgement.map { Alarm.Severity.known($0.severity) }
                // A person who has seen a warning has not seen that it became critical.
                if let seen, seen >= severity { return nil }
                let entry = list?.domains.first { $0.entry.domain.description == sighting.host }?.entry
                if let end = entry?.expiresAt, end <= known.time { return nil }
                return Alarm(
                    .unexpectedCertificate, severity, sighting.host,
                    Self.detail(unexpected, version: list?.version, known.time),
                    key: "\(found.name):\(sighting.identity)")
            }
            guard found.hasMore else { return alarms }
            return alarms + [
                Alarm(
                    .unexpectedCertificate, .warning, found.name,
                    "over \(SightingOverview.maximum) of them; the page Certificates has the newest")
            ]
        }
    }

    private static func detail(
        _ unexpected: SightingOverview.Unexpected, version: Int64?, _ now: Timestamp
    ) -> String {
        let sighting = unexpected.sighting
        let names = sighting.names.prefix(3).joined(separator: ", ")
        let more = sighting.names.count > 3 ? " and \(sighting.names.count - 3) more" : ""
        let when =
            sighting.loggedAt.map { "was logged at \($0)" } ?? "was found in a log, as handed in at \(sighting.firstAt)"
        let key = "its key \(sighting.key) is not in list \(version.map { "\($0)" } ?? "")"
        let served: String
        if let time = sighting.servedAt {
            served = "a probe saw this key served at \(time)"
        } else if unexpected.isAttested {
            served = "an attested report names this key"
        } else if let networks = unexpected.networks {
            served =
                networks > 0
                ? "reports from \(networks) networks on one day name this key" : "reports name this key"
        } else {
            served = "nothing saw it served yet"
        }
        return PrintableText.line(
            "a certificate for \(names)\(more), issued by \(sighting.issuer), \(when): \(key), so apps refuse it; \(served)",
            maximumLength: 1_024)
    }

    /// The list and the identity of the certificate that an alarm is about; `nil` for another alarm.
    package static func sighting(of key: String) -> (name: String, identity: String)? {
        let parts = key.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0] == Alarm.Kind.unexpectedCertificate.rawValue else { return nil }
        return (String(parts[parts.count - 2]), String(parts[parts.count - 1]))
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import PinListStore
internal import PinReportAnalysis

/// The page of certificates, and what other pages say of them.
extension DashboardPages {
    static func certificates(_ asked: DashboardRequest) async throws -> CertificatesPage {
        let host = asked.member(CertificatesPage.hostMember)
        guard let name = asked.name?.name else { return CertificatesPage(hosts: [], counts: [:], isFiltered: false) }
        let counts = asked.overview.sightings.first { $0.name == name }?.counts ?? [:]
        let found = try await asked.parts.store.read { store in
            // PostgreSQL takes no zero in a text.
            let sightings = try store.sightings(
                of: name, host: host.map { $0.utf8.contains(0) ? "" : $0 }, limit: CertificatesPage.maximumCertificates)
            var networks: [String: Int64] = [:]
            for key in Set(sightings.map(\.key)) { networks[key] = try store.reportingNetworks(of: key) }
            return sightings.map { ($0, networks[$0.key]) }
        }
        let hosts = Dictionary(grouping: found) { $0.0.host }
        return CertificatesPage(
            hosts: hosts.sorted { $0.key < $1.key }.map { domain, found in
                .init(domain: domain, certificates: found.map { Self.shown($0.0, networks: $0.1) })
            },
            counts: counts, isFiltered: host != nil)
    }

    private static func shown(_ sighting: StoredSighting, networks: Int64?) -> SightingViewModel {
        SightingViewModel(
            names: sighting.names, issuer: sighting.issuer, key: sighting.key, log: sighting.log,
            loggedAt: sighting.loggedAt, toldAt: sighting.firstAt, toldBy: sighting.toldBy,
            notBefore: sighting.notBefore, notAfter: sighting.notAfter, state: sighting.state,
            isEnforced: sighting.isEnforced, isPrecertificate: sighting.isPrecertificate,
            probedAt: sighting.servedAt, networks: networks, acknowledgedBy: sighting.acknowledgement?.by)
    }

    /// For each entry how many certificates logs have, and what they say of the newest that apps would refuse.
    static func logged(_ name: String, _ asked: DashboardRequest) async throws -> [String: (Int, String)] {
        let counts = try await asked.parts.store.read { try $0.sightingCountsByHost(of: name) }
        let unexpected = asked.overview.sightings.first { $0.name == name }?.unexpected ?? []
        let newest = Dictionary(unexpected.map { ($0.sighting.host, $0.sighting) }) { first, _ in first }
        return counts.reduce(into: [:]) { logged, count in
            let sentence = newest[count.key].flatMap { Self.sentence(of: $0, at: asked.overview.time) } ?? ""
            logged[count.key] = (Int(clamping: count.value), sentence)
        }
    }

    /// Explains from logs a key that failures name: "this key was logged nine days ago, and is not in the list".
    static func explanation(of key: String, in name: String, _ store: StoreTransaction, at now: Timestamp) throws
        -> String?
    {
        try store.sightings(of: name, key: key).min { $0.since < $1.since }.flatMap { Self.sentence(of: $0, at: now) }
    }

    private static func sentence(of sighting: StoredSighting, at now: Timestamp) -> String? {
        let when = TimeText.words(from: now, to: sighting.since)
        let what = sighting.loggedAt == nil ? "A monitor reported this key" : "This key was logged"
        let issuer = "in a certificate of \(sighting.issuer)"
        return switch sighting.state {
        case .unknown: "\(what) \(when), \(issuer), and it is not in the list that is served."
        case .denied: "\(what) \(when), \(issuer), and it is denied."
        case .issuer: "\(what) \(when), \(issuer). The list has its issuer and not the key."
        case .pinned, .backup: "\(what) \(when), \(issuer). It is in the list that is served."
        case .unlisted: nil
        }
    }
}

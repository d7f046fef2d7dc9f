// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings

/// The certificates that monitors found in logs, by host.
struct CertificatesPage: DashboardPage {
    static let template = DashboardTemplate.certificates
    static let section: DashboardSection? = .certificates

    /// The certificates of an entry.
    struct Host: Hashable, Sendable {
        /// The entry's domain.
        var domain: String
        /// Its certificates, the newest first.
        var certificates: [SightingViewModel]
    }

    /// The hosts.
    var hosts: [Host]
    /// The number of certificates, by their state.
    var counts: [SightingState: Int64]
    /// Whether one host alone is shown.
    var isFiltered: Bool

    /// The maximum number of certificates that are shown: `GET …/sightings` has them all.
    static let maximumCertificates = 300
    /// The member of an address that names a host.
    static let hostMember = "host"

    /// The address of the certificates of a host.
    static func link(to host: String, in frame: PageFrame) -> String {
        frame.link(DashboardSection.certificates.path, [(name: Self.hostMember, value: host)])
    }

    /// The title of the window.
    var title: String { "Certificates" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let shown = self.hosts.reduce(0) { $0 + $1.certificates.count }
        let kept = Int(clamping: self.counts.filter { $0.key != .unlisted }.values.reduce(0, +))
        return View([
            "hosts": .views(
                self.hosts.enumerated().map { number, host in
                    View([
                        "id": "sightings-\(number)", "domain": .markup(VisibleText.line(host.domain, limit: 253)),
                        "plain": "\(VisibleText.plain(host.domain, limit: 253))",
                        "certificates": .views(host.certificates.map { $0.view(in: frame) }),
                    ])
                }),
            "steps": .markup(FirstSteps.certificate.markup), "hasHosts": .flag(!self.hosts.isEmpty),
            "states": .views(
                SightingState.allCases.compactMap { state in
                    guard let count = self.counts[state], count > 0 else { return nil }
                    return View([
                        "count": "\(NumberText.count(Int(clamping: count)))", "state": "\(state.rawValue)",
                        "meaning": "\(SightingViewModel.words(state))",
                    ])
                }),
            "all": self.isFiltered ? "\(frame.link(DashboardSection.certificates.path))" : "",
            "more": !self.isFiltered && kept > shown
                ? "\(NumberText.count(kept - shown)) older ones are not shown; the page of one host has more." : "",
        ])
    }
}

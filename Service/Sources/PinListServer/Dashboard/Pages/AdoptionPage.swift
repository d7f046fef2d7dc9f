// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The page of the newest list's spread: an estimate, shown with what it rests on.
struct AdoptionPage: DashboardPage {
    static let template = DashboardTemplate.adoption
    static let section: DashboardSection? = .adoption

    /// Whether it is measured.
    enum Measurement: Sendable {
        /// Adoption is measured.
        case measured(AdoptionViewModel)
        /// Adoption is not measured: why, and what to do.
        case notMeasured(Unmeasured)
    }

    /// Whether it is measured.
    var measurement: Measurement
    /// Digests that clients named and that were never published, those with the highest counts first.
    var unverified: [UnverifiedDigest]

    /// The title of the window.
    var title: String { "Adoption" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        var estimate: View?
        var missing: View?
        switch self.measurement {
        case .measured(let measured): estimate = measured.view(in: frame)
        case .notMeasured(let unmeasured): missing = unmeasured.view
        }
        return View([
            "estimate": .view(estimate), "missing": .view(missing),
            "unverified": .views(
                self.unverified.map { each in
                    View([
                        "digest": .markup(DigestText.short(each.digest)), "count": "\(NumberText.count(each.requests))",
                        "seen": .markup(frame.times.full(each.lastSeen)),
                    ])
                }),
            "hasUnverified": .flag(!self.unverified.isEmpty),
            "listsHref": "\(frame.link(DashboardSection.lists.path))",
        ])
    }
}

/// A digest that clients named in `If-None-Match` and that was never published.
struct UnverifiedDigest: Hashable, Sendable {
    /// The digest that clients named.
    var digest: String
    /// The number of requests.
    var requests: Int
    /// The time of the last request.
    var lastSeen: Timestamp
}

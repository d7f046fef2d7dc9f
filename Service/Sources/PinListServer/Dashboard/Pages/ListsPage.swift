// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// What was published, and what changed each time.
struct ListsPage: DashboardPage {
    static let template = DashboardTemplate.lists
    static let section: DashboardSection? = .lists

    /// One publication.
    struct Publication: Hashable, Sendable {
        /// `list` or `root`.
        var what: String
        /// Its version.
        var version: Int64
        /// The hex SHA-256 of its envelope.
        var digest: String
        /// When it was published.
        var publishedAt: Timestamp
        /// By whom: the id of a token with its name, or `cli`.
        var publishedBy: String
        /// When it was issued; `nil` when it cannot be read.
        var issuedAt: Timestamp?
        /// When it expires.
        var expiresAt: Timestamp?
        /// Whether it is what clients are given now.
        var isServed: Bool
        /// What is different from the one before.
        var changes: [Change]
    }

    /// One line of a difference.
    struct Change: Hashable, Sendable {
        /// What kind.
        enum Kind: String, Sendable {
            /// Something came.
            case added
            /// Something went.
            case removed
            /// Something is different.
            case changed
        }

        /// What kind.
        var kind: Kind
        /// What: `api.example.com: pin sha256/… (backup)`.
        var text: String
    }

    /// The publications, the newest first.
    var publications: [Publication]
    /// How many there are in all.
    var total: Int

    /// The most publications on the page, and lines of one difference.
    static let most = (publications: 100, changes: 40)

    /// What the window is called.
    var title: String { "Lists" }

    /// What the template is filled with.
    func view(in frame: PageFrame) -> View {
        View([
            "publications": .views(
                self.publications.prefix(Self.most.publications).enumerated().map {
                    Self.view($1, number: $0, in: frame)
                }),
            "hasPublications": .flag(!self.publications.isEmpty),
            "more": self.total > min(self.publications.count, Self.most.publications)
                ? "Earlier publications are not shown; there are \(NumberText.count(self.total)) in all." : "",
        ])
    }

    private static func view(_ publication: Publication, number: Int, in frame: PageFrame) -> View {
        let shown = publication.changes.prefix(Self.most.changes)
        let rest = publication.changes.count - shown.count
        return View([
            "what": publication.what == "root" ? "Root" : "List", "version": "\(publication.version)",
            "digest": .markup(DigestText.short(publication.digest)), "id": "publication-\(number)",
            "published": .markup(frame.times.full(publication.publishedAt)),
            "by": .markup(VisibleText.line(publication.publishedBy, limit: 64)),
            "issued": .markup(publication.issuedAt.map { frame.times.date($0) } ?? "cannot be read"),
            "expires": .markup(publication.expiresAt.map { frame.times.full($0) } ?? "cannot be read"),
            "isServed": .flag(publication.isServed), "hasChanges": .flag(!publication.changes.isEmpty),
            "changes": .views(
                shown.map { change in
                    let sign = change.kind == .added ? "+" : change.kind == .removed ? "−" : "~"
                    return View([
                        "kind": "\(change.kind.rawValue)", "sign": "\(sign)",
                        "text": .markup(VisibleText.line(change.text, limit: 320)),
                    ])
                }),
            "rest": rest > 0 ? "and \(NumberText.count(rest, "more change", "more changes"))" : "",
        ])
    }
}

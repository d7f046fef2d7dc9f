// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore

/// The page of publications, and the changes of each.
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
        /// The time of publication.
        var publishedAt: Timestamp
        /// The publisher: the id of a token with its name, or `cli`.
        var publishedBy: String
        /// The time of issue; `nil` when it cannot be read.
        var issuedAt: Timestamp?
        /// The time at which it expires.
        var expiresAt: Timestamp?
        /// Whether it is what clients are given now.
        var isServed: Bool
        /// The changes against the one before it, as far as they are kept.
        var changes: [Change]
        /// The number of changes that are not kept.
        var moreChanges = 0
    }

    /// One line of a difference.
    struct Change: Hashable, Sendable {
        /// The kind of change.
        enum Kind: String, Sendable {
            /// An element was added.
            case added
            /// An element was removed.
            case removed
            /// An element was changed.
            case changed
        }

        /// The kind of change.
        var kind: Kind
        /// The element: `api.example.com: pin sha256/… (backup)`.
        var text: String
    }

    /// The publications of this page, the newest first.
    var publications: [Publication]
    /// The number of publications in all.
    var total: Int
    /// The beginning of the page with older publications: those with a lower number; `nil` when there is none.
    var older: Int64?
    /// The beginning of the page with newer publications; `nil` when this is the newest.
    var newer: Int64?

    /// The member of an address that says where a page begins: publications with a lower number.
    static let beforeMember = "before"
    /// The number of publications on a page.
    static let pageLength = 10
    /// The maximum number of lines of one difference.
    static let maximumChanges = ListSummary.maximumLines

    /// The title of the window.
    var title: String { "Lists" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        func href(_ number: Int64?) -> View.Value {
            guard let number else { return "" }
            return "\(frame.link(DashboardSection.lists.path, [(name: Self.beforeMember, value: String(number))]))"
        }
        return View([
            "publications": .views(
                self.publications.prefix(Self.pageLength).enumerated().map {
                    Self.view($1, number: $0, in: frame)
                }),
            "steps": .markup(FirstSteps.list.markup), "hasPublications": .flag(!self.publications.isEmpty),
            "total": .markup("\(NumberText.count(self.total, "publication", "publications"))"),
            "older": href(self.older), "newer": href(self.newer),
            "hasPages": .flag(self.older != nil || self.newer != nil),
        ])
    }

    private static func view(_ publication: Publication, number: Int, in frame: PageFrame) -> View {
        let shown = publication.changes.prefix(Self.maximumChanges)
        let rest = publication.changes.count - shown.count + publication.moreChanges
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

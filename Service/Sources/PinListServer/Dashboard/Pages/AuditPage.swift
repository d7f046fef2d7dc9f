// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListStore

/// The page of the audit log, which shows when it was rewritten; and of the tokens, by which changes are made.
struct AuditPage: DashboardPage {
    static let template = DashboardTemplate.audit
    static let section: DashboardSection? = .audit

    /// The entries of this page, the newest first.
    var entries: [AuditEntry]
    /// The newest entry of the log; `nil` when it is empty.
    var head: AuditEntry?
    /// The number of the newest entry of the page with older entries; `nil` when there is none.
    var older: Int64?
    /// The number of the newest entry of the page with newer entries; `nil` when this is the newest.
    var newer: Int64?
    /// The newest tokens, the newest first.
    var tokens: [TokenViewModel] = []

    /// The member of an address that says where a page begins: the number of its newest entry.
    static let beforeMember = "from"
    /// The number of entries on a page.
    static let pageLength = 50
    /// The number of tokens on the page; `tumbler token list` has them all.
    static let maximumTokens = 100

    /// The title of the window.
    var title: String { "Audit log" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        func href(_ number: Int64?) -> View.Value {
            guard let number else { return "" }
            return "\(frame.link(DashboardSection.audit.path, [(name: Self.beforeMember, value: String(number))]))"
        }
        return View([
            "head": .markup(self.head.map { DigestText.whole($0.digest) } ?? ""),
            "count": .markup(
                self.head.map { "\(NumberText.count(Int(clamping: $0.number), "entry", "entries"))" } ?? ""),
            "entries": .views(
                self.entries.map { entry in
                    View([
                        "number": "\(entry.number)", "time": .markup(frame.times.full(entry.time)),
                        "actor": .markup(VisibleText.folded(entry.actor)),
                        "action": .markup(VisibleText.line(entry.action, limit: 48)),
                        "detail": .markup(VisibleText.folded(entry.detail)),
                        "digest": .markup(DigestText.short(entry.digest)),
                    ])
                }),
            "test": .markup(DigestText.whole(FirstSteps.testEntry)),
            "hasEntries": .flag(!self.entries.isEmpty), "older": href(self.older), "newer": href(self.newer),
            "tokens": .views(self.tokens.map { $0.view(frame) }), "hasTokens": .flag(!self.tokens.isEmpty),
            "hasPages": .flag(self.older != nil || self.newer != nil),
        ])
    }
}

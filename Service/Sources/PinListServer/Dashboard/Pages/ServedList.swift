// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The newest list of a name, and how long it lasts.
struct ServedList: Hashable, Sendable {
    /// The name.
    var name: String
    /// The list's version.
    var version: Int64
    /// The hex SHA-256 of its envelope.
    var digest: String
    /// The time of publication.
    var publishedAt: Timestamp
    /// The time at which it expires.
    var expiresAt: Timestamp
    /// The version of the newest root.
    var rootVersion: Int64
    /// The time at which that root expires.
    var rootExpiresAt: Timestamp
    /// The estimated share of active installations that hold it; `nil` when it is not measured.
    var share: Double?

    /// Days before the end of a list at which it is time to act: those of the alarms.
    static let listDays = (soon: 14.0, now: 2.0)
    /// Days before the end of a root at which it is time to act.
    static let rootDays = (soon: 180.0, now: 14.0)
    /// The end of the bars of lists, in days.
    private static let listAxis = 90.0
    /// The end of the bars of roots, in days.
    private static let rootAxis = 1_095.0

    /// The view of the list for templates.
    func view(in frame: PageFrame) -> View {
        View([
            "name": .markup(VisibleText.line(self.name, limit: 64)), "version": "\(self.version)",
            "digest": .markup(DigestText.short(self.digest)), "published": .markup(frame.times.full(self.publishedAt)),
            "expires": .markup(frame.times.date(self.expiresAt)), "rootVersion": "\(self.rootVersion)",
            "rootExpires": .markup(frame.times.date(self.rootExpiresAt)),
            "left": .markup(DaysLeft(from: frame.time, to: self.expiresAt, at: Self.listDays).words),
            "leftBar": .markup(DaysLeft(from: frame.time, to: self.expiresAt, at: Self.listDays).bar(Self.listAxis)),
            "rootLeft": .markup(DaysLeft(from: frame.time, to: self.rootExpiresAt, at: Self.rootDays).words),
            "rootBar": .markup(
                DaysLeft(from: frame.time, to: self.rootExpiresAt, at: Self.rootDays).bar(Self.rootAxis)),
            "share": .markup(self.share.map { "\(NumberText.percent($0))" } ?? "not measured"),
            "shareKnown": .flag(self.share != nil),
            "href": "\(DashboardLink.to("/adoption", [(name: PageFrame.nameMember, value: self.name)]))",
        ])
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// What the service warns of, and whom.
struct AlarmsPage: DashboardPage {
    static let template = DashboardTemplate.alarms
    static let section: DashboardSection? = .alarms

    /// Where alarms go.
    struct Target: Hashable, Sendable {
        /// How the last delivery went.
        enum Delivery: Hashable, Sendable {
            /// Nothing was sent yet.
            case none
            /// It was taken.
            case delivered(Timestamp)
            /// It was not, because of this.
            case failed(Timestamp, String)
        }

        /// Which: what the test button sends back.
        var id: String
        /// `slack`, `pagerduty` or `webhook`.
        var kind: String
        /// What it is called, without secrets.
        var label: String
        /// How the last delivery went.
        var delivery: Delivery
    }

    /// Those that are firing.
    var firing: [ShownAlarm]
    /// Those that are over, the newest first.
    var recent: [ShownAlarm]
    /// Where alarms go.
    var targets: [Target]
    /// The token against forgery that the forms carry.
    var token: String
    /// What a test just did, in a sentence; `nil` when none was made.
    var notice: String?

    /// Where a test is posted to, with ``targetField``.
    static let testPath = "/alarms/test"
    /// The field that names the target.
    static let targetField = "target"

    /// What the window is called.
    var title: String { "Alarms" }

    /// What the template is filled with.
    func view(in frame: PageFrame) -> View {
        View([
            "firing": .views(self.firing.map { $0.view(in: frame) }), "hasFiring": .flag(!self.firing.isEmpty),
            "recent": .views(self.recent.prefix(100).map { $0.view(in: frame) }),
            "hasRecent": .flag(!self.recent.isEmpty),
            "notice": .markup(self.notice.map { VisibleText.line($0, limit: 300) } ?? ""),
            "hasTargets": .flag(!self.targets.isEmpty),
            "targets": .views(
                self.targets.map { target in
                    View([
                        "id": "\(target.id)", "kind": .markup(VisibleText.line(target.kind, limit: 32)),
                        "label": .markup(VisibleText.line(target.label, limit: 96)),
                        "plain": "\(VisibleText.plain(target.label))", "action": "\(Self.testPath)",
                        "field": "\(Self.targetField)", "tokenField": "\(PageFrame.tokenField)",
                        "token": "\(self.token)", "delivery": .markup(Self.text(target.delivery, in: frame)),
                    ])
                }),
        ])
    }

    private static func text(_ delivery: Target.Delivery, in frame: PageFrame) -> Markup {
        switch delivery {
        case .none: "<span class=\"state unknown\"><span aria-hidden=\"true\">○</span> nothing sent yet</span>"
        case .delivered(let time):
            """
            <span class="state calm"><span aria-hidden="true">●</span> delivered</span> \(frame.times.full(time))
            """
        case .failed(let time, let why):
            """
            <span class="state now"><span aria-hidden="true">■</span> failed</span> \(frame.times.full(time)): \
            \(VisibleText.line(why, limit: 200))
            """
        }
    }
}

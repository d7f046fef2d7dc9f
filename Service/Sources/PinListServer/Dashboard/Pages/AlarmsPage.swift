// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore
internal import PinReportAnalysis

/// The page of alarms and their targets.
struct AlarmsPage: DashboardPage {
    static let template = DashboardTemplate.alarms
    static let section: DashboardSection? = .alarms

    /// A target of alarms.
    struct Target: Hashable, Sendable {
        /// The result of the last delivery.
        enum Delivery: Hashable, Sendable {
            /// No notification was sent yet.
            case none
            /// The last notification was delivered.
            case delivered(Timestamp)
            /// The last notification was not delivered, because of this.
            case failed(Timestamp, String)
            /// No instance that runs knows the target: so many wait, and so many were given up.
            case unknown(waiting: Int64, lost: Int64)
        }

        /// The id that the test button sends back.
        var id: String
        /// `slack`, `pagerduty` or `webhook`.
        var kind: String
        /// The name of the target, without secrets.
        var label: String
        /// The result of the last delivery.
        var delivery: Delivery
        /// Whether this instance can reach it, and test it.
        var isHere = true
    }

    /// The alarms that are firing.
    var firing: [AlarmViewModel]
    /// The alarms that are over, the newest first.
    var recent: [AlarmViewModel]
    /// The silences that are not over.
    var silences: [StoredSilence] = []
    /// The targets of alarms.
    var targets: [Target]
    /// Whether the person who looks may acknowledge and silence.
    var mayOperate = false
    /// The token against forgery that the forms carry.
    var token: String
    /// The result of a test, in a sentence; `nil` when none was made.
    var notice: String?

    /// The path that a test is posted to, with ``targetField``.
    static let testPath = "/alarms/test"
    /// The field that names the target.
    static let targetField = "target"
    /// The path that an acknowledgement is posted to, with ``keyField``.
    static let acknowledgePath = "/alarms/acknowledge"
    /// The path that a silence is posted to, with ``keyField``, ``hoursField`` and ``reasonField``.
    static let silencePath = "/alarms/silence"
    /// The path that the end of a silence is posted to, with ``keyField``.
    static let unsilencePath = "/alarms/unsilence"
    /// The field that names an alarm by its key, or a kind.
    static let keyField = "key"
    /// The field of how many hours a silence lasts.
    static let hoursField = "hours"
    /// The field of why.
    static let reasonField = "because"

    /// The title of the window.
    var title: String { "Alarms" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        View([
            "firing": .views(
                self.firing.sorted(by: AlarmViewModel.order).map {
                    $0.view(in: frame, token: self.mayOperate ? self.token : nil)
                }),
            "hasFiring": .flag(!self.firing.isEmpty), "looksOnly": .flag(!self.mayOperate && !self.firing.isEmpty),
            "silences": .views(self.silences.map { self.view(of: $0, in: frame) }),
            "hasSilences": .flag(!self.silences.isEmpty),
            "recent": .views(self.recent.prefix(100).map { $0.view(in: frame) }),
            "hasRecent": .flag(!self.recent.isEmpty),
            "notice": .markup(self.notice.map { VisibleText.line($0, limit: 300) } ?? ""),
            "hasTargets": .flag(!self.targets.isEmpty), "steps": .markup(FirstSteps.target.markup),
            "targets": .views(
                self.targets.map { target in
                    View([
                        "id": "\(target.id)", "kind": .markup(VisibleText.line(target.kind, limit: 32)),
                        "label": .markup(VisibleText.line(target.label, limit: 96)),
                        "isHere": .flag(target.isHere),
                        "plain": "\(VisibleText.plain(target.label))", "action": "\(Self.testPath)",
                        "field": "\(Self.targetField)", "tokenField": "\(PageFrame.tokenField)",
                        "token": "\(self.token)", "delivery": .markup(Self.text(target.delivery, in: frame)),
                    ])
                }),
        ])
    }

    private func view(of silence: StoredSilence, in frame: PageFrame) -> View {
        View([
            "what": .markup(VisibleText.line(silence.what, limit: 300)), "key": "\(silence.what)",
            "plain": "\(VisibleText.plain(silence.what))",
            "severity": .markup(VisibleText.line(silence.severity.rawValue, limit: 32)),
            "until": .markup(frame.times.full(silence.endsAt)),
            "by": .markup(VisibleText.line(silence.madeBy, limit: 64)),
            "reason": .markup(VisibleText.line(silence.reason, limit: 300)), "mayEnd": .flag(self.mayOperate),
            "action": "\(Self.unsilencePath)", "field": "\(Self.keyField)",
            "tokenField": "\(PageFrame.tokenField)", "token": "\(self.token)",
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
        case .unknown(let waiting, let lost):
            """
            <span class="state now"><span aria-hidden="true">■</span> not delivered</span> No instance that runs knows \
            this target: \(waiting) wait, \(lost) were given up after a day.
            """
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinReportAnalysis

/// The page of an alarm's kind: what it means, and the first action.
struct RunbookPage: DashboardPage {
    static let template = DashboardTemplate.runbook
    static let section: DashboardSection? = .alarms

    /// The kind.
    var kind: Alarm.Kind

    /// The page of all kinds.
    private static let overview = "operations/alarms.md"

    /// The title of the window.
    var title: String { self.kind.opening }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let runbook = AlarmRunbook(self.kind)
        let causes = self.kind == .failureRate ? LikelyCause.Kind.allCases : []
        return View([
            "alarms": "\(frame.link(DashboardSection.alarms.path))", "opening": "\(self.kind.opening)",
            "kind": "\(self.kind.rawValue)", "users": "\(runbook.users)", "left": "\(runbook.left)",
            "action": "\(runbook.action)", "document": "\(runbook.document)",
            "further": runbook.document == Self.overview ? "" : "\(Self.overview)",
            "causes": .views(causes.map { View(["cause": "\($0.opening)", "action": "\($0.action)"]) }),
            "hasCauses": .flag(!causes.isEmpty),
        ])
    }
}

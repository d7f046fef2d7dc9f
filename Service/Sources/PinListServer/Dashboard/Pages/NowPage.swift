// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Whether all is well, at one glance.
struct NowPage: DashboardPage {
    static let template = DashboardTemplate.now
    static let section: DashboardSection? = .now

    /// The alarms that are firing.
    var alarms: [AlarmViewModel]
    /// The hosts, those that need a look first.
    var hosts: [HostRateViewModel]
    /// The newest list of each name.
    var lists: [ServedList]
    /// The figures that are not measured.
    var unmeasured: [Unmeasured]
    /// The attested reports of the lists that ask for attestations.
    var attestations: [AttestedReports] = []
    /// The use of the database's room, in a sentence; empty where this instance has not looked yet.
    var room = ""

    /// The maximum number of hosts that are shown; the rest is on the page of failures.
    static let maximumHosts = 60

    /// The title of the window.
    var title: String { "Now" }

    /// The alarms, the most urgent first.
    private var sorted: [AlarmViewModel] { self.alarms.sorted(by: AlarmViewModel.order) }

    /// The state in one sentence: what is wrong, where something is.
    var sentence: String {
        if let first = self.sorted.first { return first.title }
        return switch (self.alarms.count, self.lists.isEmpty) {
        case (0, true): "Nothing is published yet"
        case (0, false) where self.hosts.contains { $0.state == .high }: "No alarm, but failures are far above usual"
        default: "All quiet"
        }
    }

    /// The pin failures of hosts in the last hour.
    private static func failures(of hosts: [HostRateViewModel]) -> Int {
        hosts.compactMap { $0.reported ?? $0.lastHour }.reduce(0) { sum, count in
            let (added, overflow) = sum.addingReportingOverflow(count)
            return overflow ? .max : added
        }
    }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let first = self.sorted.first
        let listed = self.hosts.filter(\.isListed)
        let (failures, others) = (Self.failures(of: listed), Self.failures(of: self.hosts.filter { !$0.isListed }))
        let hosts = NumberText.count(listed.count, "host", "hosts")
        let unlisted = others > 0 ? ", and \(NumberText.count(others)) for hosts of no list" : ""
        let blind = self.unmeasured.isEmpty ? "" : "; \(NumberText.count(self.unmeasured.count)) not measured"
        return View([
            "sentence": .markup(first.map { VisibleText.line($0.title, limit: 1_024) } ?? "\(self.sentence)"),
            "kind": .markup(first?.severity.kind ?? (self.lists.isEmpty ? "unknown" : "calm")),
            "sign": .markup(first?.severity.sign ?? (self.lists.isEmpty ? "○" : "●")),
            "moreAlarms": self.alarms.count > 1
                ? "\(NumberText.count(self.alarms.count - 1, "more alarm", "more alarms")) below." : "",
            "summary": """
            \(NumberText.count(failures, "pin failure", "pin failures")) reported in the last hour, from \(hosts)\(unlisted)\(blind).
            """,
            "alarms": .views(
                self.sorted.map { $0.view(in: frame) }),
            "hasAlarms": .flag(!self.alarms.isEmpty),
            "hosts": .views(self.hosts.prefix(Self.maximumHosts).map { $0.view(in: frame) }),
            "hasHosts": .flag(!self.hosts.isEmpty),
            "moreHosts": self.hosts.count > Self.maximumHosts
                ? "\(NumberText.count(self.hosts.count - Self.maximumHosts)) more hosts are not shown." : "",
            "lists": .views(self.lists.map { $0.view(in: frame) }), "hasLists": .flag(!self.lists.isEmpty),
            "attestations": .views(self.attestations.map(\.view)),
            "hasAttestations": .flag(!self.attestations.isEmpty),
            "unmeasured": .views(self.unmeasured.map(\.view)), "hasUnmeasured": .flag(!self.unmeasured.isEmpty),
            "steps": .markup(FirstSteps.list.markup), "hostSteps": .markup(FirstSteps.host.markup),
            "room": "\(self.room)", "hasRoom": .flag(!self.room.isEmpty),
            "failuresHref": "\(frame.link(DashboardSection.failures.path))",
        ])
    }
}

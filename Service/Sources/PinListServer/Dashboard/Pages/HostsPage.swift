// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The page of hosts: the pins of each, and the certificates that it serves.
struct HostsPage: DashboardPage {
    static let template = DashboardTemplate.hosts
    static let section: DashboardSection? = .hosts

    /// The version of the list that they stand in; `nil` when none is published.
    var version: Int64?
    /// The hosts, as the list has them.
    var hosts: [HostPins]
    /// The measurement by which keys could be deployed, in a sentence; empty where that is not measured.
    var measured = ""

    /// The maximum number of hosts that are shown: a page that loads at once.
    static let maximumHosts = 500

    /// The title of the window.
    var title: String { "Hosts" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let incomplete = self.hosts.filter { !$0.missing.isEmpty }.count
        let pinned = self.hosts.contains { $0.mode != "off" && !$0.pins.isEmpty }
        let missing =
            incomplete > 0
            ? "; \(NumberText.count(incomplete)) with something missing" : pinned ? "; nothing is missing" : ""
        let enforced = self.hosts.filter { $0.mode == "enforce" }.count
        return View([
            "version": .markup(self.version.map { "\($0)" } ?? ""), "hasHosts": .flag(!self.hosts.isEmpty),
            "measured": "\(self.measured)",
            "summary": """
            \(NumberText.count(self.hosts.count, "host", "hosts")), \(NumberText.count(enforced)) enforced\(missing)
            """,
            "why": self.version == nil ? "No list is published." : "The list names no host.",
            "steps": .markup((self.version == nil ? FirstSteps.list : .host).markup),
            "hosts": .views(self.hosts.prefix(Self.maximumHosts).map { $0.view(in: frame) }),
            "more": self.hosts.count > Self.maximumHosts
                ? "\(NumberText.count(self.hosts.count - Self.maximumHosts)) more hosts are not shown." : "",
        ])
    }
}

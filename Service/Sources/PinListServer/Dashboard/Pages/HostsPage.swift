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
    /// From what it is said which keys could be deployed, in a sentence; empty where that is not measured.
    var measured = ""

    /// The most hosts that are shown.
    static let maximumHosts = 500

    /// The title of the window.
    var title: String { "Hosts" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let incomplete = self.hosts.filter { !$0.missing.isEmpty }.count
        let enforced = self.hosts.filter { $0.mode == "enforce" }.count
        return View([
            "version": .markup(self.version.map { "\($0)" } ?? ""), "hasHosts": .flag(!self.hosts.isEmpty),
            "measured": "\(self.measured)",
            "summary": """
            \(NumberText.count(self.hosts.count, "host", "hosts")), \(NumberText.count(enforced)) enforced; \
            \(incomplete == 0 ? "nothing is missing" : "\(NumberText.count(incomplete)) with something missing")
            """,
            "hosts": .views(self.hosts.prefix(Self.maximumHosts).map { $0.view(in: frame) }),
            "more": self.hosts.count > Self.maximumHosts
                ? "\(NumberText.count(self.hosts.count - Self.maximumHosts)) more hosts are not shown." : "",
        ])
    }
}

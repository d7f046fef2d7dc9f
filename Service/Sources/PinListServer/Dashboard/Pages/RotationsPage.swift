// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The page of rotations: the keys that are being replaced, and how far each rotation is.
struct RotationsPage: DashboardPage {
    static let template = DashboardTemplate.rotations
    static let section: DashboardSection? = .rotations

    /// The rotations, those first that are not over.
    var rotations: [RotationViewModel]
    /// The number of rotations in all.
    var total: Int
    /// Hosts whose plan cannot be read by this version.
    var unreadable: [String]
    /// Whether one host alone is shown.
    var isFiltered: Bool

    /// The maximum number of rotations that are shown: a page that loads at once.
    static let maximumRotations = 50
    /// The member of an address that names a host.
    static let hostMember = "host"

    /// The address of the rotation of a host.
    static func link(to host: String, in frame: PageFrame) -> String {
        frame.link(DashboardSection.rotations.path, [(name: Self.hostMember, value: host)])
    }

    /// The title of the window.
    var title: String { "Rotations" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        View([
            "rotations": .views(
                self.rotations.enumerated().map { number, rotation in rotation.view(number: number + 1, in: frame) }),
            "steps": .markup(FirstSteps.rotation.markup), "hasRotations": .flag(!self.rotations.isEmpty),
            "summary": "\(NumberText.count(self.total, "rotation", "rotations"))",
            "unreadable": .views(
                self.unreadable.prefix(Self.maximumRotations).map { host in
                    View(["host": .markup(VisibleText.line(host, limit: 253))])
                }),
            "all": self.isFiltered ? "\(frame.link(DashboardSection.rotations.path))" : "",
            "more": self.total > self.rotations.count && !self.isFiltered
                ? "\(NumberText.count(self.total - self.rotations.count)) more are not shown." : "",
        ])
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The frame around each page: the navigation, the name of the list, and the time of the figures.
struct PageFrame: Sendable {
    /// The names that lists are published under, in their order.
    var names: [String]
    /// The one that the page is about; `nil` before anything is published.
    var name: String?
    /// The time at which the figures were taken.
    var time: Timestamp
    /// The number of alarms that are firing.
    var firing = 0
    /// The token that the form for logging out carries; `nil` without a login, where `openOnLoopback` shows the page.
    var logoutToken: String?

    /// The member of an address that names the list.
    static let nameMember = "list"
    /// The path that logging out is posted to.
    static let logoutPath = "/logout"
    /// The field of each form that is posted: the token against forgery.
    static let tokenField = "csrf"

    /// The form in which times are written.
    var times: TimeText { TimeText(now: self.time) }

    /// An address that keeps the list.
    func link(_ path: String, _ query: [(name: String, value: String)] = []) -> String {
        let names = self.names.count > 1 ? [(name: Self.nameMember, value: self.name ?? "")] : []
        return DashboardLink.to(path, names + query)
    }

    /// The view that the template of the frame is filled with.
    func view(title: String, section: DashboardSection?, isBare: Bool, main: Markup) -> View {
        let name = self.name.map { VisibleText.plain($0) }
        let count = self.firing > 0 ? "(\(self.firing)) " : ""
        return View([
            "title": "\(count)\(title)\(name.map { " · \($0)" } ?? "") · Tumbler",
            "style": "\(DashboardAsset.style.path)", "script": "\(DashboardAsset.script.path)",
            "icon": "\(DashboardAsset.icon.path)", "main": .markup(main),
            "chrome": .view(isBare ? nil : self.chrome(section)), "bare": .flag(isBare),
        ])
    }

    private func chrome(_ section: DashboardSection?) -> View {
        let links = DashboardSection.allCases.map { each in
            View([
                "label": "\(each.label)", "href": "\(self.link(each.path))", "current": .flag(each == section),
                "badge": each == .alarms && self.firing > 0 ? "\(self.firing)" : "",
            ])
        }
        let names = self.names.map { each in
            let path = section?.path ?? DashboardSection.now.path
            return View([
                "name": .markup(VisibleText.line(each, limit: 64)), "current": .flag(each == self.name),
                "href": "\(DashboardLink.to(path, [(name: Self.nameMember, value: each)]))",
            ])
        }
        return View([
            "links": .views(links), "names": .views(names), "several": .flag(names.count > 1),
            "single": .markup(
                names.count > 1 ? "" : self.name.map { VisibleText.line($0, limit: 64) } ?? "nothing published yet"),
            "time": "\(TimeText.minute(self.time))", "instant": "\(self.time.description)",
            "seconds": "\(self.time.secondsSince1970)",
            "logout": .view(
                self.logoutToken.map {
                    View(["path": "\(Self.logoutPath)", "field": "\(Self.tokenField)", "token": "\($0)"])
                }),
        ])
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The page of an error, and of what to do.
struct ErrorPage: DashboardPage {
    static let template = DashboardTemplate.error
    static let section: DashboardSection? = nil
    static let isBare = true

    /// The status of the answer: 404, 500, 503.
    var status: Int
    /// The error, in a sentence; empty for what the status says.
    var detail: String

    /// The title of the window.
    var title: String {
        switch self.status {
        case 403: "Not allowed"
        case 404: "Nothing here"
        case 429: "Too many requests"
        case 503: "Not available now"
        default: "Something went wrong"
        }
    }

    private var advice: String {
        switch self.status {
        case 403: "Reload the page that you came from and try again: its form had expired."
        case 404: "The address is wrong, or its page is no longer kept."
        case 429: "Wait a minute, then try again."
        case 503: "The lists are still served. Reload in a minute; if this stays, look at the service's log and disk."
        default: "The lists are still served. The service's log says more."
        }
    }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        View([
            "status": "\(self.status)", "title": "\(self.title)", "advice": "\(self.advice)",
            "detail": .markup(self.detail.isEmpty ? "" : VisibleText.line(self.detail, limit: 400)),
            "home": "\(DashboardSection.now.path)",
        ])
    }
}

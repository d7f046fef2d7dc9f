// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListStore

/// The form for a token; or, for who comes by a log-in link, one button.
struct LoginPage: DashboardPage {
    static let template = DashboardTemplate.login
    static let section: DashboardSection? = nil
    static let isBare = true

    /// Whether a token was just refused.
    var wasRefused: Bool
    /// The path to go to afterwards: a path of the dashboard, which the route has checked.
    var next: String
    /// The code of a log-in link, which the button sends; `nil` for the form.
    var code: String?
    /// Whether a log-in link was just refused.
    var isLinkOver = false

    /// The path that the form is posted to.
    static let path = "/login"
    /// The field with the token.
    static let tokenField = "token"
    /// The field with the code of a link, in its form as in its address.
    static let codeField = "code"
    /// The field with where to go afterwards.
    static let nextField = "next"

    /// The title of the window.
    var title: String { "Log in" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        View([
            "refused": .flag(self.wasRefused), "next": "\(self.next)", "action": "\(Self.path)",
            "tokenField": "\(Self.tokenField)", "nextField": "\(Self.nextField)", "isLink": .flag(self.code != nil),
            "codeField": "\(Self.codeField)", "code": "\(self.code ?? "")", "isLinkOver": .flag(self.isLinkOver),
            "minutes": "\(LoginCode.seconds / 60)", "hours": "\(AdminAccess.cookieSeconds / 3_600)",
        ])
    }
}

extension LoginCode {
    /// The link that carries a code's text.
    ///
    /// - Parameter address: The address of the operator's part, without a slash at its end.
    package static func link(to address: String, _ text: String) -> String {
        "\(address)\(LoginPage.path)?\(LoginPage.codeField)=\(text)"
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Mustache

/// The dashboard: from what is known to the bytes of a page. It reads nothing and decides nothing.
///
/// Made once, when the service starts: the templates are compiled then, and rendering cannot fail.
struct Dashboard: Sendable {
    private let templates: [DashboardTemplate: MustacheTemplate]

    /// The templates, compiled once in a process: they are in the program, and never change.
    private static let compiled = Result {
        var templates: [DashboardTemplate: MustacheTemplate] = [:]
        for template in DashboardTemplate.allCases {
            templates[template] = try MustacheTemplate(string: template.text)
        }
        return templates
    }

    /// Takes the compiled templates.
    ///
    /// - Throws: What is wrong with a template: a defect of this build, which a test would have found.
    init() throws { self.templates = try Self.compiled.get() }

    /// Renders a page.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - frame: The frame around it.
    /// - Returns: HTML, UTF-8.
    func render(_ page: some DashboardPage, in frame: PageFrame) -> [UInt8] {
        let view = page.view(in: frame)
        let main = self.templates[type(of: page).template]?.render(view) ?? ""
        let whole = frame.view(
            title: page.title, section: type(of: page).section, isBare: type(of: page).isBare,
            main: Markup(rendered: main))
        return Array((self.templates[.frame]?.render(whole) ?? "").utf8)
    }
}

/// A page: plain data, which says how it fills its template.
protocol DashboardPage: Sendable {
    /// Its template.
    static var template: DashboardTemplate { get }
    /// The section of the navigation; `nil` for pages that are not in it.
    static var section: DashboardSection? { get }
    /// Whether it stands alone, without the navigation: the log-in.
    static var isBare: Bool { get }
    /// The title of the window, without the name of the list.
    var title: String { get }
    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View
}

extension DashboardPage {
    /// Most pages have the navigation.
    static var isBare: Bool { false }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

/// Writes the pages of the story for scripts/check-dashboard, which opens them in a browser.
@Suite("Pages of the story")
struct SamplePageTests {
    static var pages: [(String, any DashboardPage)] {
        var filter = FailureFilter()
        filter.host = "api.bank.example"
        filter.cause = .rotation
        return [
            ("now", Story.nowPage), ("now-quiet", Story.quietPage),
            ("failures", Story.failuresPage()), ("failures-filtered", Story.failuresPage(filter)),
            ("failure", Story.failurePage),
            ("hosts", Story.hostsPage), ("adoption", Story.adoptionPage), ("adoption-missing", Story.unmeasuredPage),
            ("certificates", Story.certificatesPage), ("rotations", Story.rotationsPage),
            ("runbook", RunbookPage(kind: .failureRate)), ("lists", Story.listsPage),
            ("not-found", ErrorPage(status: 404, detail: "")), ("audit", Story.auditPage), ("alarms", Story.alarmsPage),
            ("login", LoginPage(wasRefused: false, next: "/")),
            ("login-refused", LoginPage(wasRefused: true, next: "/")),
            ("login-link", LoginPage(wasRefused: false, next: "/", code: String(repeating: "0a", count: 32))),
            ("login-link-over", LoginPage(wasRefused: false, next: "/", isLinkOver: true)),
            ("error", ErrorPage(status: 503, detail: "The database does not answer.")),
        ]
    }

    @Test("render, each with one heading, and are written where a folder is asked for")
    func renderEachWithOneHeadingAndAreWrittenWhereAFolderIsAskedFor() throws {
        let dashboard = try Dashboard()
        var quiet = Story.frame
        quiet.firing = 0
        var files: [(String, [UInt8])] = Self.pages.map { name, page in
            (name + ".html", dashboard.render(page, in: name == "now-quiet" ? quiet : Story.frame))
        }
        files += Story.emptyPages.map { ($0.name + ".html", dashboard.render($0.page, in: $0.frame)) }
        for (name, html) in files {
            let text = String(decoding: html, as: UTF8.self)
            #expect(text.components(separatedBy: "<h1").count == 2, "\(name)")
            #expect(!text.contains("{{"), "\(name)")
        }
        files += HostileStory.pages.map { name, page in
            ("hostile-\(name).html", dashboard.render(page, in: HostileStory.frame))
        }
        files += Dashboard.assets.map { (String($0.path.dropFirst("/assets/".count)), $0.bytes) }
        let headers = Dashboard.securityHeaders.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        files.append(("headers.txt", Array(headers.utf8)))
        guard let folder = ProcessInfo.processInfo.environment["TUMBLER_DASHBOARD_PAGES"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder).appendingPathComponent(name))
        }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("A page about a hostile report")
struct HostilePageTests {
    private func html(_ page: any DashboardPage, in frame: PageFrame) throws -> String {
        String(decoding: try Dashboard().render(page, in: frame), as: UTF8.self)
    }

    @Test("has no element, attribute or direction that the report brought")
    func hasNoElementAttributeOrDirectionThatTheReportBrought() throws {
        for (name, page) in HostileStory.pages {
            let html = try self.html(page, in: HostileStory.frame)
            for forbidden in [
                "<script>", "<img", "<b>", "href=\"javascript", "href=\"//", "<span class=\"cp\"></span>",
            ] {
                #expect(html.range(of: forbidden, options: .literal) == nil, "\(name): \(forbidden)")
            }
            #expect(html.components(separatedBy: "<script").count == 2, "\(name): one script")
            let unseen = html.unicodeScalars.filter { scalar in
                scalar != "\n" && scalar != "\t" && [.format, .control].contains(scalar.properties.generalCategory)
            }
            #expect(unseen.isEmpty, "\(name): \(unseen.map { String($0.value, radix: 16) })")
        }
    }

    @Test("closes each attribute where the template does, also after a quotation mark with an accent")
    func closesEachAttributeWhereTheTemplateDoesAlsoAfterAQuotationMarkWithAnAccent() throws {
        for (name, page) in HostileStory.pages {
            let html = try self.html(page, in: HostileStory.frame)
            // Between tags there is text only; within a tag quotation marks come in pairs.
            for part in html.unicodeScalars.split(separator: "<").dropFirst() {
                let tag = part.prefix { $0 != ">" }
                #expect(tag.count < part.count, "\(name): \(String(String.UnicodeScalarView(tag)).prefix(80))")
                #expect(
                    tag.filter { $0 == "\"" }.count % 2 == 0,
                    "\(name): \(String(String.UnicodeScalarView(tag)).prefix(80))")
            }
        }
    }

    @Test(
        "stays small: 500 groups are below 1 MB, and below 6 MB where each text is as long as its author could make it")
    func staysSmall500GroupsAreBelow1MB() throws {
        let many = try self.html(
            Story.failuresPage(groups: Array(repeating: Story.interception, count: 600)), in: Story.frame)
        #expect(many.components(separatedBy: "<th scope=\"row\">").count == FailuresPage.maximumGroups + 1)
        #expect(many.utf8.count < 1_000_000, "\(many.utf8.count)")
        var group = Story.interception
        for text in ["\"", "\u{202e}\u{202d}", "a\u{301}\u{302}\u{303}\u{304}"] {
            group.issuer = String(repeating: text, count: 20_000)
            group.appVersion = group.issuer
            let long = try self.html(
                Story.failuresPage(groups: Array(repeating: group, count: 500)), in: Story.frame)
            #expect(long.utf8.count < 6_000_000, "\(long.utf8.count)")
        }
    }

    @Test("is not asked for more than its filter can hold")
    func isNotAskedForMoreThanItsFilterCanHold() {
        let huge = String(repeating: "a", count: 100_000)
        let filter = FailureFilter(query: [
            ("host", huge), ("cause", "x"), ("span", "y"), ("order", "last"), ("z", huge),
        ])
        #expect(filter.host.count == FailureFilter.maximumValueLength)
        #expect(filter.cause == nil)
        #expect(filter.span == .week)
        #expect(filter.order == .last)
        #expect(FailureFilter(query: filter.query) == filter)
        let late = FailureFilter(query: Array(repeating: ("a", "b"), count: 10_000) + [("host", "late")])
        #expect(late.host.isEmpty)
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

extension Story {
    /// A page with nothing to show, or with nothing in one of its parts.
    struct EmptyPage {
        /// The content in place of figures.
        enum Content {
            /// Three steps, each with a command to copy.
            case steps
            /// These sentences, and no steps, for a reason.
            case sentences([String], because: String)
        }

        /// The name of its file among the sample pages.
        let name: String
        /// The page.
        let page: any DashboardPage
        /// The frame around it.
        let frame: PageFrame
        /// The content in place of figures.
        let content: Content
    }

    /// The frame before anything is published.
    private static let newFrame = PageFrame(names: [], name: nil, time: Self.now)
    /// The frame of a service with one list.
    private static let youngFrame = PageFrame(names: [Self.name], name: Self.name, time: Self.now)

    /// No report in a week.
    private static var noFailures: PlotSeries { self.hours(mean: 0, seed: 16) }

    /// The page of failures of a service whose reports are older than the time that is asked for.
    private static var quietFailures: FailuresPage {
        var page = self.failuresPage(groups: [])
        (page.pinReports, page.otherReports, page.series) = (0, 0, self.noFailures)
        return page
    }

    /// The page of failures under a filter that no report fits.
    private static var unfitFailures: FailuresPage {
        var filter = FailureFilter()
        filter.host = "statements.bank.example"
        return self.failuresPage(filter, groups: [])
    }

    /// The page of alarms of a service with targets, and with nothing to tell them.
    private static var quietAlarms: AlarmsPage {
        var page = self.alarmsPage
        (page.firing, page.recent, page.silences) = ([], [], [])
        return page
    }

    /// The pages with nothing to show: at least one of each section.
    static var emptyPages: [EmptyPage] {
        func new(_ name: String, _ page: any DashboardPage) -> EmptyPage {
            EmptyPage(name: name, page: page, frame: self.newFrame, content: .steps)
        }
        func young(
            _ name: String, _ page: any DashboardPage, _ content: EmptyPage.Content = .steps
        ) -> EmptyPage {
            EmptyPage(name: name, page: page, frame: self.youngFrame, content: content)
        }
        return [
            new("now-empty", NowPage(alarms: [], hosts: [], lists: [], unmeasured: [])),
            young("now-hostless", NowPage(alarms: [], hosts: [], lists: [self.lists[0]], unmeasured: [])),
            new(
                "failures-empty",
                FailuresPage(
                    filter: FailureFilter(), hosts: [], reasons: [], versions: [], groups: [], isCut: false,
                    pinReports: 0,
                    otherReports: 0, series: self.noFailures)),
            young(
                "failures-quiet", self.quietFailures,
                .sentences(
                    ["nothing is to be done.", "href=\"/failures?span=all\"", "data-copy=\"curl "],
                    because: "reports arrived before, and no failure is good")),
            young(
                "failures-unfit", self.unfitFailures,
                .sentences(
                    ["that fits. <a href=\"/failures\">Show all</a>"], because: "the filter hides what was reported")),
            new("hosts-empty", HostsPage(version: nil, hosts: [])),
            young("hosts-hostless", HostsPage(version: 3, hosts: [])),
            new("certificates-none", CertificatesPage(hosts: [], counts: [:], isFiltered: false)),
            young("certificates-empty", CertificatesPage(hosts: [], counts: [.unlisted: 7], isFiltered: false)),
            new("rotations-empty", RotationsPage(rotations: [], total: 0, unreadable: [], isFiltered: false)),
            new(
                "adoption-empty",
                AdoptionPage(
                    measurement: .notMeasured(
                        Unmeasured(what: "Adoption", why: "no list is published", next: "", steps: .list)),
                    unverified: [])),
            new("lists-empty", ListsPage(publications: [], total: 0)),
            new("alarms-empty", AlarmsPage(firing: [], recent: [], targets: [], token: "0f3c9a")),
            young(
                "alarms-quiet", self.quietAlarms,
                .sentences(
                    ["Nothing is to be done. To test that a message arrives, send a test", ">Send a test</button>"],
                    because: "no alarm is good")),
            EmptyPage(
                name: "audit-empty", page: AuditPage(entries: [], head: nil), frame: self.newFrame,
                content: .sentences(
                    ["nothing is to be done:", "data-copy=\"tumbler token create "],
                    because: "what an operator does anyway fills it")),
        ]
    }
}

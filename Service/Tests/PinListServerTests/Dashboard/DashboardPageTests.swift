// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("The dashboard")
struct DashboardPageTests {
    private func html(_ page: some DashboardPage, in frame: PageFrame = Story.frame) throws -> String {
        String(decoding: try Dashboard().render(page, in: frame), as: UTF8.self)
    }

    /// A page without its places for a line break in long names.
    private func unbroken(_ page: some DashboardPage) throws -> String {
        try self.html(page).replacingOccurrences(of: "<wbr>", with: "")
    }

    @Test("says first what is wrong, with the cause in front, one action and the page of its runbook")
    func saysFirstWhatIsWrong() throws {
        let html = try self.unbroken(Story.nowPage)
        let heading = try #require(html.components(separatedBy: "<h1").last?.components(separatedBy: "</h1>").first)
        #expect(
            heading.contains(
                "A server presents a key that no list has: api.bank.example, since 13:35 UTC, 391 networks"))
        #expect(html.contains(">2 more alarms below.</a>"))
        let first = try #require(html.components(separatedBy: "<li class=\"alarm ").dropFirst().first)
        #expect(first.contains("<strong>What to do:</strong> <bdi>serve a key that the list names again</bdi></p>"))
        #expect(first.components(separatedBy: "What to do:").count == 2)
        #expect(first.contains("<a href=\"/runbook/failure-rate?list=com.example.bank\">Runbook</a>"))
        #expect(try self.html(Story.quietPage).contains("All quiet</h1>"))
        var page = Story.quietPage
        page.alarms = [Story.alarms[1]]
        #expect(page.sentence == Story.alarms[1].title)
        #expect(try !self.html(page).contains("below."))
        page.alarms = []
        page.hosts[0].state = .high
        #expect(page.sentence == "No alarm, but failures are far above usual")
        page.lists = []
        #expect(page.sentence == "Nothing is published yet")
    }

    @Test("alarms are in the order of their severity on Now and on Alarms, and of those the oldest comes first")
    func alarmsAreInTheOrderOfTheirSeverity() throws {
        var second = Story.alarms[1]
        second.since = Story.ago(9 * 86_400)
        second.id = "older"
        var page = Story.nowPage
        page.alarms = page.alarms.reversed() + [second]
        var alarms = Story.alarmsPage
        alarms.firing = page.alarms
        for html in [try self.html(page), try self.html(alarms)] {
            let parts = html.components(separatedBy: "<li class=\"alarm ").dropFirst()
            #expect(parts.map { $0.prefix { $0 != "\"" } } == ["now", "soon", "soon", "unknown"])
            #expect(parts.map { $0.contains("Act this week") } == [false, false, false, true])
        }
        #expect([Story.alarms[1], second].sorted(by: AlarmViewModel.order).first?.id == "older")
    }

    @Test("a page with nothing to show has three steps with commands to copy, or says that nothing is to be done")
    func aPageWithNothingToShowHasThreeStepsWithCommandsToCopyOrSaysThatNothingIsToBeDone() throws {
        for empty in Story.emptyPages {
            let html = try self.html(empty.page, in: empty.frame)
            let lists = html.components(separatedBy: "<ol class=\"steps\">").dropFirst()
            switch empty.content {
            case .steps:
                let steps = lists.first?.components(separatedBy: "</ol>").first ?? ""
                let commands = steps.components(separatedBy: "data-copy=\"").dropFirst()
                let programs = commands.map { String($0.prefix { $0 != " " }) }
                #expect(lists.count == 1 && programs.count == 3, "\(empty.name)")
                #expect(programs.contains("tumbler"), "\(empty.name)")
                let known: Set = ["tumbler", "curl", "install", "systemctl", "(umask"]
                #expect(Set(programs).isSubset(of: known), "\(empty.name)")
                // A pipe ends as its last program does: a failure of the first one is not seen.
                #expect(!steps.contains("| "), "\(empty.name)")
                for part in steps.components(separatedBy: "--token-file ").dropFirst() {
                    let file = part.prefix { $0.isLetter || $0 == "." }
                    #expect(steps.contains(" &gt;\(file))"), "\(empty.name): no step makes \(file)")
                }
                // A command that is too long is cut, and does not run.
                #expect(!steps.contains("…"), "\(empty.name)")
            case .sentences(let sentences, let because):
                #expect(lists.isEmpty, "\(empty.name): \(because)")
                for sentence in sentences where !html.contains(sentence) {
                    Issue.record("\(empty.name) has no steps, because \(because), and does not say: \(sentence)")
                }
            }
            #expect(!html.contains("nothing is missing"), "\(empty.name)")
        }
        #expect(
            Set(Story.emptyPages.compactMap { type(of: $0.page).section }) == Set(DashboardSection.allCases),
            "each section has a page with nothing to show")
        let full: [any DashboardPage] = [
            Story.hostsPage, Story.listsPage, Story.nowPage, Story.failuresPage(), Story.alarmsPage, Story.auditPage,
        ]
        for page in full {
            let html = try self.html(page)
            #expect(!html.contains("class=\"steps\"") && !html.contains("is to be done"), "\(page.title)")
        }
    }

    @Test("evidence is a list, and a certificate for another host is flagged")
    func evidenceIsAListAndACertificateForAnotherHostIsFlagged() throws {
        var page = Story.failurePage
        let html = try self.html(page)
        let list = html.components(separatedBy: "<ul class=\"evidence\">").last?.components(separatedBy: "</ul>").first
        #expect(list?.components(separatedBy: "<li>").count == 3)
        #expect(!html.contains("for another host"))
        page.certificates[0].otherHost = "login.bank.example"
        #expect(try self.unbroken(page).contains("for another host, not for <bdi>login.bank.example</bdi></span>"))
    }

    @Test("reports of lists are no TLS failures")
    func reportsOfListsAreNoTLSFailures() throws {
        var page = Story.nowPage
        page.hosts = [Story.hosts[0]]
        page.hosts[0].isOfLists = true
        let html = try self.html(page)
        #expect(html.contains("12 refused lists or roots"))
        #expect(!html.contains("other TLS failure"))
        var failures = Story.failuresPage()
        failures.listReports = 1
        #expect(try self.html(failures).contains("37 other TLS failures, 1 refused list or root"))
    }

    @Test("an hour is called an hour, and a day of bars a day")
    func anHourIsCalledAnHourAndADayOfBarsADay() throws {
        #expect(TimeText.length(3_600) == "an hour")
        #expect(TimeText.length(43_200) == "12 hours")
        var estimate = Story.estimate
        estimate.step = 3_600
        estimate.askedEvery = 86_400
        let html = try self.html(AdoptionPage(measurement: .measured(estimate), unverified: []))
        #expect(html.contains("newest window of an hour; an active installation asks about once in a day"))
        #expect(try self.html(Story.nowPage).contains("the mean hour of the week"))
        var page = Story.nowPage
        for index in page.hosts.indices { page.hosts[index].hours = page.hosts[index].hours.newest(24) }
        let young = try self.html(page)
        #expect(young.contains("the mean hour of the week") && young.contains("an hour over the day"))
        let hours = Story.hours(mean: 5, seed: 1)
        #expect(hours.reachesBeyondDay)
        #expect(hours.newest(24).values == Array(hours.values.suffix(24)) && hours.newest(24).end == hours.end)
        #expect(!Story.hours(mean: 0, burst: Story.rotationBurst, seed: 1).reachesBeyondDay)
    }

    @Test("no page says what says nothing, on the pages and in what the checkout holds")
    func noPageSaysWhatSaysNothing() throws {
        // This file is in Service/Tests/PinListServerTests/Dashboard.
        let checkout = (1...5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let words = [
            "Needs a person", "needs a person", "Who is told", "Look at it.", "Look at it<", "Look at it\"", ">Over<",
        ]
        // The pages at the root, README.md first of all, and all that is below these folders.
        var files = try FileManager.default.contentsOfDirectory(at: checkout, includingPropertiesForKeys: nil)
        for folder in ["Sources", "Service/Sources", "docs", "deploy"] {
            let below = FileManager.default.enumerator(
                at: checkout.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            for case let file as URL in below ?? .init() { files.append(file) }
        }
        var read = Set<String>()
        for file in files where ["swift", "md", "mustache", "js", "json", "yaml"].contains(file.pathExtension) {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            read.insert(file.path)
            for word in words where text.contains(word) { Issue.record("\(file.lastPathComponent): \(word)") }
        }
        for page in ["README.md", "docs/README.md", "docs/guides/run-the-service.md", "docs/operations/alarms.md"] {
            #expect(read.contains(checkout.appendingPathComponent(page).path), "\(page)")
        }
        #expect(read.count > 500)
    }

    @Test("never shows a figure that was not measured as one that is good")
    func neverShowsAFigureThatWasNotMeasuredAsOneThatIsGood() throws {
        #expect(try self.html(Story.unmeasuredPage).contains("Not measured: "))
        #expect(try !self.html(Story.unmeasuredPage).contains("0 %"))
        let html = try self.html(Story.nowPage)
        #expect(html.contains("nothing to compare with"))
        #expect(html.contains("2 not measured."))
        #expect(NumberText.percent(0.99999) == "99.9 %")
        #expect(NumberText.percent(0.0001) == "< 0.1 %")
    }

    @Test("tells of a host that is locked out, has no backup, or was never probed")
    func tellsOfAHostThatIsLockedOutHasNoBackupOrWasNeverProbed() {
        let hosts = Story.hostsPage.hosts
        #expect(hosts[0].missing.map(\.text) == ["no pin is served: enforcing clients are locked out"])
        #expect(hosts[0].missing.map(\.isUrgent) == [true])
        #expect(hosts[1].missing.isEmpty)
        #expect(hosts[2].missing.map(\.text) == ["in use, and no backup is left: a lost key locks all clients out"])
        #expect(hosts[3].missing.map(\.text) == ["never probed: run tumbler probe --push daily"])
        #expect(hosts[4].missing.isEmpty)
    }

    @Test(
        "a backup key that is served is in use, and no backup is left; a revoked certificate that is served is urgent")
    func aBackupKeyThatIsServedIsInUseAndNoBackupIsLeft() throws {
        var host = Story.hostsPage.hosts[1]
        host.pins[0].service = .notServed
        host.pins[1].service = .served(until: Story.ahead(days: 60))
        #expect(host.missing.map(\.text) == ["the backup key is in use, and no backup is left"])
        host.revoked = ["its certificate with the serial number 0a1b is revoked by its issuer"]
        #expect(host.missing.first?.isUrgent == true)
        let html = try self.html(HostsPage(version: 43, hosts: [host]))
        #expect(
            html.contains("served, and revoked: its certificate with the serial number 0a1b is revoked by its issuer"))
        #expect(html.contains("</span> in use</span>") && !html.contains("seen from </span>"))
    }

    @Test("says of failures whether App Attest vouches for who reported them, where a list asks for that")
    func saysOfFailuresWhetherAppAttestVouchesForWhoReportedThem() throws {
        let html = try self.html(Story.failuresPage())
        #expect(html.contains("no-matching-pin</bdi></code> · attested</span>"))
        #expect(html.contains("no-matching-pin</bdi></code> · unattested</span>"))
        #expect(html.contains("chain-invalid</bdi></code></span>"))
        let group = try self.html(Story.failurePage)
        #expect(group.contains("<dd>attested <span class=\"faint\">by App Attest</span></dd>"))
    }

    @Test("Now says how many reports are attested, of how many installations, and what the others are worth")
    func nowSaysHowManyReportsAreAttestedOfHowManyInstallationsAndWhatTheOthersAreWorth() throws {
        let html = try self.unbroken(Story.nowPage)
        let rows = html.components(separatedBy: "attestations-heading\">").dropFirst().joined()
        for cell in [
            "<span class=\"big\">92.7 %</span> <span class=\"faint\">18,204 of 19,640 reports in 30 days",
            "241,377 <span class=\"faint\">registered</span>", ">warn, and raise no critical alarm by themselves</td>",
        ] { #expect(rows.contains(cell), "\(cell)") }
        #expect(rows.contains("count like attested ones: under half of the reports were attested</td>"))
        // A list that does not ask has no such table.
        #expect(try !self.html(Story.quietPage).contains("Attested reports"))
    }

    @Test("what unattested reports are worth on Now is what alarms go by, with the reason")
    func whatUnattestedReportsAreWorthOnNowIsWhatAlarmsGoByWithTheReason() {
        func worth(attested: [Int64: Int64], unattested: Int64) -> AttestedReports.Unattested {
            var rate = AttestationRate(at: Story.now)
            for (hoursAgo, count) in attested { rate.add(count, in: Story.now.hour - hoursAgo, isAttested: true) }
            if unattested > 0 { rate.add(unattested, in: Story.now.hour, isAttested: false) }
            let shown = AttestedReports(of: "a", rate)
            #expect((shown.unattested != .warn) == rate.countsUnattested)
            #expect(shown.attested == rate.attested && shown.all == rate.attested + rate.unattested)
            return shown.unattested
        }
        let steady = Dictionary(uniqueKeysWithValues: (0...48).map { (Int64($0), Int64(10)) })
        #expect(worth(attested: [:], unattested: 0) == .countWithoutReports)
        #expect(worth(attested: [:], unattested: 9) == .countForTheirShare)
        #expect(worth(attested: steady, unattested: 491) == .countForTheirShare)
        #expect(worth(attested: steady, unattested: 490) == .warn)
        let ended = steady.filter { $0.key > 3 }
        #expect(worth(attested: ended, unattested: 0) == .countWhileOthersAreMissing)
    }

    @Test("keeps the list in every address when there are several, and in none when there is one")
    func keepsTheListInEveryAddressWhenThereAreSeveralAndInNoneWhenThereIsOne() throws {
        #expect(try self.html(Story.nowPage).contains("href=\"/hosts?list=com.example.bank\""))
        var frame = Story.frame
        frame.names = [Story.name]
        #expect(try self.html(Story.listsPage, in: frame).contains("href=\"/hosts\""))
        #expect(Story.rotation.path == "/failures/1f0c")
    }

    @Test("asks for a log-out only where a person is logged in, with the token against forgery")
    func asksForALogOutOnlyWhereAPersonIsLoggedInWithTheTokenAgainstForgery() throws {
        #expect(try !self.html(Story.nowPage).contains("Log out"))
        var frame = Story.frame
        frame.logoutToken = "abc"
        #expect(try self.html(Story.nowPage, in: frame).contains("name=\"csrf\" value=\"abc\""))
        #expect(try !self.html(LoginPage(wasRefused: true, next: "/"), in: frame).contains("Log out"))
    }

    @Test("names its files by what is in them, and forbids everything else")
    func namesItsFilesByWhatIsInThemAndForbidsEverythingElse() throws {
        #expect(Set(Dashboard.assets.map(\.path)).count == 3)
        let html = try self.html(Story.nowPage)
        for asset in Dashboard.assets {
            #expect(asset.path.contains("-\(asset.hash)."))
            #expect(asset.hash.count == 16)
            #expect(html.contains("\"\(asset.path)\""))
            #expect(asset.bytes.count < 40_000)
        }
        let policy = Dashboard.securityHeaders.first { $0.name == "Content-Security-Policy" }?.value ?? ""
        #expect(policy.hasPrefix("default-src 'none'; "))
        #expect(!policy.contains("unsafe"))
        #expect(!html.contains(" style=") && !html.contains("<style"))
    }

    @Test("writes times in words as a person would")
    func writesTimesInWordsAsAPersonWould() {
        let now = Story.now
        #expect(TimeText.words(from: now, to: now) == "now")
        #expect(TimeText.words(from: now, to: Story.ago(75)) == "1 minute ago")
        #expect(TimeText.words(from: now, to: Story.ago(36 * 3_600)) == "36 hours ago")
        #expect(TimeText.words(from: now, to: Story.ahead(days: 12)) == "in 12 days")
        #expect(TimeText.words(from: now, to: Timestamp(secondsSince1970: .min)) == "far away")
        #expect(TimeText.duration(.max) == "over 100 years")
        #expect(NumberText.count(-1_234_567) == "−1,234,567")
        #expect(NumberText.short(1_500) == "1.5 k")
        #expect(NumberText.decimal(-0.001, places: 2) == "0")
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import PinListServer

@Suite("The dashboard")
struct DashboardPageTests {
    private func html(_ page: some DashboardPage, in frame: PageFrame = Story.frame) throws -> String {
        String(decoding: try Dashboard().render(page, in: frame), as: UTF8.self)
    }

    @Test("says first whether a person is needed")
    func saysFirstWhetherAPersonIsNeeded() throws {
        #expect(try self.html(Story.nowPage).contains("3 alarms need action</h1>"))
        #expect(try self.html(Story.quietPage).contains("All quiet</h1>"))
        var page = Story.quietPage
        page.alarms = [Story.alarms[1]]
        #expect(page.sentence == "1 alarm needs action")
        page.alarms = []
        page.hosts[0].state = .high
        #expect(page.sentence != "All quiet")
        page.lists = []
        #expect(page.sentence == "Nothing is published yet")
    }

    @Test("puts what hurries first, then what began first")
    func putsWhatHurriesFirstThenWhatBeganFirst() throws {
        var page = Story.nowPage
        page.alarms = page.alarms.reversed()
        let html = try self.html(page)
        let parts = html.components(separatedBy: "<li class=\"alarm ").dropFirst().map { $0.prefix(4) }
        #expect(parts == ["now\"", "soon", "soon"])
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
        #expect(hosts[2].missing.map(\.text) == ["no backup pin: a lost key locks all clients out"])
        #expect(hosts[3].missing.map(\.text) == ["never probed: run tumbler probe --push daily"])
        #expect(hosts[4].missing.isEmpty)
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

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinReportAnalysis

@Suite("Hosts that are counted by the hour")
struct CountedHostsTests {
    private func accepted(_ host: String, isListed: Bool = false, name: String? = nil) throws -> AcceptedReport {
        let report = try ReportText.report("{\"hostname\":\"\(host)\",\"validation-result\":1}")
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: ReportText.now, networks: nil, isSample: false,
            isListed: isListed, publishedName: name, body: [])
    }

    @Test("a flood of invented hosts takes a hundred rows a day, and a listed host is counted as itself")
    func floodOfInventedHostsTakesAHundredRowsADayAndAListedHostIsCountedAsItself() throws {
        var hosts = CountedHosts(taken: [])
        let counted = try (0..<10_000).map { hosts.host(of: try self.accepted("\($0).invented.test")) }
        #expect(Set(counted).count == CountedHosts.maximumOther + 1)
        #expect(counted.filter { $0 == HostRate.otherHosts }.count == 10_000 - CountedHosts.maximumOther)
        #expect(hosts.added.count == CountedHosts.maximumOther)
        #expect(hosts.host(of: try self.accepted("api.example.com", isListed: true)) == "api.example.com")
        // A host that took a place keeps it.
        #expect(hosts.host(of: try self.accepted("7.invented.test")) == "7.invented.test")
    }

    @Test("the stored part of the day counts, so that batches and restarts bring no new hundred")
    func storedPartOfTheDayCountsSoThatBatchesAndRestartsBringNoNewHundred() throws {
        var first = CountedHosts(taken: [])
        for number in 0..<60 { _ = first.host(of: try self.accepted("a\(number).test")) }
        var second = CountedHosts(taken: first.added)
        for number in 0..<60 { _ = second.host(of: try self.accepted("b\(number).test")) }
        #expect(second.added.count == 40)
        #expect(second.host(of: try self.accepted("a3.test")) == "a3.test")
        #expect(second.host(of: try self.accepted("b59.test")) == HostRate.otherHosts)
    }

    @Test("a report that names no published list takes no place of those that do")
    func reportThatNamesNoPublishedListTakesNoPlaceOfThoseThatDo() throws {
        var hosts = CountedHosts(taken: [])
        for number in 0..<200 { _ = hosts.host(of: try self.accepted("\(number).invented.test")) }
        let named = try self.accepted("cdn.example.net", name: "com.example.app")
        #expect(hosts.host(of: named) == "cdn.example.net")
        #expect(hosts.added.count == CountedHosts.maximumOther + 1)
    }

    @Test("a flood that names one published list takes no place of another's, nor of the reports that name none")
    func floodThatNamesOnePublishedListTakesNoPlaceOfAnothersNorOfTheReportsThatNameNone() throws {
        let flooded = "com.example.app"
        let others = ["com.example.other", nil]
        var hosts = CountedHosts(taken: [])
        // Half of the flood comes before the others, and half after them.
        func flood(_ numbers: Range<Int>) throws -> Set<String> {
            Set(try numbers.map { hosts.host(of: try self.accepted("\($0).invented.test", name: flooded)) })
        }
        #expect(try flood(0..<5_000).count == CountedHosts.maximumOther + 1)
        for name in others {
            // The same hosts among them: a place is of a name.
            let counted = try (0..<CountedHosts.maximumOther).map {
                hosts.host(of: try self.accepted("\($0 + 50).invented.test", name: name))
            }
            #expect(counted == (0..<CountedHosts.maximumOther).map { "\($0 + 50).invented.test" })
            #expect(hosts.host(of: try self.accepted("one-more.test", name: name)) == HostRate.otherHosts)
        }
        #expect(try flood(5_000..<10_000) == [HostRate.otherHosts])
        #expect(hosts.added.count == 3 * CountedHosts.maximumOther)
        #expect(hosts.added.filter { $0.name == flooded }.count == CountedHosts.maximumOther)
    }

    @Test("the stored part of one name's day takes no place of another's")
    func storedPartOfOneNamesDayTakesNoPlaceOfAnothers() throws {
        var first = CountedHosts(taken: [])
        for number in 0..<200 { _ = first.host(of: try self.accepted("a\(number).test", name: "com.example.app")) }
        var second = CountedHosts(taken: first.added)
        #expect(second.host(of: try self.accepted("b.test", name: "com.example.app")) == HostRate.otherHosts)
        #expect(second.host(of: try self.accepted("b.test", name: "com.example.other")) == "b.test")
        #expect(second.added == [CountedHosts.Place(name: "com.example.other", host: "b.test")])
    }

    @Test("an incident of a published list has no host; one of another list is no incident of ours")
    func incidentOfAPublishedListHasNoHostOneOfAnotherListIsNoIncidentOfOurs() throws {
        let report = try ReportText.report("{\"tumbler\":{\"list-name\":\"com.example.app\",\"reason\":\"rollback\"}}")
        func accepted(isListed: Bool) -> AcceptedReport {
            AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: ReportText.now, networks: nil, isSample: false,
                isListed: isListed, body: [])
        }
        var hosts = CountedHosts(taken: [])
        #expect(hosts.host(of: accepted(isListed: true)) == "")
        #expect(hosts.host(of: accepted(isListed: false)) == HostRate.otherHosts)
        #expect(hosts.added.isEmpty)
    }
}

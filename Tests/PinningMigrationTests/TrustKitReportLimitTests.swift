// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinListMetadata
import PinningTesting
import Testing

/// TrustKit's cases of limiting reports, written anew against `ReportQueue`. Three things are not the same, and why:
///
/// * The chain is compared by its issuer, not whole: an interceptor makes a new leaf for each connection.
/// * The pins are not compared: a failure is the same under the next list, whose report takes its place while it waits.
/// * A day is counted for each report, from when it was sent, and over a restart. TrustKit forgets all at once, a day
///   after it first did, and at each start.
@Suite("TrustKit's cases of limiting reports")
struct TrustKitReportLimitTests {
    private static let day: Int64 = 24 * 3_600

    /// A queue that has sent one report.
    private func queue(after report: Report) throws -> ReportQueue {
        var queue = ReportQueue()
        #expect(queue.add(report, at: Scene.start) == .waiting)
        try Self.send(&queue, at: Scene.start)
        return queue
    }

    private static func send(_ queue: inout ReportQueue, at time: Timestamp) throws {
        var random = SeededGenerator(seed: 1)
        queue.settle(try #require(queue.due(at: time)), .delivered, at: time, using: &random)
    }

    @Test("a new report is sent; the same one is not, as often as it comes within a day")
    func newReportIsSentTheSameOneIsNotAsOftenAsItComesWithinADay() throws {
        let report = try Scene.report()
        var queue = try self.queue(after: report)
        for hours in [0, 1, 23] as [Int64] {
            #expect(queue.add(report, at: Scene.start.advanced(by: hours * Scene.hour)) == .identical)
        }
        #expect(queue.due(at: Scene.start.advanced(by: 23 * Scene.hour)) == nil)
    }

    @Test("also while the first one still waits to be sent")
    func alsoWhileTheFirstOneStillWaitsToBeSent() throws {
        var queue = ReportQueue()
        #expect(queue.add(try Scene.report(), at: Scene.start) == .waiting)
        #expect(queue.add(try Scene.report(), at: Scene.start) == .identical)
        #expect(queue.count == 1)
    }

    @Test("after 24 hours it is sent again, once")
    func after24HoursItIsSentAgainOnce() throws {
        let report = try Scene.report()
        var queue = try self.queue(after: report)
        #expect(queue.add(report, at: Scene.start.advanced(by: Self.day - 1)) == .identical)
        #expect(queue.add(report, at: Scene.start.advanced(by: Self.day)) == .waiting)
        try Self.send(&queue, at: Scene.start.advanced(by: Self.day))
        #expect(queue.add(report, at: Scene.start.advanced(by: Self.day + 1)) == .identical)
    }

    @Test("another noted host, another host under the same entry, another port: each once")
    func anotherNotedHostAnotherHostUnderTheSameEntryAnotherPortEachOnce() throws {
        var queue = try self.queue(after: try Scene.report())
        let below = try Scene.decision("a.api.example.com", entries: [Scene.entry("api.example.com")])
        let others = [
            try Scene.report("other.example.com"), try Scene.report(port: 9_090),
            try #require(
                Report(
                    below, port: 443, served: [], isWebView: false, list: Scene.list, app: Scene.app, at: Scene.start)),
        ]
        for report in others {
            #expect(queue.add(report, at: Scene.start) == .waiting)
            #expect(queue.add(report, at: Scene.start) == .identical)
        }
    }

    @Test("another chain: once where its issuer is another; not for a new leaf of the same issuer, unlike TrustKit")
    func anotherChainOnceWhereItsIssuerIsAnotherNotForANewLeafOfTheSameIssuer() throws {
        var queue = try self.queue(after: try Scene.report(chain: Scene.chain(leafKey: 1, issuerKey: 2)))
        #expect(queue.add(try Scene.report(chain: Scene.chain(leafKey: 1, issuerKey: 3)), at: Scene.start) == .waiting)
        #expect(
            queue.add(try Scene.report(chain: Scene.chain(leafKey: 5, issuerKey: 2)), at: Scene.start) == .identical)
    }

    @Test("other pins come with another version of the list: TrustKit reports that again")
    func otherPinsComeWithAnotherVersionOfTheListTrustKitReportsThatAgain() throws {
        var queue = try self.queue(after: try Scene.report())
        var list = Scene.list
        list.version = 8
        #expect(queue.add(try Scene.report(list: list), at: Scene.start) == .identical)
        #expect(queue.due(at: Scene.start) == nil)
    }

    @Test("another result for the same host is reported once")
    func anotherResultForTheSameHostIsReportedOnce() throws {
        var queue = try self.queue(after: try Scene.report())
        let denied = try Scene.decision(
            "api.example.com", entries: [Scene.entry("api.example.com")],
            denied: [DeniedKey(try Pin(publicKeyOf: Scene.chain()[0]))])
        let report = try #require(
            Report(denied, port: 443, served: [], isWebView: false, list: Scene.list, app: Scene.app, at: Scene.start))
        #expect(queue.add(report, at: Scene.start) == .waiting)
        #expect(queue.add(report, at: Scene.start) == .identical)
    }

    @Test("a restart in between changes nothing: TrustKit begins anew at each start")
    func restartInBetweenChangesNothingTrustKitBeginsAnewAtEachStart() throws {
        let report = try Scene.report()
        var queue = try ReportQueue(try self.queue(after: report).bytes)
        #expect(queue.add(report, at: Scene.start.advanced(by: 60)) == .identical)
        #expect(queue.add(report, at: Scene.start.advanced(by: Self.day)) == .waiting)
        // What waits when the app ends goes out later: TrustKit leaves that to a background session of the system.
        var restarted = try ReportQueue(queue.bytes)
        #expect(restarted.count == 1)
        try Self.send(&restarted, at: Scene.start.advanced(by: Self.day))
    }
}

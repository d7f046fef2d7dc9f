// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinFailureReports

@Suite("The queue of reports")
struct ReportQueueTests {
    /// Reports of one host by as many interceptors.
    private func reports(_ count: Int, host: String = "api.example.com") throws -> [Report] {
        try (0..<count).map { number in
            let issuer = Scene.certificate(subject: [2], issuer: [2], key: [UInt8(number & 255), UInt8(number >> 8)])
            return try Scene.report(host, chain: [Scene.chain()[0], issuer])
        }
    }

    private func later(_ hours: Int64, _ seconds: Int64 = 0) -> Timestamp {
        Scene.start.advanced(by: hours * Scene.hour + seconds)
    }

    @Test("an identical report goes out once in 24 hours: not while one waits, not within a day, and then again")
    func identicalReportGoesOutOnceIn24HoursNotWhileOneWaitsNotWithinADay() throws {
        var random = SeededGenerator(seed: 1)
        var queue = ReportQueue()
        let report = try Scene.report()
        #expect(queue.add(report, at: Scene.start) == .waiting)
        #expect(queue.add(report, at: self.later(30)) == .identical)
        let delivery = try #require(queue.due(at: self.later(30)))
        #expect(delivery.body == report.body)
        #expect(delivery.address == Scene.collector)
        queue.settle(delivery, .delivered, at: self.later(30), using: &random)
        #expect(queue.due(at: self.later(30)) == nil)
        #expect(queue.nextDue(at: self.later(30)) == nil)
        #expect(queue.add(report, at: self.later(54, -1)) == .identical)
        var restarted = try ReportQueue(queue.bytes)
        #expect(restarted.add(report, at: self.later(54, -1)) == .identical)
        #expect(restarted.add(report, at: self.later(54)) == .waiting)
        #expect(queue.droppedCount == 0)
    }

    @Test("64 wait; the newest is dropped and counted, and the oldest is sent first")
    func of64WaitTheNewestIsDroppedAndCountedAndTheOldestIsSentFirst() throws {
        var queue = ReportQueue()
        let reports = try self.reports(70)
        let additions = reports.map { queue.add($0, at: Scene.start) }
        #expect(
            additions == [ReportQueue.Addition](repeating: .waiting, count: 64)
                + [ReportQueue.Addition](repeating: .dropped, count: 6))
        #expect(queue.count == 64)
        #expect(queue.droppedCount == 6)
        #expect(queue.due(at: Scene.start)?.identity == reports[0].identity)
    }

    @Test("the first of a noted host and reason takes the place of the newest that is no first")
    func firstOfANotedHostAndReasonTakesThePlaceOfTheNewestThatIsNoFirst() throws {
        var queue = ReportQueue()
        let reports = try self.reports(64)
        for report in reports { _ = queue.add(report, at: Scene.start) }
        let other = try Scene.report("other.example.com")
        #expect(queue.add(other, at: Scene.start) == .waiting)
        #expect(queue.count == 64)
        #expect(queue.droppedCount == 1)
        // The second one of that host is no first any more.
        #expect(queue.add(try self.reports(1, host: "other.example.com")[0], at: Scene.start) == .dropped)
        #expect(queue.add(reports[63], at: Scene.start) == .dropped, "it was the one that went")
        #expect(queue.add(reports[0], at: Scene.start) == .identical, "the first of all is still there")
    }

    @Test("where all are firsts, more firsts wait without their certificates; nothing else does")
    func whereAllAreFirstsMoreFirstsWaitWithoutTheirCertificatesNothingElseDoes() throws {
        var queue = ReportQueue()
        for number in 0..<200 {
            #expect(queue.add(try Scene.report("h\(number).example.com"), at: Scene.start) == .waiting)
        }
        #expect(queue.count == 200)
        #expect(queue.add(try self.reports(1, host: "h0.example.com")[0], at: Scene.start) == .dropped)
        #expect(try ReportQueue(queue.bytes) == queue)
        var random = SeededGenerator(seed: 1)
        var brief = 0
        while let delivery = queue.due(at: Scene.start) {
            if String(decoding: delivery.body, as: UTF8.self).contains(#""served-certificate-chain":[]"#) { brief += 1 }
            queue.settle(delivery, .delivered, at: Scene.start, using: &random)
        }
        #expect(brief == 136)
        #expect(queue.count == 0)
    }

    @Test("hosts that no entry covers are one kind: a page that chooses them does not choose how many wait")
    func hostsThatNoEntryCoversAreOneKindAPageThatChoosesThemDoesNotChooseHowManyWait() throws {
        var queue = ReportQueue()
        for number in 0..<500 {
            let decision = try Scene.decision("h\(number).example.org", entries: [], unlisted: .deny)
            let report = try #require(
                Report(
                    decision, port: 443, served: [], isWebView: false, list: Scene.list, app: Scene.app, at: Scene.start
                ))
            _ = queue.add(report, at: Scene.start)
        }
        #expect(queue.count == 64)
        #expect(queue.droppedCount == 436)
    }

    @Test("who makes a new name for each connection does not choose how much is sent in a day")
    func whoMakesANewNameForEachConnectionDoesNotChooseHowMuchIsSentInADay() throws {
        var random = SeededGenerator(seed: 1)
        var queue = ReportQueue()
        var sent = 0
        for report in try self.reports(300) {
            _ = queue.add(report, at: Scene.start)
            while let delivery = queue.due(at: Scene.start) {
                sent += 1
                queue.settle(delivery, .delivered, at: Scene.start, using: &random)
            }
        }
        #expect(sent == 256)
        // A first goes out all the same, and a day later there is room again.
        #expect(queue.add(try Scene.report("other.example.com"), at: Scene.start) == .waiting)
        #expect(queue.add(try self.reports(301)[300], at: self.later(24)) == .waiting)
    }

    @Test("also of firsts a day has an end, and what is stored then can be read")
    func alsoOfFirstsADayHasAnEndAndWhatIsStoredThenCanBeRead() throws {
        var random = SeededGenerator(seed: 1)
        var queue = ReportQueue()
        var sent = 0
        for number in 0..<ReportLimits.known + 20 {
            _ = queue.add(try Scene.report("h\(number).example.com"), at: Scene.start)
            guard let delivery = queue.due(at: Scene.start) else { continue }
            sent += 1
            queue.settle(delivery, .delivered, at: Scene.start, using: &random)
        }
        #expect(sent == ReportLimits.known)
        #expect(queue.droppedCount == 20)
        #expect(try ReportQueue(queue.bytes) == queue)
        #expect(queue.add(try Scene.report("another.example.com"), at: self.later(24)) == .waiting)
    }

    @Test("failures: windows from 2 minutes to 4 hours, a random part of each; a success forgets them")
    func failuresWindowsFrom2MinutesTo4HoursARandomPartOfEachASuccessForgetsThem() throws {
        var largest: [Int64] = [Int64](repeating: 0, count: 12)
        var smallest: [Int64] = [Int64](repeating: .max, count: 12)
        let windows: [Int64] = [120, 240, 480, 960, 1_920, 3_840, 7_680, 14_400, 14_400, 14_400, 14_400, 14_400]
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var queue = ReportQueue()
            _ = queue.add(try Scene.report(), at: Scene.start)
            var now = Scene.start
            for attempt in windows.indices {
                let delivery = try #require(queue.due(at: now))
                queue.settle(delivery, .failed(retryAfter: nil), at: now, using: &random)
                let next = try #require(queue.nextDue(at: now))
                let wait = next.secondsSince1970 - now.secondsSince1970
                largest[attempt] = max(largest[attempt], wait)
                smallest[attempt] = min(smallest[attempt], wait)
                if wait > 0 { #expect(queue.due(at: next.advanced(by: -1)) == nil) }
                now = next
            }
            queue.settle(try #require(queue.due(at: now)), .delivered, at: now, using: &random)
            #expect(queue.count == 0)
        }
        for (attempt, window) in windows.enumerated() {
            #expect(largest[attempt] <= window)
            #expect(largest[attempt] > window * 9 / 10, "the whole window is used")
            #expect(smallest[attempt] < window / 10)
        }
    }

    @Test(
        "Retry-After is honoured, up to a day",
        arguments: [(600, 600), (86_400, 86_400), (1_000_000, 86_400), (.max, 86_400)] as [(Int64, Int64)])
    func retryAfterIsHonouredUpToADay(asked: Int64, atLeast: Int64) throws {
        for seed in 0..<20 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var queue = ReportQueue()
            _ = queue.add(try Scene.report(), at: Scene.start)
            queue.settle(
                try #require(queue.due(at: Scene.start)), .failed(retryAfter: asked), at: Scene.start, using: &random)
            let wait = try #require(queue.nextDue(at: Scene.start)).secondsSince1970 - Scene.start.secondsSince1970
            #expect(wait == atLeast)
        }
    }

    @Test("an attempt counts as failed until it is settled, over a restart too")
    func attemptCountsAsFailedUntilItIsSettledOverARestartToo() throws {
        var random = SeededGenerator(seed: 4)
        var queue = ReportQueue()
        _ = queue.add(try Scene.report(), at: Scene.start)
        var now = Scene.start
        for attempt in 1...3 {
            queue.begin(try #require(queue.due(at: now)), at: now, using: &random)
            // The process ends here, and another one begins with what was stored.
            queue = try ReportQueue(queue.bytes)
            #expect(queue.backoffs.values.map(\.failures) == [attempt])
            now = try #require(queue.nextDue(at: now))
        }
        let delivery = try #require(queue.due(at: now))
        queue.begin(delivery, at: now, using: &random)
        queue.settle(delivery, .failed(retryAfter: 600), at: now, using: &random)
        #expect(queue.backoffs.values.map(\.failures) == [4])
        queue.settle(delivery, .delivered, at: now, using: &random)
        #expect(queue.backoffs.isEmpty && queue.count == 0)
    }

    @Test("a negative Retry-After is none, and no clock ends the process", arguments: [Int64.min, 0, .max])
    func negativeRetryAfterIsNoneAndNoClockEndsTheProcess(seconds: Int64) throws {
        var random = SeededGenerator(seed: 4)
        var queue = ReportQueue()
        let now = Timestamp(secondsSince1970: seconds)
        _ = queue.add(try Scene.report(), at: now)
        queue.settle(try #require(queue.due(at: now)), .failed(retryAfter: .min), at: now, using: &random)
        let next = try #require(queue.nextDue(at: now))
        #expect(next >= now)
        queue.settle(try #require(queue.due(at: next)), .delivered, at: next, using: &random)
        #expect(try ReportQueue(queue.bytes) == queue)
    }

    @Test("a clock that was ahead and is set back silences nothing", arguments: [1, 100_000] as [Int64])
    func clockThatWasAheadAndIsSetBackSilencesNothing(hours: Int64) throws {
        var random = SeededGenerator(seed: 4)
        var queue = ReportQueue()
        let ahead = self.later(hours)
        let report = try Scene.report()
        _ = queue.add(report, at: ahead)
        queue.settle(try #require(queue.due(at: ahead)), .failed(retryAfter: 3_600), at: ahead, using: &random)
        #expect(queue.due(at: ahead) == nil)
        #expect(queue.nextDue(at: Scene.start) == Scene.start)
        let due = try #require(queue.due(at: Scene.start))
        // While it waits, the wait does not grow.
        var waiting = queue
        waiting.settle(due, .failed(retryAfter: 3_600), at: Scene.start, using: &random)
        let next = try #require(waiting.nextDue(at: Scene.start))
        #expect(waiting.nextDue(at: self.later(0, 1_800)) == next)
        #expect(waiting.due(at: next)?.identity == due.identity)
        queue.settle(due, .delivered, at: ahead, using: &random)
        #expect(queue.add(report, at: ahead) == .identical)
        #expect(queue.add(report, at: Scene.start) == .waiting)
    }

    @Test("a report goes to each of its addresses; one that is gone holds up neither the other nor other reports")
    func reportGoesToEachOfItsAddresses() throws {
        var random = SeededGenerator(seed: 4)
        var queue = ReportQueue()
        var entry = try Scene.entry("api.example.com")
        let gone = "https://gone.example.com/"
        entry.reportTo = [gone, Scene.collector]
        let decision = try Scene.decision("api.example.com", entries: [entry])
        let report = try #require(
            Report(
                decision, port: 443, served: [], isWebView: false, list: Scene.list, app: Scene.app, at: Scene.start))
        _ = queue.add(report, at: Scene.start)
        _ = queue.add(try Scene.report("other.example.com"), at: Scene.start)
        var addresses: [String] = []
        while let delivery = queue.due(at: Scene.start) {
            addresses.append(delivery.address)
            let outcome: ReportQueue.Outcome = delivery.address == gone ? .failed(retryAfter: 60) : .delivered
            queue.settle(delivery, outcome, at: Scene.start, using: &random)
        }
        #expect(addresses == [gone, Scene.collector, Scene.collector])
        #expect(queue.count == 1)
        let restarted = try ReportQueue(queue.bytes)
        #expect(restarted == queue)
        #expect(restarted.due(at: Scene.start) == nil)
        #expect(restarted.due(at: self.later(1))?.address == gone)
    }

    @Test("what a collector will never take is given up; what it settles twice changes nothing")
    func whatACollectorWillNeverTakeIsGivenUpWhatItSettlesTwiceChangesNothing() throws {
        var random = SeededGenerator(seed: 4)
        var queue = ReportQueue()
        _ = queue.add(try Scene.report(), at: Scene.start)
        let delivery = try #require(queue.due(at: Scene.start))
        queue.settle(delivery, .refused, at: Scene.start, using: &random)
        #expect(queue.count == 0)
        let settled = queue
        queue.settle(delivery, .failed(retryAfter: nil), at: Scene.start, using: &random)
        queue.settle(delivery, .delivered, at: Scene.start, using: &random)
        #expect(queue == settled)
    }

    @Test("very large envelopes: their evidence goes, the incidents stay, and the whole stays within its bytes")
    func veryLargeEnvelopesTheirEvidenceGoesTheIncidentsStay() throws {
        var queue = ReportQueue()
        let envelope = [UInt8](repeating: 1, count: 4_000_000)
        let codes: [MetadataError.Code] = [.rollback, .equivocation, .expired, .issuedInFuture]
        for code in codes {
            var refusal = MetadataError(.pins, code, "x")
            refusal.isSigned = true
            let report = try #require(Report(refusal, of: envelope, list: Scene.list, app: Scene.app, at: Scene.start))
            #expect(report.body.count > 5_000_000)
            #expect(queue.add(report, at: Scene.start) == .waiting)
        }
        let bytes = queue.bytes
        #expect(bytes.count > 15_000_000)
        #expect(bytes.count < ReportLimits.waitingBytes)
        #expect(try ReportQueue(bytes) == queue)
    }
}

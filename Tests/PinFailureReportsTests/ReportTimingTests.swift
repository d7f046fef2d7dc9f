// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinFailureReports

@Suite("When a report goes out, and how old it may become")
struct ReportTimingTests {
    private static let day: Int64 = 86_400

    private func later(_ seconds: Int64) -> Timestamp { Scene.start.advanced(by: seconds) }

    /// The report of an issuer of its own.
    private func report(
        _ issuer: UInt8, list version: Int64 = 7, under root: Int64 = 1, to address: String? = nil
    ) throws -> Report {
        var list = Scene.list
        list.version = version
        list.root = root
        var entry = try Scene.entry("api.example.com")
        if let address { entry.reportTo = [address] }
        let chain = Scene.chain(issuerKey: issuer)
        return try #require(
            Report(
                Scene.decision("api.example.com", entries: [entry], chain: chain), port: 443, served: chain,
                isWebView: false, list: list, app: Scene.app, at: Scene.start))
    }

    @Test("a report waits before it is first sent, over a restart, and goes out at once when its time has passed")
    func reportWaitsBeforeItIsFirstSentOverARestart() throws {
        var queue = ReportQueue()
        #expect(queue.add(try self.report(1), at: Scene.start, after: 40) == .waiting)
        #expect(queue.due(at: Scene.start) == nil)
        #expect(queue.nextDue(at: Scene.start) == self.later(40))
        let stored = try ReportQueue(queue.bytes)
        #expect(stored == queue)
        #expect(stored.due(at: self.later(39)) == nil)
        #expect(stored.due(at: self.later(40)) != nil)
        #expect(stored.nextDue(at: self.later(5 * Self.day)) == self.later(5 * Self.day))
    }

    @Test(
        "no report waits for longer than a minute, for any number that was drawn", arguments: [Int64.min, -1, 61, .max])
    func noReportWaitsForLongerThanAMinuteForAnyNumberThatWasDrawn(wait: Int64) throws {
        var queue = ReportQueue()
        _ = queue.add(try self.report(1), at: Scene.start, after: wait)
        #expect(queue.nextDue(at: Scene.start) == self.later(min(max(wait, 0), 60)))
    }

    @Test("a clock set back does not make it wait for a year")
    func clockSetBackDoesNotMakeItWaitForAYear() throws {
        var queue = ReportQueue()
        _ = queue.add(try self.report(1), at: self.later(365 * Self.day), after: 30)
        _ = queue.add(try self.report(2), at: self.later(365 * Self.day), after: 30)
        var restarted = try ReportQueue(queue.bytes)
        #expect(restarted.nextDue(at: Scene.start) == Scene.start)
        #expect(restarted.due(at: Scene.start) != nil)
        // The second is no first: it gets old from now on, not from a year that has not come.
        restarted.forget(at: Scene.start)
        restarted.forget(at: self.later(Self.day))
        #expect(restarted.count == 2)
        restarted.forget(at: self.later(Self.day + 1))
        #expect(restarted.count == 1)
    }

    /// A waiting report that must not go out before `firstAt`, and a backoff of its address; seconds after the start.
    private func stored(firstAt: Int64, failedAt: Int64, notBefore: Int64) throws -> ReportQueue {
        var queue = ReportQueue()
        _ = queue.add(try self.report(1), at: Scene.start)
        queue.waiting[0].firstAt = self.later(firstAt)
        queue.backoffs[Scene.collector] = ReportBackoff(
            failures: 1, failedAt: self.later(failedAt), notBefore: self.later(notBefore))
        return queue
    }

    @Test("a time that a clock ahead noted and that comes true: the next delivery is due when the queue says so")
    func timeThatAClockAheadNotedAndThatComesTrue() throws {
        // At the start `firstAt` is too far ahead to count. When the backoff is over, it counts.
        let first = try self.stored(firstAt: 120, failedAt: 0, notBefore: 70)
        #expect(first.nextDue(at: Scene.start) == self.later(120))
        // The same with a backoff from a failure that was noted ahead.
        let backoff = try self.stored(firstAt: 40, failedAt: 30, notBefore: 900)
        #expect(backoff.nextDue(at: Scene.start) == self.later(900))
        for queue in [first, backoff] {
            let due = try #require(queue.nextDue(at: Scene.start))
            #expect(queue.due(at: due) != nil)
        }
    }

    @Test("a report older than a day is dropped and counted; the first of its kind waits for as long as it takes")
    func reportOlderThanADayIsDroppedAndCounted() throws {
        var random = SeededGenerator(seed: 2)
        var queue = ReportQueue()
        let gone = "https://gone.example.com/"
        _ = queue.add(try self.report(1), at: Scene.start)
        _ = queue.add(try self.report(2, to: gone), at: Scene.start)
        // What nothing goes to any more leaves no backoff behind: a file with one would be damaged.
        let delivery = try #require(queue.waiting.last)
        let other = ReportQueue.Delivery(identity: delivery.identity, address: gone, body: delivery.body, attempt: 1)
        queue.settle(other, .failed(retryAfter: nil), at: Scene.start, using: &random)
        queue.forget(at: self.later(Self.day))
        #expect(queue.count == 2 && queue.droppedCount == 0 && queue.backoffs.count == 1)
        queue.forget(at: self.later(Self.day + 1))
        #expect(queue.count == 1 && queue.droppedCount == 1 && queue.backoffs.isEmpty)
        #expect(try ReportQueue(queue.bytes) == queue)
        queue.forget(at: self.later(400 * Self.day))
        #expect(queue.due(at: self.later(400 * Self.day))?.identity == (try self.report(1)).identity)
    }

    @Test("identical failures under a newer list are one report, which carries the newest and goes where that one says")
    func identicalFailuresUnderANewerListAreOneReport() throws {
        var random = SeededGenerator(seed: 2)
        var queue = ReportQueue()
        let wrong = "https://wrong.example.com/"
        _ = queue.add(try self.report(1, list: 7, to: wrong), at: Scene.start, after: 20)
        let attempt = try #require(queue.due(at: self.later(20)))
        queue.begin(attempt, at: self.later(20), using: &random)
        let newer = try self.report(1, list: 8)
        #expect(queue.add(newer, at: self.later(30), after: 60) == .identical)
        #expect(queue.count == 1)
        var delivery = try #require(queue.due(at: self.later(30)), "it keeps its place and its time")
        #expect(delivery.body == newer.body && delivery.address == Scene.collector)
        #expect(try ReportQueue(queue.bytes) == queue)
        // An older list, which a root that removes a signer may bring back, takes nothing away.
        #expect(queue.add(try self.report(1, list: 6), at: self.later(31)) == .identical)
        delivery = try #require(queue.due(at: self.later(31)))
        #expect(delivery.body == newer.body)
        queue.settle(delivery, .delivered, at: self.later(31), using: &random)
        #expect(queue.add(try self.report(1, list: 9), at: self.later(40)) == .identical, "it went out today")
    }

    @Test(
        "a report goes where the list says that recovers from a stolen key's, though its version is lower, or the same",
        arguments: [2, 1_000_000] as [Int64])
    func reportGoesWhereTheListSaysThatRecoversFromAStolenKeys(version: Int64) throws {
        var queue = ReportQueue()
        let stolen = try self.report(1, list: 1_000_000, under: 2, to: "https://wrong.example.com/")
        _ = queue.add(stolen, at: Scene.start)
        // Under the root that revokes, the attacker's list stays in force until there is another: nothing is new.
        let superseded = try self.report(1, list: 1_000_000, under: 0, to: "https://other.example.com/")
        #expect(queue.add(superseded, at: self.later(1)) == .identical)
        #expect(queue.due(at: self.later(1))?.address == "https://wrong.example.com/")
        let recovered = try self.report(1, list: version, under: 3)
        #expect(queue.add(recovered, at: self.later(2)) == .identical)
        #expect(try ReportQueue(queue.bytes) == queue)
        // An attacker's report of before takes nothing back, over a restart either.
        var restarted = try ReportQueue(queue.bytes)
        #expect(restarted.add(stolen, at: self.later(3)) == .identical)
        let delivery = try #require(restarted.due(at: self.later(3)))
        #expect(delivery.body == recovered.body && delivery.address == Scene.collector)
    }

    @Test("a report that leaves for a first takes its backoff along: what is stored then can be read")
    func reportThatLeavesForAFirstTakesItsBackoffAlongWhatIsStoredThenCanBeRead() throws {
        var random = SeededGenerator(seed: 2)
        var queue = ReportQueue()
        for issuer in 1...64 { _ = queue.add(try self.report(UInt8(issuer)), at: Scene.start) }
        let gone = "https://gone.example.com/"
        queue.waiting[63].addresses = [gone]
        let last = ReportQueue.Delivery(
            identity: queue.waiting[63].identity, address: gone, body: queue.waiting[63].body, attempt: 1)
        queue.begin(last, at: Scene.start, using: &random)
        #expect(queue.add(try Scene.report("other.example.com"), at: Scene.start) == .waiting)
        #expect(try ReportQueue(queue.bytes) == queue)
    }

    /// A queue as a client of before stored it, without times and versions: one report waits, one went out.
    private static let older = #"""
        {"schema":1,"dropped":3,"waiting":[{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","kind":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","first":false,"addresses":["https://reports.example.com/v1/reports"],"body":"{\"date-time\":\"2026-11-20T23:00:00Z\",\"hostname\":\"api.example.com\"}"}],"sent":[{"id":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","kind":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","at":1795219000}],"backoffs":[{"address":"https://reports.example.com/v1/reports","failures":2,"failedAt":1795219100,"notBefore":1795219300}]}
        """#

    @Test("a queue that an older client stored is read, sent by its backoff, and gets old from now on")
    func queueThatAnOlderClientStoredIsReadSentByItsBackoffAndGetsOldFromNowOn() throws {
        var queue = try ReportQueue(Array(Self.older.utf8))
        #expect(queue.count == 1 && queue.droppedCount == 3)
        #expect(String(decoding: queue.bytes, as: UTF8.self) == Self.older, "nothing is made up for it")
        #expect(queue.nextDue(at: Scene.start) == self.later(100))
        #expect(queue.due(at: self.later(100))?.address == Scene.collector)
        queue.forget(at: Scene.start)
        queue.forget(at: self.later(Self.day))
        #expect(try ReportQueue(queue.bytes) == queue && queue.count == 1)
        queue.forget(at: self.later(Self.day + 1))
        #expect(queue.count == 0)
    }

    @Test(
        "a stored time or version of another type is damage",
        arguments: ["\"addedAt\":\"x\"", "\"firstAt\":null", "\"list\":true", "\"root\":-1"])
    func storedTimeOrVersionOfAnotherTypeIsDamage(member: String) throws {
        let text = Self.older.replacingOccurrences(of: "\"first\":false", with: "\"first\":false,\(member)")
        #expect(throws: ReportQueue.StateError.self) { try ReportQueue(Array(text.utf8)) }
    }
}

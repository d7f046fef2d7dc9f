// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

@testable import PinFailureReports

@Suite("Queues of an app and its extension, which share one file")
struct ReportMergingTests {
    private static let day: Int64 = 86_400

    private func later(_ seconds: Int64) -> Timestamp { Scene.start.advanced(by: seconds) }

    /// The report of an issuer of its own.
    private func report(
        _ issuer: Int, host: String = "api.example.com", list version: Int64 = 7, under root: Int64 = 1,
        to addresses: [String]? = nil
    ) throws -> Report {
        var list = Scene.list
        list.version = version
        list.root = root
        var entry = try Scene.entry(host)
        if let addresses { entry.reportTo = addresses }
        let key = [UInt8(issuer & 255), UInt8(issuer >> 8)]
        let chain = [Scene.chain()[0], Scene.certificate(subject: [2], issuer: [2], key: key)]
        return try #require(
            Report(
                Scene.decision(host, entries: [entry], chain: chain), port: 443, served: chain, isWebView: false,
                list: list, app: Scene.app, at: Scene.start))
    }

    /// Two processes with one file: each has what it last wrote or read, and merges before it writes.
    private struct Processes {
        var queues: [ReportQueue]
        var known: [ReportQueue]
        var file: [UInt8]

        /// Processes that have just read a file.
        init(_ stored: ReportQueue = ReportQueue(), count: Int = 2) {
            self.queues = [ReportQueue](repeating: stored, count: count)
            self.known = self.queues
            self.file = stored.bytes
        }

        /// One process changes its queue under the lock of the file.
        mutating func change(_ index: Int, at now: Timestamp, by deed: (inout ReportQueue) -> Void = { _ in }) throws {
            self.queues[index].merge(try ReportQueue(self.file), since: self.known[index], at: now)
            deed(&self.queues[index])
            self.file = self.queues[index].bytes
            self.known[index] = self.queues[index]
        }

        var stored: ReportQueue { get throws { try ReportQueue(self.file) } }
    }

    @Test("what both added waits in the file, that of the first first, and an identical one once")
    func whatBothAddedWaitsInTheFile() throws {
        var processes = Processes()
        let (mine, shared, theirs) = (try self.report(1), try self.report(2), try self.report(3))
        // Added while the file could not be had.
        for report in [mine, shared] { _ = processes.queues[0].add(report, at: Scene.start) }
        for report in [shared, theirs] { _ = processes.queues[1].add(report, at: Scene.start) }
        try processes.change(0, at: self.later(1))
        try processes.change(1, at: self.later(2))
        let stored = try processes.stored
        #expect(stored.waiting.map(\.identity) == [mine, shared, theirs].map(\.identity))
        #expect(stored.waiting.map(\.isFirst) == [true, false, false])
        #expect(stored.droppedCount == 0)
        // Nothing new: the other one only learns of it.
        try processes.change(0, at: self.later(3))
        #expect(try processes.queues[0] == stored && processes.stored == stored)
    }

    @Test("what one sent is not sent by the other, also where that one had it waiting for a day and more")
    func whatOneSentIsNotSentByTheOther() throws {
        for wait in [1, Self.day + 100] {
            var random = SeededGenerator(seed: 3)
            var queue = ReportQueue()
            _ = queue.add(try self.report(1), at: Scene.start)
            var processes = Processes(queue)
            try processes.change(0, at: Scene.start) { queue in
                guard let delivery = queue.due(at: Scene.start) else { return }
                queue.settle(delivery, .delivered, at: Scene.start, using: &random)
            }
            try processes.change(0, at: self.later(wait))
            // The other slept, with the report in memory.
            try processes.change(1, at: self.later(wait))
            #expect(processes.queues[1].count == 0)
            #expect(try processes.stored.count == 0)
            // It has the same failure itself.
            _ = processes.queues[1].add(try self.report(1), at: self.later(wait))
            try processes.change(1, at: self.later(wait))
            #expect(try processes.stored.count == (wait == 1 ? 0 : 1))
        }
    }

    @Test("what one sent, but could not note in the file, is not sent by it again after the other wrote")
    func whatOneSentButCouldNotNoteIsNotSentAgain() throws {
        var random = SeededGenerator(seed: 3)
        var queue = ReportQueue()
        let other = try self.report(2)
        _ = queue.add(try self.report(1), at: Scene.start)
        var processes = Processes(queue)
        let delivery = try #require(processes.queues[0].due(at: Scene.start))
        processes.queues[0].settle(delivery, .delivered, at: Scene.start, using: &random)
        try processes.change(1, at: Scene.start) { _ = $0.add(other, at: Scene.start) }
        try processes.change(0, at: self.later(1))
        let stored = try processes.stored
        #expect(stored.waiting.map(\.identity) == [other.identity])
        #expect(stored.sent.map(\.identity) == [delivery.identity])
        // With a clock that was ahead then it counts as not sent, and still does not wait any more.
        var ahead = Processes(queue)
        ahead.queues[0].settle(delivery, .delivered, at: self.later(7 * Self.day), using: &random)
        try ahead.change(1, at: Scene.start) { _ = $0.add(other, at: Scene.start) }
        try ahead.change(0, at: self.later(1))
        #expect(try ahead.stored.waiting.map(\.identity) == [other.identity])
    }

    @Test("a report with several addresses goes to each of them once, whoever sends it there")
    func reportWithSeveralAddressesGoesToEachOfThemOnce() throws {
        var random = SeededGenerator(seed: 3)
        let addresses = ["https://a.example.com/", "https://b.example.com/", "https://c.example.com/"]
        var queue = ReportQueue()
        _ = queue.add(try self.report(1, to: addresses), at: Scene.start)
        var processes = Processes(queue)
        let identity = try self.report(1).identity
        func settle(_ process: Int, _ address: String) {
            let delivery = ReportQueue.Delivery(identity: identity, address: address, body: [], attempt: 1)
            processes.queues[process].settle(delivery, .delivered, at: Scene.start, using: &random)
        }
        settle(0, addresses[0])
        settle(1, addresses[1])
        try processes.change(0, at: Scene.start)
        try processes.change(1, at: Scene.start)
        #expect(try processes.stored.waiting.map(\.addresses) == [[addresses[2]]])
        settle(1, addresses[2])
        try processes.change(1, at: Scene.start)
        try processes.change(0, at: Scene.start)
        #expect(processes.queues[0].count == 0 && processes.queues[0].sent.map(\.identity) == [identity])
        // Both halves at once: nothing is left, and that is what was sent.
        var halves = ReportQueue()
        _ = halves.add(try self.report(1, to: [addresses[0], addresses[1]]), at: Scene.start)
        processes = Processes(halves)
        settle(0, addresses[0])
        settle(1, addresses[1])
        try processes.change(0, at: Scene.start)
        try processes.change(1, at: Scene.start)
        #expect(try processes.stored.count == 0)
        #expect(try processes.stored.sent.map(\.identity) == [identity])
    }

    @Test(
        "of identical ones the one of the newest list stays, with all its addresses, on whichever side it is",
        arguments: [(8, 1), (2, 3)] as [(Int64, Int64)])
    func ofIdenticalOnesTheOneOfTheNewestListStays(version: Int64, root: Int64) throws {
        let addresses = ["https://a.example.com/", "https://b.example.com/"]
        let newer = try self.report(1, list: version, under: root, to: addresses)
        let other = try self.report(2)
        for process in 0...1 {
            var queue = ReportQueue()
            _ = queue.add(try self.report(1), at: Scene.start)
            var processes = Processes(queue)
            _ = processes.queues[process].add(newer, at: self.later(1))
            try processes.change(0, at: self.later(2)) { _ = $0.add(other, at: self.later(2)) }
            try processes.change(1, at: self.later(3))
            let stored = try processes.stored
            #expect(stored.waiting.map(\.body) == [newer.body, other.body])
            #expect(stored.waiting.map(\.addresses) == [newer.addresses, other.addresses])
            #expect(stored.waiting.map(\.addedAt) == [Scene.start, self.later(2)])
        }
    }

    @Test("both full: as many wait as may, the first of a kind among them, and the rest is counted")
    func bothFullAsManyWaitAsMayTheFirstOfAKindAmongThem() throws {
        var processes = Processes()
        for number in 0..<64 {
            _ = processes.queues[0].add(try self.report(number), at: Scene.start)
            _ = processes.queues[1].add(try self.report(1_000 + number), at: Scene.start)
        }
        let other = try self.report(1, host: "other.example.com")
        #expect(processes.queues[1].add(other, at: Scene.start) == .waiting)
        try processes.change(0, at: self.later(1))
        try processes.change(1, at: self.later(1))
        let stored = try processes.stored
        #expect(stored.count == 64)
        #expect(stored.waiting.contains { $0.identity == other.identity && $0.isFirst })
        #expect(stored.waiting.count(where: \.isFirst) == 2)
        // 129 were added.
        #expect(stored.droppedCount == 65)
        // What left for the first does not come back from the other's memory.
        try processes.change(0, at: self.later(2))
        #expect(try processes.stored == stored)
    }

    @Test("more firsts than 64 in both wait without certificates, and all went into a file that can be read")
    func moreFirstsThan64InBothWaitWithoutCertificates() throws {
        var processes = Processes()
        for number in 0..<60 {
            _ = processes.queues[0].add(try self.report(1, host: "a\(number).example.com"), at: Scene.start)
            _ = processes.queues[1].add(try self.report(1, host: "b\(number).example.com"), at: Scene.start)
        }
        try processes.change(0, at: self.later(1))
        try processes.change(1, at: self.later(1))
        let stored = try processes.stored
        #expect(stored.count == 120 && stored.waiting.allSatisfy(\.isFirst))
        let brief = stored.waiting.filter {
            String(decoding: $0.body, as: UTF8.self).contains(#""served-certificate-chain":[]"#)
        }
        #expect(brief.count == 56)
        #expect(brief.last?.body == (try self.report(1, host: "b59.example.com")).briefBody)
    }

    @Test("as many as two processes can have sent in a day are still a file that can be read")
    func asManyAsTwoProcessesCanHaveSentInADay() throws {
        var processes = Processes()
        for process in 0...1 {
            processes.queues[process].sent = (0..<ReportLimits.known).map { number in
                let digits = String(4_096 + 2 * number + process, radix: 16)
                let id = String(repeating: "0", count: ReportIdentity.length - digits.count) + digits
                return ReportQueue.Sent(identity: ReportIdentity(id: id, kind: id), time: Scene.start)
            }
        }
        try processes.change(0, at: self.later(1))
        try processes.change(1, at: self.later(1))
        #expect(try processes.stored.sent.count == ReportLimits.known)
        #expect(processes.queues[1].add(try self.report(1), at: self.later(2)) == .dropped)
    }

    @Test("an attempt of one holds the other back until the server has answered; of two failures the longer wait holds")
    func attemptOfOneHoldsTheOtherBackUntilTheServerHasAnswered() throws {
        var random = SeededGenerator(seed: 4)
        var queue = ReportQueue()
        for number in 1...3 { _ = queue.add(try self.report(number), at: Scene.start) }
        var processes = Processes(queue)
        let first = try #require(queue.due(at: Scene.start))
        try processes.change(0, at: Scene.start) { $0.begin(first, at: Scene.start, using: &random) }
        try processes.change(1, at: Scene.start)
        #expect(processes.queues[1].due(at: Scene.start) == nil)
        let next = try #require(processes.queues[1].nextDue(at: Scene.start))
        // The first attempt is long: the second process begins one of its own.
        let second = try #require(processes.queues[1].due(at: next))
        try processes.change(1, at: next) { $0.begin(second, at: next, using: &random) }
        try processes.change(0, at: next) { $0.settle(first, .delivered, at: next, using: &random) }
        #expect(try processes.stored.backoffs.isEmpty)
        // A failure that was not stored yet, and one of the other: the longer wait holds.
        for (process, asked) in [(0, 900), (1, 300)] as [(Int, Int64)] {
            processes.queues[process].settle(second, .failed(retryAfter: asked), at: next, using: &random)
        }
        try processes.change(0, at: next)
        try processes.change(1, at: next)
        #expect(try processes.stored.nextDue(at: next) == next.advanced(by: 900))
    }

    @Test("an attempt holds the other process back for as long as a request takes, for any number that was drawn")
    func attemptHoldsTheOtherProcessBackForAsLongAsARequestTakes() throws {
        for seed in 0..<50 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var queue = ReportQueue()
            _ = queue.add(try self.report(1), at: Scene.start)
            var processes = Processes(queue)
            let delivery = try #require(queue.due(at: Scene.start))
            try processes.change(0, at: Scene.start) { $0.begin(delivery, at: Scene.start, using: &random) }
            let last = self.later(ReportLimits.attempt - 1)
            try processes.change(1, at: last)
            #expect(processes.queues[1].due(at: last) == nil)
            let next = try #require(processes.queues[1].nextDue(at: last))
            let backoff = self.later(ReportLimits.attempt + ReportLimits.firstWindow)
            #expect(next > last && next <= backoff)
        }
    }

    @Test("a failure that comes again after a day is new, though one process has the earlier one, or the file")
    func failureThatComesAgainAfterADayIsNew() throws {
        let (first, other) = (try self.report(1), try self.report(2))
        let again = self.later(Self.day + 10)
        func queues() -> Processes {
            var queue = ReportQueue()
            for report in [first, other] { _ = queue.add(report, at: Scene.start) }
            return Processes(queue)
        }
        // One process stored it; the other slept with the earlier one in memory.
        var processes = queues()
        try processes.change(0, at: again) { _ = $0.add(other, at: again) }
        try processes.change(1, at: again.advanced(by: 10))
        #expect(try processes.stored.waiting.map(\.addedAt) == [Scene.start, again])
        // It was added while the file, which has the earlier one and another process's since, could not be had.
        processes = queues()
        let third = try self.report(3)
        try processes.change(0, at: self.later(1)) { _ = $0.add(third, at: self.later(1)) }
        _ = processes.queues[1].add(other, at: again)
        try processes.change(1, at: again.advanced(by: 10))
        #expect(try processes.stored.waiting.map(\.addedAt) == [Scene.start, again])
        // It comes from a handshake.
        var (queue, arrived) = (queues().queues[0], ReportQueue())
        _ = arrived.add(other, at: again)
        queue.add(arrived, at: again)
        #expect(queue.waiting.map(\.addedAt) == [Scene.start, again] && queue.droppedCount == 1)
    }

    @Test("reports of handshakes join a queue as if they were added one by one")
    func reportsOfHandshakesJoinAQueueAsIfTheyWereAddedOneByOne() throws {
        var random = SeededGenerator(seed: 5)
        var queue = ReportQueue()
        for number in 1...70 { _ = queue.add(try self.report(number), at: Scene.start) }
        queue.settle(try #require(queue.due(at: Scene.start)), .delivered, at: Scene.start, using: &random)
        var (oneByOne, arrived) = (queue, ReportQueue())
        let reports = [
            try self.report(1), try self.report(2, list: 9), try self.report(1, host: "other.example.com"),
            try self.report(2, host: "other.example.com"), try self.report(80),
        ]
        for report in reports {
            _ = oneByOne.add(report, at: self.later(9), after: 30)
            _ = arrived.add(report, at: self.later(9), after: 30)
        }
        queue.add(arrived, at: self.later(10))
        oneByOne.forget(at: self.later(10))
        #expect(queue == oneByOne)
    }

    @Test("a report of a process whose clock was ahead gets old from when a process sees it by a clock that is right")
    func reportOfAProcessWhoseClockWasAheadGetsOldFromWhenAProcessSeesItByARightClock() throws {
        var queue = ReportQueue()
        _ = queue.add(try self.report(1), at: Scene.start)
        let ahead = self.later(3_650 * Self.day)
        let other = try self.report(2)
        var processes = Processes(queue)
        try processes.change(0, at: ahead) { _ = $0.add(other, at: ahead) }
        try processes.change(1, at: self.later(7_300)) { $0.forget(at: self.later(7_300)) }
        try processes.change(0, at: self.later(7_400)) { $0.forget(at: self.later(7_400)) }
        #expect(try processes.stored.waiting.map(\.addedAt) == [Scene.start, self.later(7_300)])
        let end = self.later(7_300 + Self.day)
        try processes.change(0, at: end) { $0.forget(at: end) }
        #expect(try processes.stored.count == 2)
        try processes.change(0, at: end.advanced(by: 1)) { $0.forget(at: end.advanced(by: 1)) }
        #expect(try processes.stored.waiting.map(\.addedAt) == [Scene.start])
    }

    @Test(
        "three processes in any order: nothing is lost, what is sent is sent once, and every file can be read",
        arguments: 0..<16 as Range<UInt64>)
    func threeProcessesInAnyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var processes = Processes(count: 3)
        var added: Set<String> = []
        var sent: [String] = []
        var now = Scene.start
        func send(_ queue: inout ReportQueue) {
            guard let delivery = queue.due(at: now) else { return }
            let isTaken = Bool.random(using: &random)
            if isTaken { sent.append(delivery.identity.id) }
            queue.settle(delivery, isTaken ? .delivered : .failed(retryAfter: 20), at: now, using: &random)
        }
        for _ in 0..<60 {
            now = now.advanced(by: Int64.random(in: 0...60, using: &random))
            let process = Int.random(in: 0..<3, using: &random)
            let report = try self.report(Int.random(in: 0..<30, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                // Without the file.
                added.insert(report.identity.id)
                _ = processes.queues[process].add(report, at: now)
            case 1:
                added.insert(report.identity.id)
                try processes.change(process, at: now) { _ = $0.add(report, at: now) }
            default: try processes.change(process, at: now) { send(&$0) }
            }
            #expect(try processes.stored.bytes == processes.file)
        }
        for process in [0, 1, 2, 0] { try processes.change(process, at: now) }
        let stored = try processes.stored
        #expect(Set(sent).count == sent.count)
        #expect(Set(stored.waiting.map(\.identity.id)).union(sent) == added)
        #expect(Set(stored.waiting.map(\.identity.id)).isDisjoint(with: sent))
        #expect(stored.droppedCount == 0)
    }
}

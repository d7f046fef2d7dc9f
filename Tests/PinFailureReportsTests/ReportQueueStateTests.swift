// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListMetadata
import PinningTesting
import Testing

@Suite("The queue survives a restart, and damage to its file")
struct ReportQueueStateTests {
    private func queue() throws -> ReportQueue {
        var random = SeededGenerator(seed: 8)
        var queue = ReportQueue()
        for host in ["a.example.com", "b.example.com", "c.example.com"] {
            _ = queue.add(try Scene.report(host), at: Scene.start)
        }
        queue.settle(try #require(queue.due(at: Scene.start)), .delivered, at: Scene.start, using: &random)
        queue.settle(
            try #require(queue.due(at: Scene.start)), .failed(retryAfter: 900), at: Scene.start, using: &random)
        return queue
    }

    @Test("what is written reads back as the same queue")
    func whatIsWrittenReadsBackAsTheSameQueue() throws {
        #expect(try ReportQueue(ReportQueue().bytes) == ReportQueue())
        let queue = try self.queue()
        let read = try ReportQueue(queue.bytes)
        #expect(read == queue)
        #expect(read.count == 2)
        #expect(read.nextDue(at: Scene.start) == Scene.start.advanced(by: 900))
    }

    @Test("cut at each length, and each byte changed: never a crash, and what is read is a queue within its limits")
    func cutAtEachLengthAndEachByteChangedNeverACrash() throws {
        let bytes = try self.queue().bytes
        var random = SeededGenerator(seed: 3)
        for index in bytes.indices {
            #expect(throws: ReportQueue.StateError.self) { try ReportQueue(Array(bytes.prefix(index))) }
            var changed = bytes
            changed[index] = UInt8(truncatingIfNeeded: random.next())
            guard let read = try? ReportQueue(changed) else { continue }
            #expect(try ReportQueue(read.bytes) == read)
            #expect(read.count == 2)
        }
    }

    @Test(
        "what is no queue",
        arguments: [
            ("\"schema\":1", "\"schema\":2"), ("\"schema\":1", "\"schema\":true"), ("\"dropped\":0", "\"dropped\":-1"),
            ("\"waiting\":[", "\"waiting\":[null,"), ("\"sent\":[", "\"sent\":[{},"),
            ("\"addresses\":[\"https://", "\"addresses\":[\"http://"), ("\"addresses\":[", "\"addresses\":[7,"),
            ("\"addresses\":[\"https://reports.example.com/v1/reports\"]", "\"addresses\":[]"),
            ("\"failures\":1", "\"failures\":0"), ("\"failures\":1", "\"failures\":33"),
            ("\"address\":\"https", "\"address\":\"http"), ("\"body\":\"{", "\"body\":\"["),
            ("\"first\":true", "\"first\":1"),
            ("\"kind\":\"", "\"kind\":\"0"), ("\"id\":\"", "\"id\":\"\\u0000"), ("\"backoffs\":[", "\"backoff\":["),
        ])
    func whatIsNoQueue(part: String, replacement: String) throws {
        let text = String(decoding: try self.queue().bytes, as: UTF8.self)
        try #require(text.contains(part))
        #expect(throws: ReportQueue.StateError.self) {
            try ReportQueue(Array(text.replacingOccurrences(of: part, with: replacement).utf8))
        }
    }

    @Test("what is added reads back: addresses of rules made in code that a queue cannot have are left out")
    func whatIsAddedReadsBackAddressesThatAQueueCannotHaveAreLeftOut() throws {
        func report(to addresses: [String]) throws -> Report? {
            var entry = try Scene.entry("api.example.com")
            entry.reportTo = addresses
            return Report(
                try Scene.decision("api.example.com", entries: [entry]), port: 443, served: [], isWebView: false,
                list: nil, app: Scene.app, at: Scene.start)
        }
        let bad = ["http://10.0.0.5:8080/reports", "", "ftp://reports.example.com", "https://a b.example.com"]
        #expect(try report(to: bad) == nil)
        var queue = ReportQueue()
        let kept = try #require(try report(to: bad + [Scene.collector]))
        #expect(kept.addresses == [Scene.collector])
        #expect(queue.add(kept, at: Scene.start) == .waiting)
        #expect(try ReportQueue(queue.bytes) == queue)
    }

    @Test("one report twice; more than may wait; more bytes than are read")
    func oneReportTwiceMoreThanMayWaitMoreBytesThanAreRead() throws {
        let text = String(decoding: try self.queue().bytes, as: UTF8.self)
        let start = try #require(text.range(of: "\"waiting\":["))
        let end = try #require(text.range(of: "],\"sent\""))
        let waiting = text[start.upperBound..<end.lowerBound]
        let twice = text.replacingCharacters(in: end.lowerBound..<end.lowerBound, with: ",\(waiting)")
        #expect(throws: ReportQueue.StateError.self) { try ReportQueue(Array(twice.utf8)) }
        let blank = [UInt8](repeating: 0x20, count: ReportLimits.stateBytes + 1)
        #expect(throws: ReportQueue.StateError.self) { try ReportQueue(blank) }
    }
}

// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinningTesting

/// The stored queue of reports, and a day with it.
enum ReportQueueBytes: FuzzTarget {
    static let name = "report-queue"

    /// A queue with one report sent, one that waits, and a collector that is left alone.
    static var seeds: [[UInt8]] {
        let now = Timestamp(secondsSince1970: 1_795_219_200)
        let list = ReportedList(
            name: "com.example.app", version: 7, digest: "", expiresAt: now, reportTo: ["https://reports.example.com/"])
        let app = ReportedApp(bundleID: "x", version: "1", platform: "LINUX", platformVersion: "6")
        var random = SeededGenerator(seed: 1)
        var queue = ReportQueue()
        for version in 1...3 as ClosedRange<Int64> {
            var list = list
            list.version = version
            if let report = Report(stale: list, app: app, at: now) { _ = queue.add(report, at: now) }
        }
        for outcome in [ReportQueue.Outcome.delivered, .failed(retryAfter: 60)] {
            if let delivery = queue.due(at: now) { queue.settle(delivery, outcome, at: now, using: &random) }
        }
        return [queue.bytes, ReportQueue().bytes]
    }

    static func check(_ bytes: [UInt8]) {
        guard var queue = try? ReportQueue(bytes) else { return }
        precondition((try? ReportQueue(queue.bytes)) == queue)
        var random = SeededGenerator(seed: UInt64(bytes.count))
        var now = Timestamp(secondsSince1970: 1_795_219_200)
        for step in 0..<64 {
            guard let next = queue.nextDue(at: now) else {
                precondition(queue.count == 0 && queue.due(at: now) == nil)
                break
            }
            precondition(next >= now && next <= now.advanced(by: ReportLimits.firstWait + ReportLimits.maximumWait))
            now = next
            guard let delivery = queue.due(at: now) else { preconditionFailure("nothing is due when something is") }
            let before = queue.count
            queue.settle(delivery, step % 3 == 0 ? .failed(retryAfter: nil) : .delivered, at: now, using: &random)
            precondition(queue.count <= before)
        }
        precondition((try? ReportQueue(queue.bytes)) == queue)
    }
}

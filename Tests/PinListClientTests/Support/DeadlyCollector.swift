// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListClient

/// Takes reports and does not answer them until it is told to: its sender is stuck meanwhile.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class DeadlyCollector: ReportSender, @unchecked Sendable {
    private let lock = NSLock()
    private var asked = 0
    private let (arrivals, arrive) = AsyncStream.makeStream(of: Void.self)
    private let (answers, giveAnswer) = AsyncStream.makeStream(of: Void.self)

    /// How many reports came.
    var count: Int { self.lock.withLock { self.asked } }

    func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        self.lock.withLock { self.asked += 1 }
        self.arrive.yield()
        for await _ in self.answers { break }
        return FetchResponse(status: 202)
    }

    /// Waits until a report came.
    func untilAsked() async {
        for await _ in self.arrivals { break }
    }

    /// Answers all waiting senders.
    func answer() { self.giveAnswer.finish() }
}

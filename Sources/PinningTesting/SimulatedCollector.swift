// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PinListClient

/// A collector of reports without a network.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class SimulatedCollector: ReportSender, @unchecked Sendable {
    /// A report that arrived.
    public struct Arrival: Hashable, Sendable {
        /// The address.
        public let address: String
        /// The body.
        public let body: [UInt8]
        /// The further fields that came with it.
        public var fields: [String: String] = [:]
    }

    private let lock = NSLock()
    private var arrived: [Arrival] = []
    private var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
    private var answering = FetchResponse(status: 202)

    /// Creates a collector that accepts all reports.
    public init() {}

    /// The collector's answer; it keeps each report all the same.
    public var answer: FetchResponse {
        get { self.lock.withLock { self.answering } }
        set { self.lock.withLock { self.answering = newValue } }
    }

    /// The reports that arrived, the first first.
    public var arrivals: [Arrival] { self.lock.withLock { self.arrived } }

    /// Stores the report and answers.
    public func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        try await self.send(body, to: address, fields: [:])
    }

    /// Stores the report with its fields and answers.
    public func send(_ body: [UInt8], to address: String, fields: [String: String]) async throws -> FetchResponse {
        let (answer, due) = self.lock.withLock {
            self.arrived.append(Arrival(address: address, body: body, fields: fields))
            let due = self.watchers.filter { $0.count <= self.arrived.count }
            self.watchers.removeAll { $0.count <= self.arrived.count }
            return (self.answering, due)
        }
        for watcher in due { watcher.wake.resume() }
        return answer
    }

    /// Waits until a number of reports arrived.
    public func untilArrived(count: Int) async {
        await withCheckedContinuation { wake in
            let isOver = self.lock.withLock {
                if self.arrived.count >= count { return true }
                self.watchers.append((count, wake))
                return false
            }
            if isOver { wake.resume() }
        }
    }
}

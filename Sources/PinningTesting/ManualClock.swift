// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
public import PinListClient

/// A clock that a test sets. A task that sleeps by it wakes when the clock was set far enough ahead.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class ManualClock: PinningClock, @unchecked Sendable {
    private struct Sleeper {
        let deadline: Double
        let wake: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var time: Timestamp
    private var sleepers: [UUID: Sleeper] = [:]
    private var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []

    /// Creates a clock that shows a time.
    public init(_ time: Timestamp) { self.time = time }

    /// The time that the clock shows. Setting it wakes the sleepers whose time has come.
    public var now: Timestamp {
        get { self.lock.withLock { self.time } }
        set {
            let due = self.lock.withLock {
                self.time = newValue
                let due = self.sleepers.filter { $0.value.deadline <= Double(newValue.secondsSince1970) }
                for id in due.keys { self.sleepers[id] = nil }
                return due.values
            }
            for sleeper in due { sleeper.wake.resume() }
        }
    }

    /// Moves the clock by a number of seconds; backwards when it is negative.
    public func advance(by seconds: Int64) { self.now = self.now.advanced(by: seconds) }

    /// Sleeps until the clock has moved by a number of seconds.
    public func sleep(seconds: Double) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wake in
                let (isOver, watchers) = self.lock.withLock {
                    let isOver = Task.isCancelled || seconds <= 0
                    if !isOver {
                        self.sleepers[id] = Sleeper(deadline: Double(self.time.secondsSince1970) + seconds, wake: wake)
                    }
                    let satisfied = self.watchers.filter { $0.count <= self.sleepers.count }
                    self.watchers.removeAll { $0.count <= self.sleepers.count }
                    return (isOver, satisfied)
                }
                if isOver { wake.resume(with: Task.isCancelled ? .failure(CancellationError()) : .success(())) }
                for watcher in watchers { watcher.wake.resume() }
            }
        } onCancel: {
            self.lock.withLock { self.sleepers.removeValue(forKey: id) }?.wake.resume(throwing: CancellationError())
        }
    }

    /// Waits until a number of tasks sleep by this clock: then all earlier work is done.
    public func untilSleeping(count: Int = 1) async {
        await withCheckedContinuation { wake in
            let isOver = self.lock.withLock {
                if self.sleepers.count >= count { return true }
                self.watchers.append((count, wake))
                return false
            }
            if isOver { wake.resume() }
        }
    }

    /// The remaining seconds of the sleepers, the shortest first.
    public var waits: [Double] {
        self.lock.withLock { self.sleepers.values.map { $0.deadline - Double(self.time.secondsSince1970) }.sorted() }
    }
}

extension Timestamp {
    /// The time a number of seconds later, within the range of `Timestamp`.
    public func advanced(by seconds: Int64) -> Timestamp {
        let (sum, isOver) = self.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: isOver ? (seconds < 0 ? .min : .max) : sum)
    }
}

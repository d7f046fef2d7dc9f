// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Foundation
internal import PinListClient

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The refusals by task: the newest 64, of tasks that still exist.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class TaskRefusals: @unchecked Sendable {
    private static let maximum = 64

    private struct Entry {
        weak var task: URLSessionTask?
        let refusal: PinningError
    }

    private let lock = NSLock()
    private var entries: [Entry] = []

    /// Records why a task ends; the first refusal counts.
    func note(_ refusal: PinningError, _ task: URLSessionTask) {
        self.lock.withLock {
            self.entries.removeAll { $0.task == nil }
            guard !self.entries.contains(where: { $0.task === task }) else { return }
            self.entries.append(Entry(task: task, refusal: refusal))
            if self.entries.count > Self.maximum { self.entries.removeFirst() }
        }
    }

    /// The refusal that ended a task.
    func refusal(of task: URLSessionTask) -> PinningError? {
        self.lock.withLock { self.entries.first { $0.task === task }?.refusal }
    }
}
#endif
